#include "driver/secret/reading.h"

#include <string.h>

/* A character, or one plain byte of a character. */
struct character {
	unsigned char bytes[4];
	size_t count;
};

/* The meaning of a character behind a backslash in JSON, except u. */
static const unsigned char meant_by[256] = {
	['"'] = '"',
	['\\'] = '\\',
	['/'] = '/',
	['b'] = '\b',
	['f'] = '\f',
	['n'] = '\n',
	['r'] = '\r',
	['t'] = '\t',
};

static bool
is_byte(const struct character *c, char byte)
{
	return c->count == 1 && c->bytes[0] == (unsigned char)byte;
}

static int
hex_digit(const struct character *c)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *found = c->count == 1 && c->bytes[0] != '\0'
	                        ? strchr(digits, c->bytes[0])
	                        : NULL;

	return found != NULL ? (int)((found - digits) % 16) : -1;
}

/*
 * Write a code point in UTF-8.  One half of a surrogate pair becomes three bytes
 * that no valid text contains.
 */
static void
set_code(struct character *c, unsigned code)
{
	static const unsigned char leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t i;

	c->count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (i = c->count; i-- > 1; code >>= 6)
		c->bytes[i] = (unsigned char)(0x80 | (code & 0x3f));
	c->bytes[0] = (unsigned char)(leads[c->count] | code);
}

/*
 * Each of these functions reads one character at the beginning of a text that was
 * made a string of JSON `json` times.  It returns how many bytes it has read: 0 if
 * the text ends first.
 */
static size_t read_json(
    const char *text, const char *end, unsigned json, struct character *c);

/* NOLINTBEGIN(misc-no-recursion): no deeper than READING_JSON_MAX */

/* `*code`: -1 if `count` digits do not follow. */
static size_t
read_hex(const char *text, const char *end, unsigned json, int count, int *code)
{
	const char *at = text;
	struct character c;
	size_t len;
	int digit;

	for (*code = 0; count > 0; count--, at += len) {
		len = read_json(at, end, json, &c);
		if (len == 0)
			return 0;
		digit = hex_digit(&c);
		if (digit < 0) {
			*code = -1;
			return len;
		}
		*code = *code * 16 + digit;
	}
	return (size_t)(at - text);
}

/* Read the second \uXXXX of a pair; `*code` is -1 if it is not one. */
static size_t
read_low(const char *text, const char *end, unsigned json, int *code)
{
	static const char begin[] = "\\u";
	const char *at = text;
	struct character c;
	size_t i, len;

	for (i = 0; begin[i] != '\0'; i++, at += len) {
		len = read_json(at, end, json, &c);
		*code = -1;
		if (len == 0 || !is_byte(&c, begin[i]))
			return len;
	}
	len = read_hex(at, end, json, 4, code);
	if (*code < 0xdc00 || *code > 0xdfff)
		*code = -1;
	return len > 0 ? (size_t)(at - text) + len : 0;
}

/* Read the code point behind \u.  An invalid one leaves `c` as it is. */
static size_t
read_code(const char *text, const char *end, unsigned json, struct character *c)
{
	int code, low;
	size_t len = read_hex(text, end, json, 4, &code), more;

	if (len == 0 || code < 0)
		return len;
	if (code >= 0xd800 && code < 0xdc00) {
		more = read_low(text + len, end, json, &low);
		if (more == 0)
			return 0;
		if (low >= 0) {
			len += more;
			code =
			    0x10000 + (code - 0xd800) * 1024 + (low - 0xdc00);
		}
	}
	set_code(c, (unsigned)code);
	return len;
}

