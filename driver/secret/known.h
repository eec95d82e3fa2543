/*
 * known.h - the secrets that are looked for in all that leaves this program.
 *
 * Every value that is put into a request is held until the workspace has
 * answered the request's report.  Then the value is kept as long as there is
 * room, since others may still print it: a service that was told, a job that is
 * asked again.
 *
 * The program has one such state, like that of the log.
 */
#ifndef DRIVER_SECRET_KNOWN_H
#define DRIVER_SECRET_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/secret/spelling.h"

struct secret_value;

enum {
	KNOWN_KEPT_VALUES = 1000,   /* that nobody holds; the oldest goes */
	KNOWN_KEPT_BYTES = 4 << 20, /* of memory, for all of them together */
};

/*
 * Hold a value of at least REDACT_MIN bytes of UTF-8, which is copied.  The
 * value is known until each hold was let go.  After that it is known as long as
 * it is kept.
 */
struct secret_value *known_hold(const char *text, size_t len);
void known_let_go(struct secret_value *value);

/* Forget all values, even those that are held. */
void known_clear(void);

/* All spellings of all known values.  Read them; only known.c changes them. */
extern struct known {
	/* sorted by their beginnings, and by their ends */
	struct spelling_set forwards, backwards;
} known;

/* Four bytes as one number. */
uint32_t known_four(const char *text);

/* Whether a spelling may begin with these bytes.  It is a quick test. */
bool known_may_begin(uint32_t four);

/* No spelling is longer. */
size_t known_longest(void);

#endif
