/* Conversions: a value where a type is expected. */
#include <string.h>

#include "common/suggestion.h"
#include "console/lang/checker.h"
#include "console/lang/duration.h"
#include "console/lang/symbol.h"

/* Replace the literal by the value that converting it would give. */
static void
become(struct expr *expr, enum expr_kind kind, const char *text,
    const struct type *type)
{
	expr->kind = kind;
	expr->text = text;
	expr->type = type;
}

static bool
all_like(const char *text, const char *pattern)
{
	for (; *pattern; pattern++, text++)
		if (*pattern == '0' ? *text < '0' || *text > '9'
		                    : *text != *pattern)
			return false;
	return *text == '\0';
}

static bool
is_date(const char *text)
{
	static const int days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30,
		31 };
	int month, day;

	if (!all_like(text, "0000-00-00"))
		return false;
	month = (text[5] - '0') * 10 + text[6] - '0';
	day = (text[8] - '0') * 10 + text[9] - '0';
	return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1];
}

static bool
is_number(const char *text)
{
	text += *text == '-';
	return symbol_number(text) == strlen(text) && *text;
}

/* A string literal where a number, truth value or time is expected. */
static bool
convert_string(
    struct checker *checker, struct expr *expr, const struct type *type)
{
	const char *text = expr->text, *iso = NULL;
	bool good = true;

	switch (type->kind) {
	case TYPE_DURATION:
		if ((good = (iso = duration_text(checker->arena, text))))
			become(expr, E_STRING, iso, type);
		break;
	case TYPE_DATE:
		if ((good = is_date(text)))
			become(expr, E_STRING, text, type);
		break;
	case TYPE_INT:
		if ((good = is_number(text) && !strpbrk(text, ".eE")))
			become(expr, E_NUMBER, text, type);
		break;
	case TYPE_NUMBER:
		if ((good = is_number(text)))
			become(expr, E_NUMBER, text, type);
		break;
	case TYPE_BOOL:
		good = strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
		if (good) {
			expr->is_true = *text == 't';
			become(expr, E_BOOL, text, type);
		}
		break;
	default:
		return false;
	}
	if (good)
		return true;
	COMPLAIN(checker, expr->start, "\"%s\" is not %s %s", text,
	    type->kind == TYPE_INT ? "an" : "a",
	    type_text(checker->arena, &type_basic[type->kind]));
	if (type->kind == TYPE_DURATION)
		HINT(checker, "Write 5s, 1h30m or \"1 hour 30 minutes\".");
	else if (type->kind == TYPE_DATE)
		HINT(checker, "Write \"2026-11-21\".");
	return true;
}

static bool
convert_number(
    struct checker *checker, struct expr *expr, const struct type *type)
{
	if (type->kind == TYPE_STRING) {
		become(expr, E_STRING, expr->text, type);
		return true;
	}
	if (type->kind == TYPE_INT && strpbrk(expr->text, ".eE")) {
		COMPLAIN(
		    checker, expr->start, "`%s` is not an int", expr->text);
		return true;
	}
	if (type->kind != TYPE_DURATION)
		return false;
	if (strcmp(expr->text, "0") == 0) {
		become(expr, E_DURATION, "PT0S", type);
		return true;
	}
	COMPLAIN(checker, expr->start, "a duration needs a unit");
	HINT(checker, "Write %ss, or %sms, m, h, d or w.", expr->text,
	    expr->text);
	return true;
}

static const struct member *
find_member(const struct expr *expr, const char *key)
{
	const struct member *member;

	for (member = expr->members; member; member = member->next)
		if (strcmp(member->key.text, key) == 0)
			return member;
	return NULL;
}

/* An object literal for an object with declared fields. */
static bool
convert_object(struct checker *checker, struct expr *expr,
    const struct type *type, const char *what)
{
	const struct field *field;
	struct member *member;
	struct suggestion suggestion;

	for (member = expr->members; member; member = member->next) {
		const struct type *own = type_field(type, member->key.text);

		if (own) {
			convert(checker, member->value, own,
			    arena_printf(checker->arena, "field `%s`",
			        member->key.text));
			continue;
		}
		COMPLAIN(checker, member->key.start,
		    "there is no field `%s` in `%s`", member->key.text,
		    type_text(checker->arena, type));
		suggestion_init(&suggestion, member->key.text);
		for (field = type->fields; field; field = field->next)
			suggestion_offer(
			    &suggestion, field->name, strlen(field->name));
		if (suggestion.best)
			HINT(checker, "Did you mean `%s`?", suggestion.best);
	}
	for (field = type->fields; field; field = field->next)
		if (!field->type->optional && !find_member(expr, field->name))
			COMPLAIN(checker, expr->start,
			    "%s lacks the field `%s`", what, field->name);
	expr->type = type;
	return true;
}

static bool
convert_list(struct checker *checker, struct expr *expr,
    const struct type *type, const char *what)
{
	struct expr *item;

	if (type->kind != TYPE_LIST || !type->element)
		return false;
	for (item = expr->items; item; item = item->next)
		convert(checker, item, type->element,
		    arena_printf(checker->arena, "each element of %s", what));
	expr->type = type;
	return true;
}

/*
 * sql and shell: either a literal in which ${…} has nothing but quoted values,
 * so that no data can become code; or a parameter of that type, which was given
 * such a literal.  The workspace checks the tree for this again.
 */
