/*
 * reading.h - a text without the escapes that somebody wrote it with.
 *
 * A program that puts a text into JSON may write each character as it is, as
 * \uXXXX with large or small digits, and some behind a backslash (\/).  A
 * program that puts a text into a URL may write each byte as %XX, and a blank
 * as +.  There are too many such spellings to list them.  A reader undoes the
 * escapes on the way: two texts that mean the same are read as the same bytes.
 *
 * Nobody knows how a text was written.  So it is read in each way in turn, from
 * each place in it.  That is why a reader keeps none of the bytes that it has
 * read.
 */
#ifndef DRIVER_SECRET_READING_H
#define DRIVER_SECRET_READING_H

#include <stdbool.h>
#include <stddef.h>

enum {
	READING_JSON_MAX = 3, /* JSON strings, one in another */
};

struct reading {
	unsigned json; /* how often it was made a JSON string */
	bool percent;  /* it was percent-encoded before that */
	bool plus;     /* with + for blanks */
};

/* Characters that another reading may take for the beginning of an escape. */
enum {
	SEEN_BACKSLASH = 1, /* left after that much `json` was undone */
	SEEN_PERCENT = 2,
	SEEN_PLUS = 4,
};

/* Read the fields; change them only through the functions. */
struct reader {
	const char *at, *end; /* the rest of the text */
	struct reading how;
	unsigned char bytes[4]; /* of the character under way */
	size_t count, next;
	unsigned seen; /* a sum of SEEN_... */
};

/* The text is borrowed. */
void reader_init(
    struct reader *reader, const char *text, size_t len, struct reading how);

/*
 * The next byte.  -1: the text has ended, or it ends within an escape.  Bytes
 * that only look like an escape are read as they are.
 */
int reader_next(struct reader *reader);

/* Whether all bytes of the last character were read. */
bool reader_is_between(const struct reader *reader);

/*
 * Read the first four bytes in a quick way; nearly all places of a text need no
 * more.  False: it gives up, and only a reader can tell.  Adds to `*seen`.
 */
bool reading_first_four(const char *text, size_t len, const struct reading *how,
    char four[4], unsigned *seen);

/*
 * Return the length of the character here, in a text or in a string of JSON.
 * `*byte` becomes the character.  `*escape`: it may have more to it, or be
 * something else in another reading.
 */
size_t reading_step(
    const char *text, size_t len, bool json, unsigned char *byte, bool *escape);

/* Whether a byte may be part of an escape that was cut. */
bool reading_is_of_escape(unsigned char byte);

#endif
