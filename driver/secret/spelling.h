/*
 * spelling.h - one way in which a program may write a secret, and a set of many
 * such spellings in which a text is looked up byte by byte.
 *
 * A spelling is the secret, or one line of it, as it is or in base 64.  Its
 * bytes are computed, not kept: seven spellings of a secret take no more memory
 * than the secret.  Escapes of JSON and of URLs make no spellings: the text is
 * read without them (reading.h).
 *
 * A set is sorted.  All spellings that begin with the same bytes stand side by
 * side in it, as words in a dictionary.  A look-up makes that range smaller
 * from byte to byte.
 */
#ifndef DRIVER_SECRET_SPELLING_H
#define DRIVER_SECRET_SPELLING_H

#include <stdbool.h>
#include <stddef.h>

struct secret_value;

struct spelling {
	struct secret_value *of; /* its value; sets do not use it */
	const char *text;        /* borrowed from the value */
	size_t text_len;
	const char *digits; /* of base 64; NULL: the plain text */
	size_t first_bit;   /* of the text, in the first digit */
	size_t len;         /* of the spelling */
};

/* The plain text. */
struct spelling spelling_plain(const char *text, size_t len);

/*
 * The text in base 64 with these digits, if `before` (0 to 2) bytes of another
 * text precede it in the first group of three.  The spelling has only the
 * digits that depend on this text alone.
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
	struct spelling_row { /* spellings with one first byte, sorted */
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
	size_t depth; /* how many bytes they are */
};

/*
 * Begin a range with a byte, and go on with the next byte.  False if no spelling of
 * the range has that byte there.  Spellings that have ended leave the range.
 */
bool spelling_range_begin(struct spelling_range *range,
    const struct spelling_set *set, unsigned char byte);
bool spelling_range_next(struct spelling_range *range, unsigned char byte);

/* Whether a spelling of the range has no more bytes than these. */
bool spelling_range_has_whole(const struct spelling_range *range);

/* Whether a spelling of the range has more bytes than these. */
bool spelling_range_has_more(const struct spelling_range *range);

#endif
