/*
 * identity.h - who this driver is to the workspace.
 */
#ifndef DRIVER_IDENTITY_H
#define DRIVER_IDENTITY_H

#include <stdint.h>

struct config;
struct identity;
struct request_table;
struct session;
struct transports;

#define IDENTITY_VERSION "0.1"

/* Name, transports, queues and slots; the host's name if there is no other. */
struct identity *identity_new(
    const struct config *config, const struct transports *transports);
void identity_free(struct identity *identity);

/*
 * Add the calls of wf.schema_version() and wf.register() to a batch.
 * `previous` is the number that we had (0: none); the workspace learns which
 * requests of it we still hold.
 */
void identity_register(const struct identity *identity, struct session *session,
    int64_t previous, const struct request_table *table);

#endif