static size_t
read_json(const char *text, const char *end, unsigned json, struct character *c)
{
	struct character next;
	size_t len, more;

	if (text == end)
		return 0;
	if (json == 0) {
		c->bytes[0] = (unsigned char)*text;
		c->count = 1;
		return 1;
	}
	len = read_json(text, end, json - 1, c);
	if (len == 0 || !is_byte(c, '\\'))
		return len;
	more = read_json(text + len, end, json - 1, &next);
	if (more == 0)
		return 0;
	if (is_byte(&next, 'u')) {
		size_t code;

		next.count = 0;
		code = read_code(text + len + more, end, json - 1, &next);
		if (code == 0)
			return 0;
		if (next.count == 0)
			return len;
		*c = next;
		return len + more + code;
	}
	if (next.count > 1 || meant_by[next.bytes[0]] == '\0')
		return len;
	c->bytes[0] = meant_by[next.bytes[0]];
	return len + more;
}

/* NOLINTEND(misc-no-recursion) */

/*
 * `c` is a character of JSON, `len` long.  If an escape of a URL begins there,
 * read it into `c`.
 */
static size_t
read_percent(const struct reader *reader, size_t len, struct character *c)
{
	size_t more;
	int code;

	if (is_byte(c, '+') && reader->how.plus)
		c->bytes[0] = ' ';
	if (!is_byte(c, '%'))
		return len;
	more =
	    read_hex(reader->at + len, reader->end, reader->how.json, 2, &code);
	if (more == 0)
		return 0;
	if (code >= 0)
		c->bytes[0] = (unsigned char)code;
	return code >= 0 ? len + more : len;
}

static const unsigned char seen_of[256] = {
	['\\'] = SEEN_BACKSLASH,
	['%'] = SEEN_PERCENT,
	['+'] = SEEN_PLUS,
};

void
reader_init(
    struct reader *reader, const char *text, size_t len, struct reading how)
{
	*reader = (struct reader){
		.at = text,
		.end = text + len,
		.how = how,
	};
}

int
reader_next(struct reader *reader)
{
	struct character c;
	size_t len;

	if (reader->next < reader->count)
		return reader->bytes[reader->next++];
	if (reader->at < reader->end &&
	    seen_of[(unsigned char)*reader->at] == 0)
		return (unsigned char)*reader->at++;
	len = read_json(reader->at, reader->end, reader->how.json, &c);
	if (len > 0) {
		reader->seen |= c.count == 1 ? seen_of[c.bytes[0]] : 0U;
		if (reader->how.percent)
			len = read_percent(reader, len, &c);
	}
	if (len == 0)
		return -1;
	reader->at += len;
	memcpy(reader->bytes, c.bytes, sizeof(c.bytes));
	reader->count = c.count;
	reader->next = 1;
	return c.bytes[0];
}

bool
reader_is_between(const struct reader *reader)
{
	return reader->next == reader->count;
}

bool
reading_first_four(const char *text, size_t len, const struct reading *how,
    char four[4], unsigned *seen)
{
	size_t i, at = 0;
	unsigned char byte;

	if (how->json > 1 || how->percent || len < 8)
		return false;
	for (i = 0; i < 4; i++) {
		byte = (unsigned char)text[at++];
		if (byte == '\\' && how->json > 0) {
			byte = meant_by[(unsigned char)text[at++]];
			if (byte == '\0')
				return false;
		}
		*seen |= seen_of[byte];
		four[i] = (char)byte;
	}
	return true;
}

size_t
reading_step(
    const char *text, size_t len, bool json, unsigned char *byte, bool *escape)
{
	unsigned char meant;

	*byte = (unsigned char)*text;
	*escape = seen_of[*byte] != 0;
	if (!*escape || !json || *byte != '\\' || len < 2)
		return 1;
	meant = meant_by[(unsigned char)text[1]];
	if (meant != '\0') {
		*byte = meant;
		*escape = seen_of[meant] != 0;
	}
	return text[1] == 'u' && len >= 6 ? 6 : 2;
}

bool
reading_is_of_escape(unsigned char byte)
{
	return byte == '\\' || byte == 'u' || byte == '%' ||
	       (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'F') ||
	       (byte >= 'a' && byte <= 'f');
}
