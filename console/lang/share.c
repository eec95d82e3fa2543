#include "console/lang/share.h"

#include <ctype.h>
#include <string.h>

static bool sum(const char **at);

static void
skip_spaces(const char **at)
{
	while (isspace((unsigned char)**at))
		++*at;
}

static bool
skip_word(const char **at, const char *word)
{
	size_t i;

	skip_spaces(at);
	for (i = 0; word[i]; i++)
		if (tolower((unsigned char)(*at)[i]) != word[i])
			return false;
	*at += i;
	return true;
}

/* There are at most nine digits before and after the point. */
static bool
digits(const char **at)
{
	size_t len = strspn(*at, "0123456789");

	*at += len;
	return len >= 1 && len <= 9;
}

static bool
number(const char **at)
{
	skip_spaces(at);
	if (!digits(at))
		return false;
	if (**at == '.') {
		++*at;
		if (!digits(at))
			return false;
	}
	skip_word(at, "%");
	return true;
}

static bool
term(const char **at)
{
	if (skip_word(at, "all"))
		return true;
	if (skip_word(at, "min(") || skip_word(at, "max(")) {
		do
			if (!sum(at))
				return false;
		while (skip_word(at, ","));
		return skip_word(at, ")");
	}
	if (skip_word(at, "("))
		return sum(at) && skip_word(at, ")");
	return number(at);
}

static bool
skip_sign(const char **at)
{
	return skip_word(at, "+") || skip_word(at, "-");
}

static bool
sum(const char **at)
{
	for (;;) {
		while (skip_sign(at))
			;
		if (!term(at))
			return false;
		skip_spaces(at);
		if (**at != '+' && **at != '-')
			return true;
	}
}

bool
share_is_valid(const char *text, bool sums)
{
	const char *at = text;

	if (!(sums ? sum(&at) : number(&at)))
		return false;
	if (!sums && strchr(text, '.') && !strchr(text, '%'))
		return false;
	skip_spaces(&at);
	return *at == '\0';
}
