#include "console/lang/symbol.h"

#include <stdlib.h>
#include <string.h>

struct word {
	const char *text;
	enum token_kind kind;
};

static const struct word reserved[] = {
#define X(name, text) { text, T_##name },
	RESERVED_WORDS(X)
#undef X
};

static const struct word punctuation[] = {
#define X(name, text) { text, T_##name },
	PUNCTUATION(X)
#undef X
};

static const char *const names[] = { [T_END] = "the end of the file",
	[T_NAME] = "a name",
	[T_NUMBER] = "a number",
	[T_DURATION] = "a duration",
	[T_STRING] = "a string",
	[T_TEXT_START] = "a string",
	[T_TEXT_MIDDLE] = "`}`",
	[T_TEXT_END] = "`}`",
#define X(name, text) [T_##name] = "`" text "`",
	RESERVED_WORDS(X) PUNCTUATION(X)
#undef X
};

/* Characters that hide, join or turn text around. */
static const struct {
	unsigned first, last;
	const char *name;
} invisible[] = {
	{ 0x7f, 0x9f, "control character" },
	{ 0xa0, 0xa0, "no-break space" },
	{ 0xad, 0xad, "soft hyphen" },
	{ 0x61c, 0x61c, "bidirectional mark" },
	{ 0x180e, 0x180e, "zero-width character" },
	{ 0x200b, 0x200d, "zero-width character" },
	{ 0x200e, 0x200f, "bidirectional mark" },
	{ 0x2028, 0x2029, "line separator" },
	{ 0x202a, 0x202e, "bidirectional override" },
	{ 0x2060, 0x2064, "zero-width character" },
	{ 0x2066, 0x2069, "bidirectional isolate" },
	{ 0xfeff, 0xfeff, "byte order mark" },
	{ 0xfff9, 0xfffb, "annotation mark" },
	{ 0xe0000, 0xe0fff, "tag" },
};

bool
symbol_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

enum token_kind
symbol_reserved(const char *word, size_t len)
{
	size_t low = 0, high = sizeof(reserved) / sizeof(reserved[0]), middle;
	int order;

	while (low < high) {
		middle = (low + high) / 2;
		order = strncmp(word, reserved[middle].text, len);
		if (order == 0 && reserved[middle].text[len] == '\0')
			return reserved[middle].kind;
		if (order <= 0)
			high = middle;
		else
			low = middle + 1;
	}
	return T_NAME;
}

enum token_kind
symbol_punctuation(const char *text, size_t *len)
{
	size_t i;

	for (i = 0; i < sizeof(punctuation) / sizeof(punctuation[0]); i++) {
		*len = strlen(punctuation[i].text);
		if (strncmp(text, punctuation[i].text, *len) == 0)
			return punctuation[i].kind;
	}
	return T_END;
}

static size_t
digits(const char *text)
{
	return strspn(text, "0123456789");
}

size_t
symbol_number(const char *text)
{
	size_t len = *text == '0' ? 1 : digits(text), sign;

	if (len == 0)
		return 0;
	if (text[len] == '.' && digits(text + len + 1) > 0)
		len += 1 + digits(text + len + 1);
	if (text[len] == 'e' || text[len] == 'E') {
		sign = text[len + 1] == '+' || text[len + 1] == '-';
		if (digits(text + len + 1 + sign) > 0)
			len += 1 + sign + digits(text + len + 1 + sign);
	}
	return len;
}

const char *
symbol_invisible(unsigned code)
{
	size_t i;

	for (i = 0; i < sizeof(invisible) / sizeof(invisible[0]); i++)
		if (code >= invisible[i].first && code <= invisible[i].last)
			return invisible[i].name;
	return NULL;
}

const char *
symbol_name(enum token_kind kind)
{
	return names[kind];
}

bool
symbol_is_name(const char *text)
{
	if (*text == '\0' || (*text >= '0' && *text <= '9'))
		return false;
	while (symbol_is_word(*text))
		text++;
	return *text == '\0';
}
