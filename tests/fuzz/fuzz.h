/*
 * fuzz.h - what every fuzz target includes.
 *
 * A target is one file.  Its LLVMFuzzerTestOneInput takes any bytes at all and
 * says with MUST() what holds whatever they are; beyond that it must not
 * crash, hang, leak or do what C leaves undefined.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* End the program, which is a crash to libFuzzer, unless it holds. */
#define MUST(holds) ((holds) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #holds))

_Noreturn void fuzz_fail(const char *file, int line, const char *holds);

/* The rest of an input that is taken apart. */
struct fuzz_input {
	const char *at;
	size_t left;
};

/* The next part, for the caller to free(): up to a line "--", or the end. */
char *fuzz_part(struct fuzz_input *input, size_t *len);

/* The next line without its end, for the caller to free(); NULL: no more. */
char *fuzz_line(struct fuzz_input *input);

/*
 * Steps through `text` in pieces of a few bytes or of many, as `seed` decides;
 * start with 0 and add what it returns.
 */
size_t fuzz_piece(unsigned *seed, size_t left);

/* Whether `text` is printable UTF-8, with line ends and tabs. */
bool fuzz_is_safe(const char *text, size_t len);

/* Whether `part` stands in `text`. */
bool fuzz_has(const char *text, size_t len, const char *part, size_t part_len);

/* Whether `text` is a JSON document, by RFC 8259; no nesting beyond 500. */
bool fuzz_is_json(const char *text, size_t len);

#endif
