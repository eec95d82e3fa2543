/* String literals that the writer writes. */
#include <string.h>

#include "console/lang/source.h"
#include "console/lang/symbol.h"
#include "console/lang/writer.h"

/* A literal with one quote, or with three quotes, which may have lines. */
struct literal {
	int quotes;
	int indent; /* of its lines */
};

static const struct {
	char value, letter;
} escapes[] = {
	{ '\\', '\\' },
	{ '\b', 'b' },
	{ '\f', 'f' },
	{ '\n', 'n' },
	{ '\r', 'r' },
	{ '\t', 't' },
};

/* An invisible character is written as its number. */
static void
add_code(struct writer *writer, unsigned code)
{
	if (code > 0xffff) {
		buf_addf(
		    &writer->out, "\\u%04x", 0xd800 + ((code - 0x10000) >> 10));
		code = 0xdc00 + ((code - 0x10000) & 0x3ff);
	}
	buf_addf(&writer->out, "\\u%04x", code);
}

static bool
add_escape(struct writer *writer, char c)
{
	size_t i;

	for (i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		if (escapes[i].value == c) {
			buf_addf(&writer->out, "\\%c", escapes[i].letter);
			return true;
		}
	}
	return false;
}

/* A piece of a literal; `last`: it is followed by the closing quotes. */
static void
add_piece(struct writer *writer, const struct literal *literal,
    const char *text, bool last)
{
	unsigned code;
	size_t len;

	for (; *text; text += len) {
		code = source_decode(text, &len);
		if (*text == '\n' && literal->quotes == 3) {
			buf_adds(&writer->out, "\n");
			if (text[1] != '\n' && (text[1] != '\0' || !last))
				buf_addf(
				    &writer->out, "%*s", literal->indent, "");
		} else if (*text == '"' &&
		           (literal->quotes == 1 || text[1] == '"' ||
		               text[1] == '\0')) {
			buf_adds(&writer->out, "\\\"");
		} else if (*text == '$' &&
		           (text[1] == '{' || (text[1] == '\0' && !last))) {
			buf_adds(&writer->out, "\\$");
		} else if (!add_escape(writer, *text)) {
			if (code < ' ' || symbol_invisible(code))
				add_code(writer, code);
			else
				buf_add(&writer->out, text, len);
		}
	}
}

/* Whether the text has lines, and one of them begins without a space. */
static bool
has_lines(const char *text)
{
	bool flush = *text != '\0' && *text != ' ' && *text != '\n';
	const char *p;

	if (!strchr(text, '\n'))
		return false;
	for (p = strchr(text, '\n'); p; p = strchr(p + 1, '\n'))
		flush |= p[1] != '\0' && p[1] != ' ' && p[1] != '\n';
	return flush;
}

static struct literal
open_literal(struct writer *writer, const char *whole)
{
	struct literal literal = { 1, writer->indent + 4 };

	if (!writer->in_text && has_lines(whole))
		literal.quotes = 3;
	if (literal.quotes == 1) {
		buf_adds(&writer->out, "\"");
	} else {
		buf_adds(&writer->out, "\"\"\"\n");
		if (*whole != '\n')
			buf_addf(&writer->out, "%*s", literal.indent, "");
	}
	return literal;
}

static void
close_literal(struct writer *writer, const struct literal *literal)
{
	if (literal->quotes == 1)
		buf_adds(&writer->out, "\"");
	else
		buf_addf(&writer->out, "\n%*s\"\"\"", literal->indent, "");
}

void
write_string(struct writer *writer, const struct json *string)
{
	const char *text = json_string(string);
	struct literal literal;

	if (strlen(text) != json_string_length(string)) {
		write_fault(writer, "there is a NUL in the string");
		return;
	}
	literal = open_literal(writer, text);
	add_piece(writer, &literal, text, true);
	close_literal(writer, &literal);
}

void
write_key(struct writer *writer, const char *key)
{
	const struct literal literal = { .quotes = 1 };

	if (symbol_is_name(key)) {
		buf_adds(&writer->out, key);
		return;
	}
	buf_adds(&writer->out, "\"");
	add_piece(writer, &literal, key, true);
	buf_adds(&writer->out, "\"");
}

/* Whether part `i` is written directly, and not in ${…}. */
static bool
is_piece(const struct json *expr, size_t i, bool after_piece)
{
	const struct json *part = json_at(expr, i);

	return json_type(part) == JSON_STRING && !after_piece &&
	       *json_string(part) != '\0' && json_length(expr) > 2 &&
	       strlen(json_string(part)) == json_string_length(part);
}

/* All pieces, with an "x" for each expression between them. */
static const char *
whole_text(struct writer *writer, const struct json *expr)
{
	struct buf buf;
	bool piece = false;
	const char *text;
	size_t i;

	buf_init(&buf, 0);
	for (i = 1; i < json_length(expr); i++) {
		piece = is_piece(expr, i, piece);
		buf_adds(&buf, piece ? json_string(json_at(expr, i)) : "x");
	}
	text = arena_strndup(writer->arena, buf.data, buf.len);
	buf_release(&buf);
	return text;
}

void
write_text(struct writer *writer, const struct json *expr)
{
	struct literal literal = open_literal(writer, whole_text(writer, expr));
	size_t count = json_length(expr), i, before;
	bool outer = writer->in_text, piece = false;

	for (i = 1; i < count; i++) {
		piece = is_piece(expr, i, piece);
		if (piece) {
			add_piece(writer, &literal,
			    json_string(json_at(expr, i)), i == count - 1);
			continue;
		}
		before = write_enter(writer, "[%zu]", i);
		writer->in_text = true;
		buf_adds(&writer->out, "${");
		write_expr(writer, json_at(expr, i));
		buf_adds(&writer->out, "}");
		writer->in_text = outer;
		write_leave(writer, before);
	}
	close_literal(writer, &literal);
}
