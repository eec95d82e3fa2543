/*
 * identity.h - who the driver is to a workspace: the facts that it registers
 * with, and the number that it got.
 */
#ifndef DRIVER_IDENTITY_H
#define DRIVER_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

struct config;
struct pg_array;
struct request_table;
struct session;
struct session_answer;
struct transports;

#define IDENTITY_VERSION PGWF_VERSION

struct identity;

struct identity *identity_new(
    const struct config *config, const struct transports *transports);

/* NULL is allowed. */
void identity_free(struct identity *identity);

/* The configuration has changed; the workspace does not know yet. */
void identity_change(struct identity *identity, const struct config *config,
    const struct transports *transports);

/*
 * The driver must register again: the workspace may have forgotten it, or may
 * not know which requests it holds.
 */
void identity_forget(struct identity *identity);

/* Our former number belongs to another login: register without it. */
void identity_disown(struct identity *identity);

/* Whether the workspace knows our present facts. */
bool identity_is_known(const struct identity *identity);

/*
 * Our last number, even if the driver must register again; 0: there was none
 * yet.
 */
int64_t identity_driver(const struct identity *identity);

/*
 * Add wf.greet() and wf.register() to the batch, with our last number, the
 * tokens of all requests in `table`, and the `marks` of all sessions.
 */
void identity_register(struct identity *identity, struct session *session,
    const struct request_table *table, const struct pg_array *marks);

/* Read the answer to both. */
void identity_registered(
    struct identity *identity, const struct session_answer *answer);

#endif
