#include "console/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "common/buf.h"
#include "common/utf8.h"

#define NARROWEST 8 /* columns that a line of text has in any case */

/*
 * The character at `text` and its length in bytes; 0 bytes at the end.  A
 * byte that begins no character is returned as itself, `*valid` false.
 */
static size_t
decode(const char *text, uint32_t *character, bool *valid)
{
	const unsigned char *byte = (const unsigned char *)text;
	size_t len = utf8_sequence(text, strnlen(text, 4)), i;

	*valid = len > 0 || text[0] == '\0';
	*character = byte[0];
	if (text[0] == '\0' || len <= 1)
		return text[0] != '\0';
	*character = byte[0] & (0xffU >> (len + 1));
	for (i = 1; i < len; i++)
		*character = *character << 6 | (byte[i] & 0x3fU);
	return len;
}

/* Control characters, and characters that turn or hide the text around them. */
static bool
is_unsafe(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} unsafe[] = {
		{ 0x00, 0x1f },
		{ 0x7f, 0x9f },
		{ 0x61c, 0x61c },
		{ 0x200b, 0x200f },
		{ 0x2028, 0x202e },
		{ 0x2060, 0x206f },
		{ 0xfeff, 0xfeff },
		{ 0xfff9, 0xfffb },
		{ 0xe0000, 0xe0fff },
	};
	size_t i;

	for (i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]); i++)
		if (c >= unsafe[i].first && c <= unsafe[i].last)
			return true;
	return false;
}

static void
add_escape(struct buf *buf, uint32_t c)
{
	switch (c) {
	case '\n':
		buf_adds(buf, "\\n");
		break;
	case '\r':
		buf_adds(buf, "\\r");
		break;
	case '\t':
		buf_adds(buf, "\\t");
		break;
	default:
		buf_addf(buf, c < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)c);
	}
}

/*
 * Line ends and tabs stand only between tokens, as no string of JSON has them.
 */
static void
add_json_escape(struct buf *buf, uint32_t c)
{
	if (c == '\n' || c == '\r' || c == '\t')
		buf_addc(buf, ' ');
	else if (c >= 0x10000)
		buf_addf(buf, "\\u%04x\\u%04x",
		    (unsigned)(0xd800 + ((c - 0x10000) >> 10)),
		    (unsigned)(0xdc00 + ((c - 0x10000) & 0x3ff)));
	else
		buf_addf(buf, "\\u%04x", (unsigned)c);
}

static void
add_safe(struct buf *buf, const char *text, const char *keep,
    void (*escape)(struct buf *, uint32_t))
{
	uint32_t c;
	bool valid;
	size_t len;

	while ((len = decode(text, &c, &valid)) > 0) {
		if (valid && c < 0x80 && strchr(keep, (int)c) != NULL)
			buf_addc(buf, (char)c);
		else if (!valid || is_unsafe(c))
			escape(buf, c);
		else
			buf_add(buf, text, len);
		text += len;
	}
}

void
text_add_safe(struct buf *buf, const char *text, const char *keep)
{
	add_safe(buf, text, keep, add_escape);
}

void
text_add_safe_json(struct buf *buf, const char *text, const char *keep)
{
	add_safe(buf, text, keep, add_json_escape);
}

/* A character that the locale does not know counts as narrow. */
static size_t
character_width(uint32_t c)
{
	int width = wcwidth((wchar_t)c);

	return width < 0 ? 1 : (size_t)width;
}

size_t
text_width(const char *text)
{
	size_t width = 0, len;
	uint32_t c;
	bool valid;

	for (; (len = decode(text, &c, &valid)) > 0; text += len)
		width += character_width(c);
	return width;
}

/*
 * How many bytes of `text` fit into `width` columns, and the columns they take.
 */
static size_t
bytes_within(const char *text, size_t width, size_t *taken)
{
	const char *at = text;
	size_t len;
	uint32_t c;
	bool valid;

	*taken = 0;
	for (; (len = decode(at, &c, &valid)) > 0; at += len) {
		if (*taken + character_width(c) > width)
			break;
		*taken += character_width(c);
	}
	return (size_t)(at - text);
}

void
text_add_fitted(struct buf *buf, const char *text, size_t width, bool right,
    const char *mark)
{
	size_t full = text_width(text), taken = full;
	size_t len = strlen(text), space = text_width(mark);

	if (full > width) {
		len = bytes_within(
		    text, width > space ? width - space : 0, &taken);
		taken += space;
	}
	if (right && taken < width)
		buf_addf(buf, "%*s", (int)(width - taken), "");
	buf_add(buf, text, len);
	if (full > width)
		buf_adds(buf, mark);
	if (!right && taken < width)
		buf_addf(buf, "%*s", (int)(width - taken), "");
}

/* How many bytes of `text` make one line of at most `room` columns. */
static size_t
line_length(const char *text, size_t room)
{
	size_t taken, len = bytes_within(text, room, &taken), end = len;

	if (text[len] == '\0')
		return len;
	while (end > 0 && text[end] != ' ')
		end--;
	return end > 0 ? end : len;
}

void
text_add_wrapped(struct buf *buf, const char *text, size_t indent, size_t width)
{
	size_t room = width > indent + NARROWEST ? width - indent : NARROWEST;
	size_t len;

	while (*text != '\0') {
		len = line_length(text, room);
		buf_add(buf, text, len);
		text += len;
		text += strspn(text, " ");
		if (*text != '\0')
			buf_addf(buf, "\n%*s", (int)indent, "");
	}
}
