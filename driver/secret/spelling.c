#include "driver/secret/spelling.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

enum {
	FIRST_SIZE = 4, /* of a row */
};

/* Spellings ---------------------------------------------------------------- */

struct spelling
spelling_plain(const char *text, size_t len)
{
	return (struct spelling){ .text = text, .text_len = len, .len = len };
}

struct spelling
spelling_base64(const char *text, size_t len, const char *digits, size_t before)
{
	/*
	 * with 0, 1 or 2 bytes before it, its first 0, 4 or 2 bits share a
	 * digit with other bytes
	 */
	size_t first_bit = before == 0 ? 0 : 6 - 2 * before;

	return (struct spelling){
		.text = text,
		.text_len = len,
		.digits = digits,
		.first_bit = first_bit,
		.len = (8 * len - first_bit) / 6,
	};
}

unsigned char
spelling_at(const struct spelling *spelling, size_t i)
{
	size_t bit, at;
	unsigned pair;

	if (spelling->digits == NULL)
		return (unsigned char)spelling->text[i];
	bit = spelling->first_bit + 6 * i;
	at = bit / 8;
	pair = (unsigned char)spelling->text[at] * 256U;
	if (at + 1 < spelling->text_len)
		pair += (unsigned char)spelling->text[at + 1];
	return (unsigned char)spelling->digits[pair >> (10 - bit % 8) & 63];
}

/* Byte `i` in this order. */
static unsigned char
byte_at(const struct spelling *spelling, enum spelling_order order, size_t i)
{
	return spelling_at(
	    spelling, order == SPELLING_FORWARDS ? i : spelling->len - 1 - i);
}

/* Sets --------------------------------------------------------------------- */

/* Compare by bytes, and equal spellings by their addresses. */
static int
compare(const struct spelling *a, const struct spelling *b,
    enum spelling_order order)
{
	size_t i, len = a->len < b->len ? a->len : b->len;

	for (i = 0; i < len; i++) {
		int difference = byte_at(a, order, i) - byte_at(b, order, i);

		if (difference != 0)
			return difference;
	}
	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return a == b ? 0 : (uintptr_t)a < (uintptr_t)b ? -1 : 1;
}

static struct spelling_row *
row_of(struct spelling_set *set, const struct spelling *spelling)
{
	return &set->rows[byte_at(spelling, set->order, 0)];
}

/* Its place in the row, where it stands or would stand. */
static size_t
place_of(const struct spelling_set *set, const struct spelling_row *row,
    const struct spelling *spelling)
{
	size_t low = 0, high = row->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(row->spellings[middle], spelling, set->order) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void
spelling_set_add(struct spelling_set *set, const struct spelling *spelling)
{
	struct spelling_row *row = row_of(set, spelling);
	size_t i = place_of(set, row, spelling);

	if (row->count == row->size) {
		row->size = row->size > 0 ? 2 * row->size : FIRST_SIZE;
		row->spellings = xreallocarray(
		    row->spellings, row->size, sizeof(row->spellings[0]));
	}
	memmove(&row->spellings[i + 1], &row->spellings[i],
	    (row->count - i) * sizeof(row->spellings[0]));
	row->spellings[i] = spelling;
	row->count++;
	set->count++;
}

void
spelling_set_remove(struct spelling_set *set, const struct spelling *spelling)
{
	struct spelling_row *row = row_of(set, spelling);
	size_t i = place_of(set, row, spelling);

	memmove(&row->spellings[i], &row->spellings[i + 1],
	    (row->count - i - 1) * sizeof(row->spellings[0]));
	row->count--;
	set->count--;
	if (row->count == 0) {
		free(row->spellings);
		*row = (struct spelling_row){ 0 };
	}
}

/* Looking up --------------------------------------------------------------- */

bool
spelling_range_begin(struct spelling_range *range,
    const struct spelling_set *set, unsigned char byte)
{
	const struct spelling_row *row = &set->rows[byte];

	*range = (struct spelling_range){
		.order = set->order,
		.first = row->spellings,
		.end = row->spellings,
		.depth = 1,
	};
	if (row->count == 0)
		return false;
	range->end += row->count;
	return true;
}

/* The first of the range whose next byte is `byte` or more. */
static const struct spelling **
find_byte(const struct spelling_range *range, unsigned byte)
{
	const struct spelling **low = range->first, **high = range->end;

	while (low < high) {
		const struct spelling **middle = low + (high - low) / 2;

		if (byte_at(*middle, range->order, range->depth) < byte)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool
spelling_range_next(struct spelling_range *range, unsigned char byte)
{
	/* spellings that have ended come first */
	while (spelling_range_has_whole(range))
		range->first++;
	if (range->first == range->end)
		return false;
	/* mostly all spellings go on with it, or there is only one */
	if (byte_at(*range->first, range->order, range->depth) != byte ||
	    byte_at(range->end[-1], range->order, range->depth) != byte) {
		range->first = find_byte(range, byte);
		range->end = find_byte(range, byte + 1U);
	}
	range->depth++;
	return range->first < range->end;
}

bool
spelling_range_has_whole(const struct spelling_range *range)
{
	return range->first < range->end &&
	       (*range->first)->len == range->depth;
}

bool
spelling_range_has_more(const struct spelling_range *range)
{
	return range->first < range->end && range->end[-1]->len > range->depth;
}
