/*
 * spelling.h - one way in which a program may write a secret, and a set of many
 * such spellings in which a text is looked up byte by byte.
 *
 * A spelling is the secret, or one line of it, as it is or in base 64.  Its
 * bytes are computed, not kept: seven spellings of a secret take no more memory
 * than the secret.  What escapes of JSON and of URLs add is no spelling: the
 * text is read without them (reading.h).
 *
 * A set is sorted.  All spellings that begin with the same bytes stand side by
 * side in it, as the words do in a dictionary: a look-up goes on from byte to
 * byte by making that range smaller, and a new spelling is put into its place.
 */
#ifndef DRIVER_SECRET_SPELLING_H
#define DRIVER_SECRET_SPELLING_H

#include <stdbool.h>
#include <stddef.h>

struct secret_value;

struct spelling {
	struct secret_value *of; /* whose it is; a set never looks */
	const char *text;        /* borrowed from it */
	size_t text_len;
	const char *digits; /* of base 64; NULL: as it is */
	size_t first_bit;   /* of the text, in the first digit */
	size_t len;         /* of what is written */
};

/* As it is. */
struct spelling spelling_plain(const char *text, size_t len);

/*
 * In base 64 with these digits, behind `before` (0 to 2) bytes of something else
 * in the first group of three: those digits that depend on the text alone.
 */
struct spelling spelling_base64(
    const char *text, size_t len, const char *digits, size_t before);

/* Byte `i` of the spelling. */
unsigned char spelling_at(const struct spelling *spelling, size_t i);

enum spelling_order {
	SPELLING_FORWARDS,
	SPELLING_BACKWARDS, /* from its last byte to its first */
};

/* Read the fields; change them only through the functions. */
struct spelling_set {
	enum spelling_order order;
	struct spelling_row { /* those with the same first byte, sorted */
		const struct spelling **spellings;
		size_t count, size;
	} rows[256];
	size_t count;
};

/* `spelling` is borrowed until it is removed. */
void spelling_set_add(
    struct spelling_set *set, const struct spelling *spelling);
void spelling_set_remove(
    struct spelling_set *set, const struct spelling *spelling);

/* A look-up under way: the spellings that begin with the bytes so far. */
struct spelling_range {
	enum spelling_order order;
	const struct spelling **first, **end;
	size_t depth; /* how many bytes that is */
};

/*
 * Begin a range with a byte, and go on with the next byte.  False if no spelling of
 * the range has that byte there.  Spellings that have ended leave the range.
 */
bool spelling_range_begin(struct spelling_range *range,
    const struct spelling_set *set, unsigned char byte);
bool spelling_range_next(struct spelling_range *range, unsigned char byte);

/* Whether a spelling consists of just these bytes. */
bool spelling_range_has_whole(const struct spelling_range *range);

/* Whether a spelling has more bytes than these. */
bool spelling_range_has_more(const struct spelling_range *range);

#endif
