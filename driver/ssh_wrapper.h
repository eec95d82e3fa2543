/*
 * ssh_wrapper.h - what the remote shell is told, and what it says of it.
 *
 * ssh's own exit code says nothing: 255 may be the command's, a lost
 * connection's or a killed command's.  So the command runs inside a wrapper
 * that writes records, each with a nonce that only this attempt knows:
 *
 *     remote                                  driver
 *     "NONCE begun" on both streams    ──▶
 *                                      ◀──    "go", then the standard input
 *     … the command's own output …     ──▶
 *     "NONCE exit 0" on both streams   ──▶
 *
 * Until "go" has left us the command cannot have begun; what stands before
 * the first record is noise of the login, what stands behind the last one
 * comes from processes that were left behind.
 */
#ifndef DRIVER_SSH_WRAPPER_H
#define DRIVER_SSH_WRAPPER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

struct error;
struct json;

/* What the wrapper waits for. */
#define SSH_WRAPPER_GO "go\n"

/* Add `text` as one word of a POSIX shell. */
void ssh_wrapper_quote(struct buf *buf, const char *text);

/*
 * Add the command for ssh: run `command` (a list of strings; NULL: a script
 * read from standard input) with the variables `env` (an object, or NULL)
 * inside of a wrapper that signs with `nonce`.
 */
bool ssh_wrapper_command(struct buf *buf, const char *nonce,
    const struct json *command, const struct json *env, struct error *err);

enum ssh_record {
	SSH_RECORD_NONE,
	SSH_RECORD_BEGUN,
	SSH_RECORD_EXIT,
};

/* A record in a stream: `at` is where it stands, `length` how long it is. */
struct ssh_record_found {
	enum ssh_record record;
	size_t at, length;
	int exit_code;
};

/* The first whole record in `text` at or behind `from`. */
struct ssh_record_found ssh_wrapper_find(
    const char *text, size_t len, size_t from, const char *nonce);

enum {
	SSH_RECORD_MAX = 64, /* no record is longer */
};

#endif
