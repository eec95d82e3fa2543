/*
 * wrapper.h - the command for the remote shell, and the records in its output.
 *
 * ssh's own exit code is no help: 255 may come from the command, from a lost
 * connection or from a killed command.  So the command runs inside a wrapper.
 * The wrapper writes records, each with a nonce that only this attempt knows:
 *
 *     remote                                  driver
 *     "NONCE begun" on both streams    ──▶
 *                                      ◀──    "go SIZE", variables, the standard input
 *     … the command's own output …     ──▶
 *     "NONCE exit 0" on both streams   ──▶
 *
 * Before "go" has left the driver, the command cannot have begun.  Bytes before
 * the first record are noise of the login.  Bytes behind the last record come
 * from processes that were left behind.
 *
 * The wrapper's own input stays open.  If it ends before the command does, the
 * driver has closed it, or the connection or the driver is gone: nobody waits
 * for the command any more.  Then all processes of the command's session are
 * told to end, and killed after the grace.  The last record comes when none of
 * them is left.
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
 * Add the command for ssh, of SSH_COMMAND_MAX bytes at most: run `command` (a list of strings; NULL: a script
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
 * secrets, so the line is never on a command line.
 */
bool ssh_wrapper_env(
    struct buf *buf, const struct json *env, struct error *err);

/*
 * Add the input that the wrapper waits for: that line, then the command's
 * standard input.
 */
void ssh_wrapper_go(
    struct buf *buf, const char *env, const char *input, size_t len);

enum ssh_record {
	SSH_RECORD_NONE,
	SSH_RECORD_BEGUN,
	SSH_RECORD_EXIT,
};

/* A record in a stream: `at` is its place, `length` is its length. */
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

	/* The longest argument of a program on Linux, without its NUL.  OpenSSH
	 * would end a shared connection for a command of 256 KiB. */
	SSH_COMMAND_MAX = 131071,
};

#endif
