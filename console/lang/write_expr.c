/* Expressions that the writer writes: the operators of docs/spec.md. */
#include <stdlib.h>
#include <string.h>

#include "console/lang/duration.h"
#include "console/lang/symbol.h"
#include "console/lang/writer.h"

/* How tightly it binds, the loosest first. */
enum level {
	LEVEL_EXPR,
	LEVEL_OR,
	LEVEL_AND,
	LEVEL_CMP,
	LEVEL_COALESCE,
	LEVEL_RANGE,
	LEVEL_ADD,
	LEVEL_MUL,
	LEVEL_UN,
	LEVEL_POST,
};

static void write_at(
    struct writer *writer, const struct json *expr, enum level level);

/* Write operand `i`. */
static void
operand(
    struct writer *writer, const struct json *expr, size_t i, enum level level)
{
	size_t before = write_enter(writer, "[%zu]", i);

	write_at(writer, json_at(expr, i), level);
	write_leave(writer, before);
}

static const char *
word_at(const struct json *expr, size_t i)
{
	return json_string(json_at(expr, i));
}

static void
open_paren(struct writer *writer, enum level level, enum level own)
{
	if (own < level)
		buf_adds(&writer->out, "(");
}

static void
close_paren(struct writer *writer, enum level level, enum level own)
{
	if (own < level)
		buf_adds(&writer->out, ")");
}

/* Binary operators ---------------------------------------------------------- */

static const struct binary {
	const char *form, *op;
	enum level own, left, right;
} binaries[] = {
	{ "or", " || ", LEVEL_OR, LEVEL_OR, LEVEL_AND },
	{ "and", " && ", LEVEL_AND, LEVEL_AND, LEVEL_CMP },
	{ "eq", " == ", LEVEL_CMP, LEVEL_COALESCE, LEVEL_COALESCE },
	{ "ne", " != ", LEVEL_CMP, LEVEL_COALESCE, LEVEL_COALESCE },
	{ "lt", " < ", LEVEL_CMP, LEVEL_COALESCE, LEVEL_COALESCE },
	{ "le", " <= ", LEVEL_CMP, LEVEL_COALESCE, LEVEL_COALESCE },
	{ "gt", " > ", LEVEL_CMP, LEVEL_COALESCE, LEVEL_COALESCE },
	{ "ge", " >= ", LEVEL_CMP, LEVEL_COALESCE, LEVEL_COALESCE },
	{ "coalesce", " ?? ", LEVEL_COALESCE, LEVEL_RANGE, LEVEL_COALESCE },
	{ "range", "..", LEVEL_RANGE, LEVEL_ADD, LEVEL_ADD },
	{ "add", " + ", LEVEL_ADD, LEVEL_ADD, LEVEL_MUL },
	{ "sub", " - ", LEVEL_ADD, LEVEL_ADD, LEVEL_MUL },
	{ "mul", " * ", LEVEL_MUL, LEVEL_MUL, LEVEL_UN },
	{ "div", " / ", LEVEL_MUL, LEVEL_MUL, LEVEL_UN },
	{ "mod", " % ", LEVEL_MUL, LEVEL_MUL, LEVEL_UN },
};

/* The operator of a form: `lt` also for `lt.date`. */
static const struct binary *
find_binary(const char *form)
{
	size_t len = strcspn(form, "."), i;

	for (i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++)
		if (strlen(binaries[i].form) == len &&
		    memcmp(binaries[i].form, form, len) == 0)
			return &binaries[i];
	return NULL;
}

static void
write_binary(struct writer *writer, const struct json *expr,
    const struct binary *binary, enum level level)
{
	if (json_length(expr) != 3) {
		write_fault(writer, "`%s` takes two operands", binary->form);
		return;
	}
	open_paren(writer, level, binary->own);
	operand(writer, expr, 1, binary->left);
	buf_adds(&writer->out, binary->op);
	operand(writer, expr, 2, binary->right);
	close_paren(writer, level, binary->own);
}

/* Other forms --------------------------------------------------------------- */

static void
write_items(struct writer *writer, const struct json *expr, size_t first)
{
	size_t i;

	for (i = first; i < json_length(expr); i++) {
		if (i > first)
			buf_adds(&writer->out, ", ");
		operand(writer, expr, i, LEVEL_EXPR);
	}
}

static void
write_elements(struct writer *writer, const struct json *expr, size_t first)
{
	buf_adds(&writer->out, "[");
	write_items(writer, expr, first);
	buf_adds(&writer->out, "]");
}

static void
write_list(struct writer *writer, const struct json *expr, enum level level)
{
	(void)level;
	write_elements(writer, expr, 1);
}

static void
write_function(struct writer *writer, const struct json *expr, enum level level)
{
	(void)level;
	write_name(writer, word_at(expr, 1));
	buf_adds(&writer->out, "(");
	write_items(writer, expr, 2);
	buf_adds(&writer->out, ")");
}

