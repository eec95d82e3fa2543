/* Expressions and types of the compiled tree, as an author would write them. */
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/json.h"
#include "console/doc.h"

/* Operators that stand between operands. */
static const struct {
	const char *name, *sign;
} signs[] = {
	{ "add", "+" },
	{ "and", "&&" },
	{ "coalesce", "??" },
	{ "div", "/" },
	{ "eq", "==" },
	{ "ge", ">=" },
	{ "gt", ">" },
	{ "le", "<=" },
	{ "lt", "<" },
	{ "mod", "%" },
	{ "mul", "*" },
	{ "ne", "!=" },
	{ "or", "||" },
	{ "range", ".." },
	{ "sub", "-" },
};

enum { SIGNS = sizeof(signs) / sizeof(signs[0]) };

/* Types may follow a dot: `lt.date`. */
static const char *
sign_of(const char *op)
{
	size_t len = strcspn(op, "."), i;

	for (i = 0; i < SIGNS; i++)
		if (strlen(signs[i].name) == len &&
		    strncmp(signs[i].name, op, len) == 0)
			return signs[i].sign;
	return NULL;
}

static void
add_json(struct buf *buf, const struct json *value)
{
	char *text = json_text(value);

	buf_adds(buf, text);
	free(text);
}

static void
add_from(
    struct buf *buf, const struct json *list, size_t first, const char *between)
{
	size_t i;

	for (i = first; i < json_length(list); i++) {
		if (i > first)
			buf_adds(buf, between);
		doc_add_expr(buf, json_at(list, i));
	}
}

static void
add_object(struct buf *buf, const struct json *object)
{
	size_t i;

	buf_addc(buf, '{');
	for (i = 0; i < json_length(object); i++) {
		buf_addf(
		    buf, "%s%s: ", i > 0 ? ", " : "", json_key_at(object, i));
		doc_add_expr(buf, json_value_at(object, i));
	}
	buf_addc(buf, '}');
}

/* The parts of an interpolated string. */
static void
add_text(struct buf *buf, const struct json *parts)
{
	const char *text;
	size_t i;

	buf_addc(buf, '"');
	for (i = 1; i < json_length(parts); i++) {
		text = json_string(json_at(parts, i));
		if (text != NULL) {
			buf_adds(buf, text);
			continue;
		}
		buf_adds(buf, "${");
		doc_add_expr(buf, json_at(parts, i));
		buf_addc(buf, '}');
	}
	buf_addc(buf, '"');
}

static void
add_operands(struct buf *buf, const struct json *expr, const char *sign)
{
	buf_addc(buf, '(');
	add_from(buf, expr, 1, sign);
	buf_addc(buf, ')');
}

/* [element for name in list if condition] */
static void
add_each(struct buf *buf, const struct json *expr)
{
	buf_addc(buf, '[');
	doc_add_expr(buf, json_at(expr, 3));
	buf_addf(buf, " for %s in ", json_string(json_at(expr, 1)));
	doc_add_expr(buf, json_at(expr, 2));
	if (json_type(json_at(expr, 4)) != JSON_BOOL) {
		buf_adds(buf, " if ");
		doc_add_expr(buf, json_at(expr, 4));
	}
	buf_addc(buf, ']');
}

/* The forms with a notation of their own; false for any other form. */
static bool
add_special(struct buf *buf, const struct json *expr, const char *op)
{
	const struct json *first = json_at(expr, 1);

	if (strcmp(op, "const") == 0) {
		add_json(buf, first);
	} else if (strcmp(op, "var") == 0) {
		doc_add_name(buf, json_string(first));
	} else if (strcmp(op, "instance") == 0) {
		buf_addf(buf, "instance.%s", json_string(first));
	} else if (strcmp(op, "secret") == 0) {
		buf_addf(buf, "secret(\"%s\")", json_string(first));
	} else if (strcmp(op, "text") == 0) {
		add_text(buf, expr);
	} else if (strcmp(op, "each") == 0) {
		add_each(buf, expr);
	} else if (strcmp(op, "cast") == 0) {
		doc_add_expr(buf, json_at(expr, 2));
	} else if (strcmp(op, "list") == 0) {
		buf_addc(buf, '[');
		add_from(buf, expr, 1, ", ");
		buf_addc(buf, ']');
	} else if (strcmp(op, "get") == 0) {
		doc_add_expr(buf, first);
		buf_addf(buf, ".%s", json_string(json_at(expr, 2)));
	} else if (strcmp(op, "at") == 0) {
		doc_add_expr(buf, first);
		buf_addc(buf, '[');
		doc_add_expr(buf, json_at(expr, 2));
		buf_addc(buf, ']');
	} else if (strcmp(op, "not") == 0 || strcmp(op, "neg") == 0) {
		buf_addc(buf, op[1] == 'o' ? '!' : '-');
		doc_add_expr(buf, first);
	} else if (strcmp(op, "if") == 0) {
		doc_add_expr(buf, first);
		buf_adds(buf, " ? ");
		add_from(buf, expr, 2, " : ");
	} else {
		return false;
	}
	return true;
}

/*
 * No author's name begins with two underscores: the compiler gives the second e
 * of a scope the name __e_2.
 */
void
doc_add_name(struct buf *buf, const char *name)
{
	const char *end = strrchr(name, '_');
	bool is_made = strncmp(name, "__", 2) == 0 && end > name + 2 &&
	               end[1] != '\0' &&
	               end[1 + strspn(end + 1, "0123456789")] == '\0';

	if (is_made)
		buf_add(buf, name + 2, (size_t)(end - name) - 2);
	else
		buf_adds(buf, name);
}

void
doc_add_expr(struct buf *buf, const struct json *expr)
{
	const char *op = json_string(json_at(expr, 0)), *sign;
	bool is_call = op != NULL && strcmp(op, "call") == 0;
	char between[8];
	size_t len;

	if (json_type(expr) == JSON_OBJECT) {
		add_object(buf, expr);
	} else if (json_type(expr) != JSON_LIST || op == NULL) {
		add_json(buf, expr);
	} else if (add_special(buf, expr, op)) {
		return;
	} else if ((sign = sign_of(op)) != NULL) {
		len = strlen(sign);
		between[0] = between[len + 1] = ' ';
		memcpy(between + 1, sign, len);
		between[len + 2] = '\0';
		add_operands(buf, expr, between);
	} else {
		buf_adds(buf, is_call ? json_string(json_at(expr, 1)) : op);
		buf_addc(buf, '(');
		add_from(buf, expr, is_call ? 2 : 1, ", ");
		buf_addc(buf, ')');
	}
}

void
doc_add_type(struct buf *buf, const struct json *type)
{
	const struct json *fields = json_get(type, "object");
	size_t i;

	if (json_string(type) != NULL) {
		buf_adds(buf, json_string(type));
	} else if (json_has(type, "optional")) {
		doc_add_type(buf, json_get(type, "optional"));
		buf_addc(buf, '?');
	} else if (json_has(type, "list")) {
		buf_addc(buf, '[');
		doc_add_type(buf, json_get(type, "list"));
		buf_addc(buf, ']');
	} else if (fields != NULL) {
		buf_addc(buf, '{');
		for (i = 0; i < json_length(fields); i++) {
			buf_addf(buf, "%s%s: ", i > 0 ? ", " : "",
			    json_key_at(fields, i));
			doc_add_type(buf, json_value_at(fields, i));
		}
		buf_addc(buf, '}');
	}
}
