/*
 * json_text.c - a check whether a text is JSON, by RFC 8259.  It uses no JSON
 * library, so the fuzzers can compare common/json with it.
 */
#include <string.h>

#include "common/utf8.h"
#include "tests/fuzz/fuzz.h"

enum { DEEPEST = 500 };

struct reader {
	const char *at, *end;
	int depth;
};

static bool read_value(struct reader *reader);

static void
skip_blanks(struct reader *reader)
{
	while (reader->at < reader->end &&
	       (*reader->at == ' ' || *reader->at == '\t' ||
	           *reader->at == '\n' || *reader->at == '\r'))
		reader->at++;
}

static bool
accept(struct reader *reader, char c)
{
	if (reader->at == reader->end || *reader->at != c)
		return false;
	reader->at++;
	return true;
}

static bool
read_word(struct reader *reader, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(reader->end - reader->at) < len ||
	    memcmp(reader->at, word, len) != 0)
		return false;
	reader->at += len;
	return true;
}

static size_t
read_digits(struct reader *reader)
{
	const char *start = reader->at;

	while (reader->at < reader->end && *reader->at >= '0' &&
	       *reader->at <= '9')
		reader->at++;
	return (size_t)(reader->at - start);
}

static bool
read_number(struct reader *reader)
{
	accept(reader, '-');
	if (!accept(reader, '0') && read_digits(reader) == 0)
		return false;
	if (accept(reader, '.') && read_digits(reader) == 0)
		return false;
	if (accept(reader, 'e') || accept(reader, 'E')) {
		if (!accept(reader, '-'))
			accept(reader, '+');
		return read_digits(reader) > 0;
	}
	return true;
}

static bool
read_escape(struct reader *reader)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	int i;

	if (reader->at == reader->end ||
	    memchr("\"\\/bfnrtu", *reader->at, 9) == NULL)
		return false;
	if (*reader->at++ != 'u')
		return true;
	for (i = 0; i < 4; i++, reader->at++)
		if (reader->at == reader->end ||
		    memchr(hex, *reader->at, sizeof(hex) - 1) == NULL)
			return false;
	return true;
}

static bool
read_string(struct reader *reader)
{
	if (!accept(reader, '"'))
		return false;
	while (reader->at < reader->end) {
		if (accept(reader, '"'))
			return true;
		if (accept(reader, '\\')) {
			if (!read_escape(reader))
				return false;
		} else if ((unsigned char)*reader->at++ < ' ') {
			return false;
		}
	}
	return false;
}

/* Members of an object have a name before them. */
static bool
read_members(struct reader *reader, char close)
{
	skip_blanks(reader);
	if (accept(reader, close))
		return true;
	for (;;) {
		if (close == '}') {
			skip_blanks(reader);
			if (!read_string(reader))
				return false;
			skip_blanks(reader);
			if (!accept(reader, ':'))
				return false;
		}
		if (!read_value(reader))
			return false;
		if (accept(reader, close))
			return true;
		if (!accept(reader, ','))
			return false;
	}
}

static bool
read_nested(struct reader *reader, char close)
{
	bool ok = ++reader->depth < DEEPEST && read_members(reader, close);

	reader->depth--;
	return ok;
}

/* With the blanks around it. */
static bool
read_value(struct reader *reader)
{
	bool ok;

	skip_blanks(reader);
	if (accept(reader, '{'))
		ok = read_nested(reader, '}');
	else if (accept(reader, '['))
		ok = read_nested(reader, ']');
	else if (reader->at < reader->end && *reader->at == '"')
		ok = read_string(reader);
	else
		ok = read_word(reader, "true") || read_word(reader, "false") ||
		     read_word(reader, "null") || read_number(reader);
	skip_blanks(reader);
	return ok;
}

bool
fuzz_is_json(const char *text, size_t len)
{
	struct reader reader = { .at = text, .end = text + len };

	return utf8_valid(text, len) && read_value(&reader) &&
	       reader.at == reader.end;
}
