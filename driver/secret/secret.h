/*
 * secret.h - secrets: where their values come from, and how they get into a
 * request.
 *
 * A request names secrets.  The driver reads their values each time anew, when
 * the request begins.  It reads them only from a directory with a file per
 * secret, and from the environment that it was started with.
 */
#ifndef DRIVER_SECRET_SECRET_H
#define DRIVER_SECRET_SECRET_H

#include <stdbool.h>

#include "common/buf.h"

struct config;
struct error;
struct secret_value;
struct secrets;
struct task;

/*
 * Take the variables that are secrets out of the environment, so that no other
 * program sees them.  `config` is borrowed.
 */
struct secrets *secrets_new(const struct config *config);
void secrets_free(struct secrets *secrets);

/*
 * The secrets of one workspace; `secrets` must outlive them.  A workspace
 * called NAME has only the files called NAME.secret, not those of others and no
 * variables.
 */
struct secrets *secrets_attach(
    const struct secrets *secrets, const char *workspace);
void secrets_detach(struct secrets *secrets);

/*
 * Arguments with secrets in them.  The values are held (known.h): until this is
 * released, nothing that leaves the driver shows a value.
 */
struct filled {
	struct buf args;
	struct secret_value **values;
	char **names; /* of the values */
	size_t count;
};

void filled_init(struct filled *filled);
void filled_release(struct filled *filled);

/*
 * Write the task's arguments to `filled`, which was initialised, with the
 * values at the places that the task names.  False with `err` set if a secret
 * is not available, or not granted to the task.
 */
bool secrets_fill(const struct secrets *secrets, const struct task *task,
    struct filled *filled, struct error *err);

/*
 * Whether all secrets in `filled` may go to `destination`.  Otherwise false,
 * with `err` set.
 */
bool secrets_may_go(const struct secrets *secrets, const struct task *task,
    const struct filled *filled, const char *destination, struct error *err);

/*
 * Whether a task may have a secret; `destination` is NULL while nobody knows
 * where it goes.  Otherwise false, with `err` set.
 */
bool secret_is_granted(const struct secrets *secrets, const char *name,
    const struct task *task, const char *destination, struct error *err);

/* Read the secret called `name` into `value`, which becomes a secret buffer. */
bool secret_read(const struct secrets *secrets, const char *name,
    struct buf *value, struct error *err);

#endif
