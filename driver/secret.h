/*
 * secret.h - secrets: where their values come from, and how they get into a
 * request.
 *
 * A request names secrets; the values are read when it begins, each time anew,
 * and from nowhere but a directory with a file per secret and the environment
 * that the driver was started with.  What is read is remembered by redact.h.
 */
#ifndef DRIVER_SECRET_H
#define DRIVER_SECRET_H

#include <stdbool.h>

#include "common/buf.h"

struct config;
struct error;
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
 * The task's arguments with the values at the places that the task names.
 * False with `err` set if a secret is not to be had.
 */
bool secrets_fill(const struct secrets *secrets, const struct task *task,
    struct buf *filled, struct error *err);

/* Read the secret called `name` to `value`. */
bool secret_read(const struct secrets *secrets, const char *name,
    struct buf *value, struct error *err);

/* Overwrite it, then release it. */
void secret_wipe(struct buf *value);

#endif
