/*
 * wrapper.h - what the remote shell is told, and what it says of it.
 *
 * ssh's own exit code says nothing: 255 may be the command's, a lost
 * connection's or a killed command's.  So the command runs inside a wrapper
 * that writes records, each with a nonce that only this attempt knows:
 *
 *     remote                                  driver
 *     "NONCE begun" on both streams    ──▶
 *                                      ◀──    "go SIZE", variables, the standard input
 *     … the command's own output …     ──▶
 *     "NONCE exit 0" on both streams   ──▶
 *
 * Until "go" has left us the command cannot have begun; what stands before
 * the first record is noise of the login, what stands behind the last one
 * comes from processes that were left behind.
 *
 * The wrapper's own input stays open.  When it ends before the command does,
 * nobody waits for that any more: we have closed it, or the connection or the
 * driver is gone.  Then all in the command's session is told to end, and
 * killed after the grace; the last record comes when nobody is left.
 */
#ifndef DRIVER_TRANSPORT_SSH_WRAPPER_H
#define DRIVER_TRANSPORT_SSH_WRAPPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

struct error;
struct json;

/* Add `text` as one word of a POSIX shell. */
void ssh_wrapper_quote(struct buf *buf, const char *text);

/*
 * Add the command for ssh: run `command` (a list of strings; NULL: a script
 * read from standard input) inside of a wrapper that signs with `nonce`.
 */
struct ssh_wrapper {
	const char *nonce;
	const struct json *command;
	int64_t grace_ms;
};

bool ssh_wrapper_command(
    struct buf *buf, const struct ssh_wrapper *wrapper, struct error *err);

/*
 * Add a line that sets the variables `env` (an object, or NULL).  They may be
 * secrets: no command line shows it.
 */
bool ssh_wrapper_env(
    struct buf *buf, const struct json *env, struct error *err);

/* Add what the wrapper waits for: that line, the command's standard input. */
void ssh_wrapper_go(
    struct buf *buf, const char *env, const char *input, size_t len);

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
