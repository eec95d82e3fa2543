#include "common/json_token.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"
#include "common/utf8.h"

enum {
	SHOWN = 40,        /* bytes of an invalid token */
	INT64_DIGITS = 19, /* fewer always fit */
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The bytes of words and numbers, and of tokens that look like them. */
static bool
is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
}

/* How many bytes the string, the word or the character at `at` has. */
static size_t
token_length(const char *at, const char *end)
{
	const char *c = at + 1;

	if (*at == '"') {
		for (; c < end && *c != '"'; c++)
			if (*c == '\\' && c + 1 < end)
				c++;
		return (size_t)(c < end ? c + 1 - at : c - at);
	}
	while (is_word(*at) && c < end && is_word(*c))
		c++;
	return (size_t)(c - at);
}

static const char *
skip_digits(const char *at, const char *end)
{
	while (at < end && is_digit(*at))
		at++;
	return at;
}

static bool
is_number(const char *at, const char *end)
{
	const char *start;

	at += *at == '-';
	start = at;
	at = skip_digits(at, end);
	if (at == start || (*start == '0' && at > start + 1))
		return false;
	if (at < end && *at == '.') {
		start = at + 1;
		at = skip_digits(start, end);
		if (at == start)
			return false;
	}
	if (at < end && (*at == 'e' || *at == 'E')) {
		start = at + 1;
		start += start < end && (*start == '-' || *start == '+');
		at = skip_digits(start, end);
		if (at == start)
			return false;
	}
	return at == end;
}

/* Whether these bytes are a whole number that does not fit int64_t. */
static bool
is_big(const char *at, size_t len)
{
	const char *digits = at + (*at == '-');
	char *text;

	if (len < INT64_DIGITS || skip_digits(digits, at + len) != at + len)
		return false;
	text = xstrndup(at, len);
	errno = 0;
	(void)strtoll(text, NULL, 10);
	free(text);
	return errno == ERANGE;
}

static bool
is_literal(const char *at, size_t len)
{
	static const char *const literals[] = { "true", "false", "null" };
	size_t i;

	for (i = 0; i < sizeof(literals) / sizeof(literals[0]); i++)
		if (strlen(literals[i]) == len &&
		    memcmp(literals[i], at, len) == 0)
			return true;
	return false;
}

static bool
check_token(const char *at, size_t len, struct error *err)
{
	size_t i;

	if (is_word(*at) && !is_number(at, at + len) && !is_literal(at, len)) {
		error_set(err, "not JSON: %.*s",
		    (int)(len < SHOWN ? len : SHOWN), at);
		return false;
	}
	for (i = 0; *at == '"' && i < len; i++)
		if ((unsigned char)at[i] < ' ') {
			error_set(err,
			    "not JSON: control character U+%04X in a string",
			    (unsigned)at[i]);
			return false;
		}
	return true;
}

bool
json_tokens_check(const char *text, size_t len, bool *big, struct error *err)
{
	const char *end = text + len;
	size_t token;

	*big = false;
	if (!utf8_valid(text, len)) {
		error_set(err, "not JSON: the text is not UTF-8");
		return false;
	}
	for (; text < end; text += token) {
		token = token_length(text, end);
		if (!check_token(text, token, err))
			return false;
		*big |= is_big(text, token);
	}
	return true;
}

size_t
json_tokens_piece(const char *text, const char *end)
{
	const char *at = text;
	bool last = false;

	while (at < end && !last) {
		last = *at == '"' || is_word(*at);
		at += token_length(at, end);
	}
	return (size_t)(at - text);
}

void
json_tokens_mark(struct buf *buf, const char *text, size_t len)
{
	const char *end = text + len;
	size_t token;

	for (; text < end; text += token) {
		token = token_length(text, end);
		buf_add(buf, text, token);
		if (is_big(text, token))
			buf_adds(buf, JSON_TOKEN_MARK);
	}
}