/* The error of a catch: `__e_2` of the tree is `e` in the text. */
void
write_caught(struct writer *writer, const char *name)
{
	const char *end = strrchr(name, '_');

	if (is_passed(name) && end > name + 2 && end[1] != '\0' &&
	    end[1 + strspn(end + 1, "0123456789")] == '\0')
		name = arena_strndup(
		    writer->arena, name + 2, (size_t)(end - name - 2));
	write_name(writer, name);
}

/* A policy that came through a call reads an argument of the call. */
static void
write_var(struct writer *writer, const struct json *expr, enum level level)
{
	const struct json *passed = writer->passed;
	const char *name = word_at(expr, 1);

	if (name && is_passed(name) && json_has(passed, name)) {
		writer->passed = NULL;
		write_at(writer, json_get(passed, name), level);
		writer->passed = passed;
		return;
	}
	write_caught(writer, name ? name : "");
}

static void
write_secret(struct writer *writer, const struct json *expr, enum level level)
{
	(void)level;
	buf_adds(&writer->out, "secret(");
	if (word_at(expr, 1))
		write_string(writer, json_at(expr, 1));
	else
		write_fault(writer, "a secret has a name");
	buf_adds(&writer->out, ")");
}

static void
write_instance(struct writer *writer, const struct json *expr, enum level level)
{
	(void)level;
	buf_adds(&writer->out, "instance.");
	write_word(writer, word_at(expr, 1));
}

static void
write_get(struct writer *writer, const struct json *expr, enum level level)
{
	const char *key = word_at(expr, 2);

	(void)level;
	operand(writer, expr, 1, LEVEL_POST);
	if (key && symbol_is_name(key) && !(writer->ways & WAY_BRACKETS) &&
	    strcmp(word_at(expr, 0), "get") == 0) {
		buf_addf(&writer->out, ".%s", key);
		return;
	}
	buf_adds(&writer->out, "[");
	operand(writer, expr, 2, LEVEL_EXPR);
	buf_adds(&writer->out, "]");
}

static void
write_not(struct writer *writer, const struct json *expr, enum level level)
{
	open_paren(writer, level, LEVEL_UN);
	buf_adds(&writer->out, "!");
	operand(writer, expr, 1, LEVEL_UN);
	close_paren(writer, level, LEVEL_UN);
}

/* -(5), because -5 is a number. */
static void
write_neg(struct writer *writer, const struct json *expr, enum level level)
{
	const struct json *negated = json_at(expr, 1);
	bool number =
	    json_type(negated) == JSON_INT || json_type(negated) == JSON_NUMBER;

	open_paren(writer, level, LEVEL_UN);
	buf_adds(&writer->out, number ? "-(" : "-");
	operand(writer, expr, 1, LEVEL_UN);
	buf_adds(&writer->out, number ? ")" : "");
	close_paren(writer, level, LEVEL_UN);
}

static void
write_choice(struct writer *writer, const struct json *expr, enum level level)
{
	open_paren(writer, level, LEVEL_EXPR);
	operand(writer, expr, 1, LEVEL_OR);
	buf_adds(&writer->out, " ? ");
	operand(writer, expr, 2, LEVEL_OR);
	buf_adds(&writer->out, " : ");
	operand(writer, expr, 3, LEVEL_EXPR);
	close_paren(writer, level, LEVEL_EXPR);
}

/* ["each", "x", source, element, condition] */
static void
write_each(struct writer *writer, const struct json *expr, enum level level)
{
	const struct json *condition = json_at(expr, 4);

	(void)level;
	buf_adds(&writer->out, "[");
	operand(writer, expr, 3, LEVEL_EXPR);
	buf_adds(&writer->out, " for ");
	write_name(writer, word_at(expr, 1));
	buf_adds(&writer->out, " in ");
	operand(writer, expr, 2, LEVEL_OR);
	if (json_type(condition) != JSON_BOOL || !json_bool(condition)) {
		buf_adds(&writer->out, " if ");
		operand(writer, expr, 4, LEVEL_EXPR);
	}
	buf_adds(&writer->out, "]");
}

static void
write_parts(struct writer *writer, const struct json *expr, enum level level)
{
	(void)level;
	write_text(writer, expr);
}

/* ["const", v]: in the value v a list is only a list. */
static void
write_const(struct writer *writer, const struct json *expr, enum level level)
{
	bool outer = writer->in_value;

	writer->in_value = true;
	operand(writer, expr, 1, level);
	writer->in_value = outer;
}

/* A conversion is not written: the compiler adds it. */
static void
write_cast(struct writer *writer, const struct json *expr, enum level level)
{
	operand(writer, expr, 2, level);
}

