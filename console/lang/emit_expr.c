/* Expressions of the compiled tree. */
#include <string.h>

#include "common/json.h"
#include "console/lang/emitter.h"

void
emit_string(struct emitter *emitter, const char *text)
{
	json_add_string(&emitter->out, text, strlen(text));
}

/* ["form", then the operands; the caller closes the bracket */
static void
begin(struct emitter *emitter, const char *form)
{
	buf_addf(&emitter->out, "[\"%s\"", form);
}

static void
operand(struct emitter *emitter, const struct expr *expr)
{
	buf_adds(&emitter->out, ",");
	emit_expr(emitter, expr);
}

static void
emit_items(struct emitter *emitter, const char *form, const struct expr *items)
{
	begin(emitter, form);
	for (; items; items = items->next)
		operand(emitter, items);
	buf_adds(&emitter->out, "]");
}

static void
emit_var(struct emitter *emitter, const struct expr *expr)
{
	buf_adds(&emitter->out, "[\"var\",");
	emit_string(emitter, expr->tree_name ? expr->tree_name : expr->text);
	buf_adds(&emitter->out, "]");
}

static void
emit_call(struct emitter *emitter, const struct expr *expr)
{
	const struct expr *item;

	begin(emitter, "call");
	buf_adds(&emitter->out, ",");
	emit_string(emitter, expr->text);
	for (item = expr->items; item; item = item->next)
		operand(emitter, item);
	buf_adds(&emitter->out, "]");
}

/* A field of an object, or of `instance`. */
static void
emit_field(struct emitter *emitter, const struct expr *expr)
{
	begin(emitter, expr->form);
	if (strcmp(expr->form, "get") == 0)
		operand(emitter, expr->a);
	buf_adds(&emitter->out, ",");
	emit_string(emitter, expr->text);
	buf_adds(&emitter->out, "]");
}

static void
emit_each(struct emitter *emitter, const struct expr *expr)
{
	begin(emitter, "each");
	buf_adds(&emitter->out, ",");
	emit_string(emitter, expr->text);
	operand(emitter, expr->b);
	operand(emitter, expr->a);
	if (expr->c)
		operand(emitter, expr->c);
	else
		buf_adds(&emitter->out, ",true");
	buf_adds(&emitter->out, "]");
}

static void
emit_object(struct emitter *emitter, const struct expr *expr)
{
	const struct member *member;

	buf_adds(&emitter->out, "{");
	for (member = expr->members; member; member = member->next) {
		emit_string(emitter, member->key.text);
		buf_adds(&emitter->out, ":");
		emit_expr(emitter, member->value);
		buf_adds(&emitter->out, member->next ? "," : "");
	}
	buf_adds(&emitter->out, "}");
}

/* Operators; `-5` is a number. */
static void
emit_operator(struct emitter *emitter, const struct expr *expr)
{
	if (expr->kind == E_UNARY && expr->op == T_MINUS &&
	    expr->a->kind == E_NUMBER && !expr->a->cast) {
		buf_addf(&emitter->out, "-%s", expr->a->text);
		return;
	}
	begin(emitter, expr->form);
	operand(emitter, expr->a);
	if (expr->b)
		operand(emitter, expr->b);
	if (expr->c)
		operand(emitter, expr->c);
	buf_adds(&emitter->out, "]");
}

static void
emit_plain(struct emitter *emitter, const struct expr *expr)
{
	switch (expr->kind) {
	case E_NULL:
		buf_adds(&emitter->out, "null");
		break;
	case E_BOOL:
		buf_adds(&emitter->out, expr->is_true ? "true" : "false");
		break;
	case E_NUMBER:
		buf_adds(&emitter->out, expr->text);
		break;
	case E_DURATION:
	case E_STRING:
		emit_string(emitter, expr->text);
		break;
	case E_TEXT:
		emit_items(emitter, "text", expr->items);
		break;
	case E_NAME:
		emit_var(emitter, expr);
		break;
	case E_CALL:
		emit_call(emitter, expr);
		break;
	case E_SECRET:
		begin(emitter, "secret");
		operand(emitter, expr->a);
		buf_adds(&emitter->out, "]");
		break;
	case E_PAREN:
		emit_expr(emitter, expr->a);
		break;
	case E_LIST:
		emit_items(emitter, "list", expr->items);
		break;
	case E_EACH:
		emit_each(emitter, expr);
		break;
	case E_OBJECT:
		emit_object(emitter, expr);
		break;
	case E_FIELD:
		emit_field(emitter, expr);
		break;
	default:
		emit_operator(emitter, expr);
	}
}

void
emit_expr(struct emitter *emitter, const struct expr *expr)
{
	if (!expr->cast) {
		emit_plain(emitter, expr);
		return;
	}
	begin(emitter, "cast");
	buf_adds(&emitter->out, ",");
	type_emit(&emitter->out, expr->cast);
	buf_adds(&emitter->out, ",");
	emit_plain(emitter, expr);
	buf_adds(&emitter->out, "]");
}

void
emit_member(struct emitter *emitter, const char *key, const struct expr *expr)
{
	buf_addf(&emitter->out, ",\"%s\":", key);
	emit_expr(emitter, expr);
}

void
emit_args(struct emitter *emitter, const struct arg *args)
{
	buf_adds(&emitter->out, "{");
	for (; args; args = args->next) {
		emit_string(emitter, args->name.text);
		buf_adds(&emitter->out, ":");
		emit_expr(emitter, args->value);
		buf_adds(&emitter->out, args->next ? "," : "");
	}
	buf_adds(&emitter->out, "}");
}
