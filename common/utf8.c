#include "common/utf8.h"

/*
 * Which second bytes may follow a first one.  The narrower ranges refuse
 * overlong forms, surrogates and characters beyond U+10FFFF.
 */
static const struct lead {
	unsigned char first, last;
	unsigned char second_low, second_high;
	size_t size;
} leads[] = {
	{ 0xc2, 0xdf, 0x80, 0xbf, 2 },
	{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
	{ 0xe1, 0xec, 0x80, 0xbf, 3 },
	{ 0xed, 0xed, 0x80, 0x9f, 3 },
	{ 0xee, 0xef, 0x80, 0xbf, 3 },
	{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
	{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
	{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
};

static const struct lead *
find_lead(unsigned char byte)
{
	for (size_t i = 0; i < sizeof(leads) / sizeof(*leads); i++)
		if (byte >= leads[i].first && byte <= leads[i].last)
			return &leads[i];
	return NULL;
}

size_t
utf8_sequence(const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	const struct lead *lead;

	if (len == 0)
		return 0;
	if (s[0] < 0x80)
		return 1;
	lead = find_lead(s[0]);
	if (lead == NULL || len < lead->size)
		return 0;
	if (s[1] < lead->second_low || s[1] > lead->second_high)
		return 0;
	for (size_t i = 2; i < lead->size; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return lead->size;
}

bool
utf8_valid(const char *text, size_t len)
{
	size_t size;

	for (size_t i = 0; i < len; i += size) {
		size = (unsigned char)text[i] < 0x80
		           ? 1
		           : utf8_sequence(text + i, len - i);
		if (size == 0)
			return false;
	}
	return true;
}
