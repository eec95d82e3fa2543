#include "console/lang/source.h"

#include <string.h>

#include "console/lang/arena.h"
#include "console/lang/diagnostic.h"
#include "console/lang/lang.h"

/* The length of a line up to which it is shown. */
#define LINE_SHOWN 400

unsigned
source_decode(const char *text, size_t *len)
{
	static const unsigned char lead[] = { 0x7f, 0x1f, 0x0f, 0x07 };
	const unsigned char *p = (const unsigned char *)text;
	size_t more = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc0 ? 1 : 0, i;
	unsigned code = *p & lead[more];

	for (i = 1; i <= more; i++)
		code = code << 6 | (p[i] & 0x3f);
	*len = more + 1;
	return code;
}

/* The length of the character at `p`; 0 if it is not UTF-8. */
static size_t
character_length(const unsigned char *p, size_t left)
{
	static const unsigned smallest[] = { 0, 0x80, 0x800, 0x10000 };
	size_t len, i;
	unsigned code;

	if (*p < 0x80)
		return 1;
	len = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
	if (*p < 0xc2 || *p > 0xf4 || len > left)
		return 0;
	for (i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	code = source_decode((const char *)p, &i);
	if (code < smallest[len - 1] || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return len;
}

/* The offset of the first byte that is not UTF-8; `len` if there is none. */
static size_t
find_bad_byte(const char *text, size_t len)
{
	size_t at = 0, step;

	while (at < len) {
		step = character_length(
		    (const unsigned char *)text + at, len - at);
		if (step == 0)
			break;
		at += step;
	}
	return at;
}

static bool
check_bytes(
    const char *path, const char *text, size_t len, struct lang_result *result)
{
	const char *nul;
	size_t bad;

	if (len > LANG_SOURCE_MAX) {
		report_file(result, path, "the file is longer than 1 MiB");
		report_hint(result, "Split it into several files.");
		return false;
	}
	if ((nul = memchr(text, '\0', len))) {
		report_file(result, path, "there is a NUL byte at offset %zu",
		    (size_t)(nul - text));
		return false;
	}
	if ((bad = find_bad_byte(text, len)) < len) {
		report_file(result, path,
		    "the text is not valid UTF-8 at byte offset %zu", bad);
		report_hint(result, "Save the file in the encoding UTF-8.");
		return false;
	}
	return true;
}

/* Copy, and turn every kind of line end into \n; returns the length. */
static size_t
copy_lines(char *to, const char *from, size_t len)
{
	size_t i, used = 0;

	for (i = 0; i < len; i++) {
		if (from[i] != '\r')
			to[used++] = from[i];
		else if (i + 1 == len || from[i + 1] != '\n')
			to[used++] = '\n';
	}
	to[used] = '\0';
	return used;
}

static void
find_lines(struct source *source, struct arena *arena)
{
	size_t i;
	int line = 1;

	for (i = 0; i < source->len; i++)
		line += source->text[i] == '\n';
	source->line_count = line;
	source->lines = arena_alloc(arena, (size_t)line * sizeof(size_t));
	for (i = 0, line = 1; i < source->len; i++)
		if (source->text[i] == '\n')
			source->lines[line++] = i + 1;
}

struct source *
source_new(struct arena *arena, const char *path, const char *text, size_t len,
    struct lang_result *result)
{
	struct source *source;
	char *copy;

	if (!check_bytes(path, text, len, result))
		return NULL;
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		len -= 3;
	}
	source = arena_alloc(arena, sizeof(*source));
	copy = arena_alloc(arena, len + 1);
	source->len = copy_lines(copy, text, len);
	source->text = copy;
	source->path = arena_strndup(arena, path, strlen(path));
	find_lines(source, arena);
	return source;
}

int
source_line_at(const struct source *source, size_t offset)
{
	int low = 0, high = source->line_count - 1, middle;

	while (low < high) {
		middle = (low + high + 1) / 2;
		if (source->lines[middle] <= offset)
			low = middle;
		else
			high = middle - 1;
	}
	return low + 1;
}

struct position
source_position(const struct source *source, size_t offset)
{
	struct position position = { source_line_at(source, offset), 1 };
	size_t at = source->lines[position.line - 1];

	for (; at < offset && at < source->len; at++)
		position.column +=
		    ((unsigned char)source->text[at + 1] & 0xc0) != 0x80;
	return position;
}

char *
source_line(const struct source *source, struct arena *arena, int line)
{
	const char *start = source->text + source->lines[line - 1];
	size_t len = strcspn(start, "\n");

	return len > LINE_SHOWN ? NULL : arena_strndup(arena, start, len);
}