static void
convert_code(struct checker *checker, struct expr *expr,
    const struct type *type, const char *what)
{
	const char *quote = type->kind == TYPE_SQL ? "quote_ident" : "sh";
	const char *name = type_text(checker->arena, &type_basic[type->kind]);
	struct expr *part;

	if (expr->kind == E_STRING || expr->type->kind == TYPE_ERROR ||
	    (expr->kind == E_NAME && expr->type->kind == type->kind))
		return;
	if (expr->kind != E_TEXT) {
		COMPLAIN(checker, expr->start,
		    "%s of type `%s` takes a literal only", what, name);
		HINT(checker,
		    type->kind == TYPE_SQL
		        ? "Write the statement here, and values as $1, $2 "
		          "with params = […]."
		        : "Write the script here, and values as ${sh(…)}.");
		return;
	}
	for (part = expr->items; part; part = part->next) {
		if (part->kind == E_STRING ||
		    (part->kind == E_CALL && strcmp(part->text, quote) == 0))
			continue;
		COMPLAIN(checker, part->start,
		    "in `%s`, ${…} can only hold %s(…)", name, quote);
		HINT(checker,
		    type->kind == TYPE_SQL
		        ? "Write $1 for a value, and give it in params."
		        : "Write ${sh(…)}.");
	}
}

/* Convert literals themselves; true if this was such a literal. */
static bool
convert_literal(struct checker *checker, struct expr *expr,
    const struct type *type, const char *what)
{
	switch (expr->kind) {
	case E_STRING:
		return convert_string(checker, expr, type);
	case E_NUMBER:
		return convert_number(checker, expr, type);
	case E_LIST:
		return convert_list(checker, expr, type, what);
	case E_OBJECT:
		if (type->kind == TYPE_LIST && !expr->members) {
			expr->kind = E_LIST;
			expr->type = type;
			return true;
		}
		return type->kind == TYPE_OBJECT && type->closed &&
		       convert_object(checker, expr, type, what);
	case E_CHOICE:
		convert(checker, expr->b, type, what);
		convert(checker, expr->c, type, what);
		expr->type = type;
		return true;
	default:
		return false;
	}
}

static bool
check_null(struct checker *checker, struct expr *expr, const struct type *type,
    const char *what)
{
	if (type->optional || !type_may_be_null(expr->type))
		return true;
	if (expr->type->kind == TYPE_NULL) {
		COMPLAIN(checker, expr->start, "%s can not be null", what);
		HINT(checker, "Declare it as `%s?` to allow that.",
		    type_text(checker->arena, type));
	} else {
		COMPLAIN(checker, expr->start, "%s may be null here", what);
		HINT(checker, "Say what to take instead (… ?? …), or ask "
		              "before (… != null).");
	}
	return false;
}

static void
report_misfit(struct checker *checker, struct expr *expr,
    const struct type *type, const char *what)
{
	COMPLAIN(checker, expr->start, "%s must be `%s`, not `%s`", what,
	    type_text(checker->arena, type),
	    type_text(checker->arena, expr->type));
	if (type->kind == TYPE_SECRET)
		HINT(checker, "Write secret(\"…\"), and nothing around it.");
	else if (type->kind == TYPE_DURATION && type_is_numeric(expr->type))
		HINT(checker, "Multiply a duration: … * 1s.");
	else if (type->kind == TYPE_STRING &&
	         (expr->type->kind == TYPE_LIST ||
	             expr->type->kind == TYPE_OBJECT))
		HINT(checker, "Write json(…) to make it text.");
	else if (type->kind == TYPE_LIST && expr->type->kind != TYPE_LIST)
		HINT(checker, "Write […] to make it a list.");
	else if (type->kind == TYPE_LIST)
		HINT(checker, "Convert each element: [… for x in …].");
}

/* The workspace can not convert a text with a secret in it. */
static enum type_fit
fit_of(const struct expr *expr, const struct type *type)
{
	enum type_fit fit = type_fit(expr->type, type);

	return fit != FIT_SAME && expr->kind == E_TEXT && find_secret(expr)
	           ? FIT_NEVER
	           : fit;
}

void
convert(struct checker *checker, struct expr *expr, const struct type *type,
    const char *what)
{
	if (expr->kind == E_PAREN) {
		convert(checker, expr->a, type, what);
		expr->type = expr->a->cast ? expr->a->cast : expr->a->type;
		return;
	}
	if (type->kind == TYPE_ERROR || expr->type->kind == TYPE_ERROR ||
	    !check_null(checker, expr, type, what) ||
	    expr->type->kind == TYPE_NULL)
		return;
	if (type_is_code(type)) {
		convert_code(checker, expr, type, what);
		return;
	}
	if (convert_literal(checker, expr, type, what))
		return;
	switch (fit_of(expr, type)) {
	case FIT_SAME:
		break;
	case FIT_CHECK:
	case FIT_CONVERT:
		expr->cast = type_may_be_null(expr->type)
		                 ? type
		                 : type_required(checker->arena, type);
		/* a value of unknown type may be null at run time */
		if (expr->type->kind == TYPE_JSON)
			expr->cast = type;
		break;
	case FIT_NEVER:
		report_misfit(checker, expr, type, what);
	}
}
