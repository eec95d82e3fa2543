/*
 * secret.h - secrets: where their values come from, and how they get into a
 * request.
 *
 * A request names secrets; the values are read when it begins, each time anew,
 * and from nowhere but a directory with a file per secret and the environment
 * that the driver was started with.
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
 * Takes the variables that are secrets out of the environment, so that no
 * other program sees them.  `config` is borrowed.
 */
struct secrets *secrets_new(const struct config *config);
void secrets_free(struct secrets *secrets);

/*
 * Those of one workspace; `secrets` outlives it.  One with a name has its own,
 * files called NAME.secret, and neither those of others nor variables.
 */
struct secrets *secrets_attach(
    const struct secrets *secrets, const char *workspace);
void secrets_detach(struct secrets *secrets);

/*
 * Arguments with secrets in them.  The values are held (known.h): nothing that
 * leaves the driver shows one before this was released.
 */
struct filled {
	struct buf args;
	struct secret_value **values;
	char **names; /* of each */
	size_t count;
};

void filled_init(struct filled *filled);
void filled_release(struct filled *filled);

/*
 * The task's arguments with the values at the places that the task names, to
 * `filled`, which was initialised.  False with `err` set if a secret is not to be
 * had, or not granted to the task.
 */
bool secrets_fill(const struct secrets *secrets, const struct task *task,
    struct filled *filled, struct error *err);

/* Whether all that was filled in may go there.  Otherwise false, with `err` set. */
bool secrets_may_go(const struct secrets *secrets, const struct task *task,
    const struct filled *filled, const char *destination, struct error *err);

/*
 * Whether a task may have a secret; `destination` is NULL while nobody knows
 * where it goes.  Otherwise false, with `err` set.
 */
bool secret_is_granted(const struct secrets *secrets, const char *name,
    const struct task *task, const char *destination, struct error *err);

/* Read the secret called `name` to `value`, which is made secret. */
bool secret_read(const struct secrets *secrets, const char *name,
    struct buf *value, struct error *err);

#endif
