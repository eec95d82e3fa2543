#include "console/lang/text.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "console/lang/arena.h"
#include "console/lang/diagnostic.h"
#include "console/lang/source.h"

static const struct {
	char letter, value;
} escapes[] = {
	{ '"', '"' },
	{ '$', '$' },
	{ '/', '/' },
	{ '\'', '\'' },
	{ '\\', '\\' },
	{ 'b', '\b' },
	{ 'f', '\f' },
	{ 'n', '\n' },
	{ 'r', '\r' },
	{ 't', '\t' },
};

struct decoder {
	struct arena *arena;
	const struct source *source;
	struct lang_result *result;
	struct text_piece *pieces;
	size_t count;
	bool failed;
};

/* Whether the line of text from `at` up to `end` is blank. */
static bool
is_blank(const char *text, size_t at, size_t end)
{
	while (at < end && (text[at] == ' ' || text[at] == '\t'))
		at++;
	return at == end;
}

static size_t
indentation(const char *text, size_t at, size_t end)
{
	size_t start = at;

	while (at < end && (text[at] == ' ' || text[at] == '\t'))
		at++;
	return at - start;
}

/* The indentation that all lines share, except the first and blank ones. */
static size_t
common_indentation(const struct decoder *decoder)
{
	const char *text = decoder->source->text;
	const struct text_piece *last = &decoder->pieces[decoder->count - 1];
	const struct text_piece *piece;
	size_t common = (size_t)-1, at, stop, own;

	for (piece = decoder->pieces; piece <= last; piece++) {
		for (at = piece->start; at < piece->end; at++) {
			if (text[at] != '\n')
				continue;
			stop = at + 1 + strcspn(text + at + 1, "\n");
			if (stop > piece->end)
				stop = piece->end;
			/* a blank line, or that of the closing quotes */
			if (is_blank(text, at + 1, stop) &&
			    (text[stop] == '\n' || piece == last))
				continue;
			own = indentation(text, at + 1, stop);
			if (own < common)
				common = own;
		}
	}
	return common == (size_t)-1 ? 0 : common;
}

static unsigned
hex4(const char *p)
{
	unsigned code = 0;
	int i;

	for (i = 0; i < 4; i++) {
		const char *digits = "0123456789abcdef0123456789ABCDEF";
		const char *digit = p[i] ? strchr(digits, p[i]) : NULL;

		if (!digit)
			return (unsigned)-1;
		code = code * 16 + (unsigned)(digit - digits) % 16;
	}
	return code;
}

static void
add_code(struct buf *buf, unsigned code)
{
	static const unsigned char lead[] = { 0, 0xc0, 0xe0, 0xf0 };
	int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;

	buf_addc(buf, (char)(lead[more] | code >> (6 * more)));
	while (more-- > 0)
		buf_addc(buf, (char)(0x80 | (code >> (6 * more) & 0x3f)));
}

/* \uXXXX, or two of them for a character beyond U+FFFF; the bytes read. */
static size_t
decode_unicode(struct buf *buf, const char *p)
{
	unsigned code = hex4(p + 2), low;

	if (code == 0 || code == (unsigned)-1 ||
	    (code >= 0xdc00 && code <= 0xdfff))
		return 0;
	if (code < 0xd800 || code > 0xdbff) {
		add_code(buf, code);
		return 6;
	}
	if (p[6] != '\\' || p[7] != 'u')
		return 0;
	low = hex4(p + 8);
	if (low < 0xdc00 || low > 0xdfff)
		return 0;
	add_code(buf, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
	return 12;
}

/* Decode one escape at `at`; returns the bytes read. */
static size_t
decode_escape(struct decoder *decoder, struct buf *buf, size_t at)
{
	const char *p = decoder->source->text + at;
	size_t i, len = 2;

	for (i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		if (escapes[i].letter == p[1]) {
			buf_addc(buf, escapes[i].value);
			return 2;
		}
	}
	if (p[1] == 'u' && (i = decode_unicode(buf, p)))
		return i;
	if ((unsigned char)p[1] >= 0x80) {
		source_decode(p + 1, &len);
		len++;
	}
	decoder->failed = true;
	report(decoder->result, decoder->source, at, "unknown escape `%.*s`",
	    (int)len, p);
	report_hint(decoder->result,
	    "Known are \\\" \\' \\\\ \\/ \\$ \\b \\f \\n \\r \\t and "
	    "\\uXXXX (not \\u0000); '…' is a string without escapes.");
	return len;
}

/* Remove the line breaks next to the quotes. */
static void
trim_lines(struct decoder *decoder)
{
	const char *text = decoder->source->text;
	struct text_piece *first = decoder->pieces;
	struct text_piece *last = first + decoder->count - 1;
	size_t at;

	for (at = last->end; at > last->start && text[at - 1] != '\n'; at--)
		continue;
	if (at > last->start && is_blank(text, at, last->end))
		last->end = at - 1 < first->start ? first->start : at - 1;
	if (first->start < first->end && text[first->start] == '\n') {
		at = first->start + 1;
		first->start = at;
	}
}

static void
decode_piece(struct decoder *decoder, struct text_piece *piece, size_t indent,
    bool line_start, bool raw)
{
	const char *text = decoder->source->text;
	size_t at = piece->start, skip;
	struct buf buf;

	buf_init(&buf, 0);
	while (at < piece->end) {
		if (line_start) {
			skip = indentation(text, at, piece->end);
			at += skip < indent ? skip : indent;
			line_start = false;
			continue;
		}
		if (text[at] == '\\' && !raw) {
			at += decode_escape(decoder, &buf, at);
			continue;
		}
		line_start = text[at] == '\n';
		buf_addc(&buf, text[at++]);
	}
	piece->value = arena_strndup(decoder->arena, buf.data, buf.len);
	buf_release(&buf);
}

bool
text_decode(struct arena *arena, const struct source *source,
    struct text_piece *pieces, size_t count, int quotes, bool raw,
    struct lang_result *result)
{
	struct decoder decoder = {
		.arena = arena,
		.source = source,
		.result = result,
		.pieces = pieces,
		.count = count,
	};
	size_t indent = 0, begin = pieces[0].start, i;
	bool line_start;

	if (quotes == 3) {
		indent = common_indentation(&decoder);
		trim_lines(&decoder);
	}
	for (i = 0; i < count; i++) {
		line_start = i == 0 && pieces[0].start != begin;
		decode_piece(&decoder, &pieces[i], indent, line_start, raw);
	}
	return !decoder.failed;
}