static const struct form {
	const char *name;
	size_t least, most; /* elements after the name; 0: any number */
	void (*write)(struct writer *, const struct json *, enum level);
} forms[] = {
	{ "const", 1, 1, write_const },
	{ "list", 0, 0, write_list },
	{ "call", 1, 0, write_function },
	{ "var", 1, 1, write_var },
	{ "secret", 1, 1, write_secret },
	{ "instance", 1, 1, write_instance },
	{ "get", 2, 2, write_get },
	{ "at", 2, 2, write_get },
	{ "not", 1, 1, write_not },
	{ "neg", 1, 1, write_neg },
	{ "if", 3, 3, write_choice },
	{ "each", 4, 4, write_each },
	{ "text", 1, 0, write_parts },
	{ "cast", 2, 2, write_cast },
};

static void
write_form(struct writer *writer, const struct json *expr, enum level level)
{
	const char *name = word_at(expr, 0);
	const struct binary *binary = name ? find_binary(name) : NULL;
	size_t count = json_length(expr) - 1, i;

	if (writer->in_value) {
		write_elements(writer, expr, 0);
		return;
	}
	if (binary) {
		write_binary(writer, expr, binary, level);
		return;
	}
	for (i = 0; name && i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strcmp(forms[i].name, name) != 0)
			continue;
		if (count < forms[i].least ||
		    (forms[i].most && count > forms[i].most))
			write_fault(
			    writer, "`%s` has %zu operands", name, count);
		else
			forms[i].write(writer, expr, level);
		return;
	}
	write_fault(writer, "the language has no `%.100s`", name ? name : "");
}

/* Literals ------------------------------------------------------------------ */

/* PT1H30M as 1h30m; NULL if no duration literal compiles to it. */
static const char *
duration_of(struct writer *writer, const char *iso)
{
	static const char upper[] = "DHMS", lower[] = "dhms";
	const char *text = "", *p = iso + 1, *unit, *back;
	size_t len, whole;
	int ms = 0;

	if (*iso != 'P')
		return NULL;
	while (*p) {
		p += *p == 'T';
		len = strspn(p, "0123456789.");
		whole = strcspn(p, ".") < len ? strcspn(p, ".") : len;
		unit = len > 0 && p[len] ? strchr(upper, p[len]) : NULL;
		if (!unit)
			return NULL;
		if (whole < len)
			ms = (int)(strtod(p + whole, NULL) * 1000 + 0.5);
		if (!ms || *p != '0')
			text = arena_printf(writer->arena, "%s%.*s%c", text,
			    (int)whole, p, lower[unit - upper]);
		p += len + 1;
	}
	if (ms)
		text = arena_printf(writer->arena, "%s%dms", text, ms);
	back = duration_literal(writer->arena, text, strlen(text));
	return back && strcmp(back, iso) == 0 ? text : NULL;
}

static void
write_string_at(struct writer *writer, const struct json *expr)
{
	const char *duration = writer->ways & WAY_STRINGS
	                           ? NULL
	                           : duration_of(writer, json_string(expr));

	if (duration)
		buf_adds(&writer->out, duration);
	else
		write_string(writer, expr);
}

static void
write_number(struct writer *writer, const struct json *expr, enum level level)
{
	char *text = json_text(expr);

	open_paren(writer, level, LEVEL_UN);
	buf_adds(&writer->out, text);
	close_paren(writer, level, LEVEL_UN);
	free(text);
}

void
write_object(struct writer *writer, const struct json *object)
{
	size_t count = json_length(object), i, before;

	buf_adds(&writer->out, "{");
	for (i = 0; i < count; i++) {
		before = write_enter(writer, ".%s", json_key_at(object, i));
		buf_adds(&writer->out, i > 0 ? ", " : "");
		write_key(writer, json_key_at(object, i));
		buf_adds(&writer->out, ": ");
		write_expr(writer, json_value_at(object, i));
		write_leave(writer, before);
	}
	buf_adds(&writer->out, "}");
}

static void
write_at(struct writer *writer, const struct json *expr, enum level level)
{
	switch (json_type(expr)) {
	case JSON_NULL:
		buf_adds(&writer->out, "null");
		break;
	case JSON_BOOL:
		buf_adds(&writer->out, json_bool(expr) ? "true" : "false");
		break;
	case JSON_INT:
	case JSON_NUMBER:
		write_number(writer, expr, level);
		break;
	case JSON_STRING:
		write_string_at(writer, expr);
		break;
	case JSON_OBJECT:
		write_object(writer, expr);
		break;
	case JSON_LIST:
		write_form(writer, expr, level);
	}
}

void
write_expr(struct writer *writer, const struct json *expr)
{
	write_at(writer, expr, LEVEL_EXPR);
}

void
write_or(struct writer *writer, const struct json *expr)
{
	write_at(writer, expr, LEVEL_OR);
}

void
write_add(struct writer *writer, const struct json *expr)
{
	write_at(writer, expr, LEVEL_ADD);
}

void
write_member(struct writer *writer, const struct json *object, const char *key)
{
	size_t before = write_enter(writer, ".%s", key);

	if (!json_has(object, key))
		write_fault(writer, "is missing");
	write_expr(writer, json_get(object, key));
	write_leave(writer, before);
}
