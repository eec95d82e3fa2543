#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/utf8.h"

_Noreturn void
fuzz_fail(const char *file, int line, const char *holds)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, holds);
	abort();
}

/* Taking apart --------------------------------------------------------------- */

/* The next `len` bytes, and `skip` that stand between. */
static char *
take(struct fuzz_input *input, size_t len, size_t skip)
{
	char *text = xmalloc(len + 1);

	if (len > 0)
		memcpy(text, input->at, len);
	text[len] = '\0';
	input->at += len + skip;
	input->left -= len + skip;
	return text;
}

char *
fuzz_part(struct fuzz_input *input, size_t *len)
{
	static const char between[] = "\n--\n";
	const char *end = NULL;

	if (input->left > 0)
		end = memmem(
		    input->at, input->left, between, sizeof(between) - 1);
	*len = end != NULL ? (size_t)(end - input->at) : input->left;
	return take(input, *len, end != NULL ? sizeof(between) - 1 : 0);
}

char *
fuzz_line(struct fuzz_input *input)
{
	const char *end;

	if (input->left == 0)
		return NULL;
	end = memchr(input->at, '\n', input->left);
	return end != NULL ? take(input, (size_t)(end - input->at), 1)
	                   : take(input, input->left, 0);
}

size_t
fuzz_piece(unsigned *seed, size_t left)
{
	size_t len;

	*seed = *seed * 1103515245U + 12345U;
	len = 1 + (*seed >> 16) % (*seed & 0x8000U ? 7 : 300);
	return len < left ? len : left;
}

/* Text ----------------------------------------------------------------------- */

/* Whether the character of `len` bytes moves a cursor, or turns text around. */
static bool
is_unsafe(const char *text, size_t len)
{
	static const struct {
		const char *first, *last;
	} unsafe[] = {
		{ "\x01", "\x08" }, { "\x0b", "\x1f" }, { "\x7f", "\x7f" },
		{ "\xc2\x80", "\xc2\x9f" },         /* C1 */
		{ "\xe2\x80\x8e", "\xe2\x80\x8f" }, /* marks of direction */
		{ "\xe2\x80\xa8", "\xe2\x80\xae" }, /* lines, directions */
		{ "\xe2\x81\xa6", "\xe2\x81\xa9" }, /* isolates */
	};
	size_t i;

	for (i = 0; i < sizeof(unsafe) / sizeof(unsafe[0]); i++)
		if (len == strlen(unsafe[i].first) &&
		    memcmp(text, unsafe[i].first, len) >= 0 &&
		    memcmp(text, unsafe[i].last, len) <= 0)
			return true;
	return *text == '\0';
}

bool
fuzz_is_safe(const char *text, size_t len)
{
	size_t size;

	for (; len > 0; text += size, len -= size) {
		size = utf8_sequence(text, len);
		if (size == 0 || is_unsafe(text, size))
			return false;
	}
	return true;
}

bool
fuzz_has(const char *text, size_t len, const char *part, size_t part_len)
{
	return memmem(text, len, part, part_len) != NULL;
}
