/* Expressions. */
#include <string.h>

#include "console/lang/formatter.h"
#include "console/lang/symbol.h"

static void
text(struct formatter *formatter, const char *string)
{
	layout_text(formatter->layout, string);
}

/* The text as it stands in the source. */
static void
verbatim(struct formatter *formatter, size_t start, size_t end)
{
	layout_text_n(
	    formatter->layout, formatter->source->text + start, end - start);
	format_skip(formatter, end);
}

/* Quotes are written only if they are needed. */
void
format_key(struct formatter *formatter, const struct name *key)
{
	const char *at = formatter->source->text + key->start;
	size_t end = key->start + 1;

	if (symbol_is_name(key->text)) {
		text(formatter, key->text);
		return;
	}
	if (at[1] == at[0] && at[2] == at[0]) { /* three quotes */
		const char *close = at + 3;

		while (
		    close[0] != at[0] || close[1] != at[0] || close[2] != at[0])
			close += 1 + (close[0] == '\\' && at[0] == '"');
		end = key->start + (size_t)(close + 3 - at);
	} else {
		while (formatter->source->text[end] != at[0])
			end += 1 + (formatter->source->text[end] == '\\' &&
			               at[0] == '"');
		end++;
	}
	verbatim(formatter, key->start, end);
}

static void
open(struct formatter *formatter, const char *bracket)
{
	layout_open(formatter->layout);
	text(formatter, bracket);
	layout_indent(formatter->layout, 2);
	layout_soft(formatter->layout);
}

static void
close(struct formatter *formatter, const struct expr *expr, const char *bracket)
{
	format_rest(formatter, expr->end - 1);
	layout_indent(formatter->layout, -2);
	layout_soft(formatter->layout);
	text(formatter, bracket);
	layout_close(formatter->layout);
}

static void
separator(struct formatter *formatter, size_t end, const void *next)
{
	if (next)
		text(formatter, ",");
	format_trailing(formatter, end);
	if (next)
		layout_line(formatter->layout);
}

static void
format_items(
    struct formatter *formatter, const struct expr *expr, const char *brackets)
{
	const struct expr *item;
	char first[] = { brackets[0], '\0' };

	open(formatter, arena_strndup(formatter->arena, first, 1));
	for (item = expr->items; item; item = item->next) {
		format_expr(formatter, item);
		separator(formatter, item->end, item->next);
	}
	close(formatter, expr, brackets + 1);
}

void
format_object(struct formatter *formatter, const struct expr *expr)
{
	const struct member *member;

	open(formatter, "{");
	for (member = expr->members; member; member = member->next) {
		format_leading(formatter, member->key.start);
		format_key(formatter, &member->key);
		text(formatter, ": ");
		format_expr(formatter, member->value);
		separator(formatter, member->value->end, member->next);
	}
	close(formatter, expr, "}");
}

static void
format_list(struct formatter *formatter, const struct expr *expr)
{
	format_items(formatter, expr, "[]");
}

static void
format_call(struct formatter *formatter, const struct expr *expr)
{
	text(formatter, expr->text);
	format_items(formatter, expr, "()");
}

static void
format_each(struct formatter *formatter, const struct expr *expr)
{
	open(formatter, "[");
	format_expr(formatter, expr->a);
	layout_line(formatter->layout);
	text(formatter, "for ");
	text(formatter, expr->text);
	text(formatter, " in ");
	format_expr(formatter, expr->b);
	if (expr->c) {
		layout_line(formatter->layout);
		text(formatter, "if ");
		format_expr(formatter, expr->c);
	}
	close(formatter, expr, "]");
}

static void
format_paren(struct formatter *formatter, const struct expr *expr)
{
	open(formatter, "(");
	format_expr(formatter, expr->a);
	close(formatter, expr, ")");
}

static void
format_secret(struct formatter *formatter, const struct expr *expr)
{
	text(formatter, "secret(");
	format_expr(formatter, expr->a);
	text(formatter, ")");
}

static void
format_field(struct formatter *formatter, const struct expr *expr)
{
	format_expr(formatter, expr->a);
	text(formatter, ".");
	text(formatter, expr->text);
}

static void
format_index(struct formatter *formatter, const struct expr *expr)
{
	format_expr(formatter, expr->a);
	text(formatter, "[");
	format_expr(formatter, expr->b);
	text(formatter, "]");
}

static void
operator(struct formatter *formatter, enum token_kind op)
{
	const char *name = symbol_name(op); /* in backquotes */

	layout_text_n(formatter->layout, name + 1, strlen(name) - 2);
}

static void
format_unary(struct formatter *formatter, const struct expr *expr)
{
	operator(formatter, expr->op);
	format_expr(formatter, expr->a);
}

static void
format_binary(struct formatter *formatter, const struct expr *expr)
{
	bool spaced = expr->op != T_RANGE;

	layout_open(formatter->layout);
	format_expr(formatter, expr->a);
	layout_indent(formatter->layout, 2);
	if (spaced)
		layout_line(formatter->layout);
	operator(formatter, expr->op);
	text(formatter, spaced ? " " : "");
	format_expr(formatter, expr->b);
	layout_indent(formatter->layout, -2);
	layout_close(formatter->layout);
}

static void
format_choice(struct formatter *formatter, const struct expr *expr)
{
	layout_open(formatter->layout);
	format_expr(formatter, expr->a);
	layout_indent(formatter->layout, 2);
	layout_line(formatter->layout);
	text(formatter, "? ");
	format_expr(formatter, expr->b);
	layout_line(formatter->layout);
	text(formatter, ": ");
	format_expr(formatter, expr->c);
	layout_indent(formatter->layout, -2);
	layout_close(formatter->layout);
}

static void
format_literal(struct formatter *formatter, const struct expr *expr)
{
	verbatim(formatter, expr->start, expr->end);
}

static void (*const formats[])(struct formatter *, const struct expr *) = {
	[E_NULL] = format_literal,
	[E_BOOL] = format_literal,
	[E_NUMBER] = format_literal,
	[E_DURATION] = format_literal,
	[E_STRING] = format_literal,
	[E_TEXT] = format_literal,
	[E_NAME] = format_literal,
	[E_CALL] = format_call,
	[E_SECRET] = format_secret,
	[E_PAREN] = format_paren,
	[E_LIST] = format_list,
	[E_EACH] = format_each,
	[E_OBJECT] = format_object,
	[E_FIELD] = format_field,
	[E_INDEX] = format_index,
	[E_UNARY] = format_unary,
	[E_BINARY] = format_binary,
	[E_CHOICE] = format_choice,
};

void
format_expr(struct formatter *formatter, const struct expr *expr)
{
	format_leading(formatter, expr->start);
	formats[expr->kind](formatter, expr);
}
