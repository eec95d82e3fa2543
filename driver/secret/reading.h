/*
 * reading.h - a text without the escapes that somebody wrote it with.
 *
 * A program that puts a text into JSON may write each character as it is, as
 * \uXXXX with large or small digits, and some behind a backslash (\/); one that
 * puts it into a URL may write each byte as %XX, and a blank as +.  There are too
 * many such spellings to list them.  A reader undoes them on the way: two texts
 * that mean the same are read as the same bytes.
 *
 * Nobody knows how a text was written.  So it is read in each way in turn, from
 * each place in it, which is why a reader keeps nothing of what it has read.
 */
#ifndef DRIVER_SECRET_READING_H
#define DRIVER_SECRET_READING_H

#include <stdbool.h>
#include <stddef.h>

enum {
	READING_JSON_MAX = 3, /* a string of JSON in a string of JSON in one */
};

struct reading {
	unsigned json; /* how many times it was made a string of JSON */
	bool percent;  /* and it was percent-encoded before that */
	bool plus;     /* so that blanks became + */
};

/* Characters that another reading may take for the beginning of an escape. */
enum {
	SEEN_BACKSLASH = 1, /* one that is left by so much `json` */
	SEEN_PERCENT = 2,
	SEEN_PLUS = 4,
};

/* Read the fields; change them only through the functions. */
struct reader {
	const char *at, *end; /* of what is left */
	struct reading how;
	unsigned char bytes[4]; /* of the character under way */
	size_t count, next;
	unsigned seen; /* a sum of the above */
};

/* The text is borrowed. */
void reader_init(
    struct reader *reader, const char *text, size_t len, struct reading how);

/*
 * The next byte.  -1: the text has ended, if `left` is 0, or it ends within an
 * escape.  What only looks like an escape is read as it is.
 */
int reader_next(struct reader *reader);

/* Whether all bytes of a character were read, or none of it. */
bool reader_is_between(const struct reader *reader);

/*
 * The same for the first four bytes, which is what nearly all places of a text
 * are asked for: quick, but it may give up (false).  Adds to `*seen`.
 */
bool reading_first_four(const char *text, size_t len, const struct reading *how,
    char four[4], unsigned *seen);

/*
 * How far it is to the next character of a text, or of a string of JSON, and
 * what stands here.  `*escape`: that is not all of it, or something else in
 * another reading.
 */
size_t reading_step(
    const char *text, size_t len, bool json, unsigned char *byte, bool *escape);

/* Whether a byte may stand in an escape, wherever it was cut. */
bool reading_is_of_escape(unsigned char byte);

#endif
