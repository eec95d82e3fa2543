/*
 * subprocess.h - other programs: psql, initdb, the driver.  Never a shell.
 */
#ifndef CONSOLE_SUBPROCESS_H
#define CONSOLE_SUBPROCESS_H

#include <stdbool.h>
#include <sys/types.h>

struct buf;
struct error;

/* The user as which a child may run. */
struct account {
	char *name;
	uid_t uid;
	gid_t gid;
};

struct subprocess {
	/* NULL-terminated; the first is looked up in PATH if it has no "/". */
	const char *const *argv;

	/*
	 * The user of the child, whose directory is then "/"; NULL: the user
	 * and directory of this process.
	 */
	const struct account *user;

	/* Its standard output and error. */
	int output;

	/* The child leads a session of its own and outlives us. */
	bool is_detached;

	/* Its messages are English, whatever our environment asks for. */
	bool is_english;
};

/* Start it with empty standard input.  -1 on failure, with `err` set. */
pid_t subprocess_start(const struct subprocess *subprocess, struct error *err);

/*
 * Run it to its end; what it prints on either channel, in English, goes to
 * `output` (up to its limit).  False if it could not be run or did not exit
 * with 0; then the last line it printed is the error.
 */
bool subprocess_run(const char *const *argv, const struct account *user,
    struct buf *output, struct error *err);

/*
 * Run it to its end.  False if it did not end by itself or could not be run
 * (127); else its exit status, which is then not an error, is in `*status`.
 */
bool subprocess_ask(const char *const *argv, struct buf *output, int *status,
    struct error *err);

#endif
