/*
 * exposure.h - the driver's warnings of connections that others on the network
 * can read or change.
 *
 * A driver has many sessions with one server, and opens them again and again.
 * It logs the same warning once at the start and once at each reload.
 */
#ifndef RUNTIME_EXPOSURE_H
#define RUNTIME_EXPOSURE_H

#include <stdbool.h>

struct exposure;
struct pg;

/*
 * Begin or stop to warn of connections.  A driver that warns also warns again
 * of the connections that are open.
 */
void exposure_init(bool warn);

/*
 * A session of the workspace `label` (NULL: it has no name) is open.  NULL if
 * others on the network can neither read nor change it.  Otherwise the session
 * calls exposure_drop() at its end.
 */
struct exposure *exposure_hold(const char *label, const struct pg *pg);

/* The session has ended.  NULL is allowed. */
void exposure_drop(struct exposure *exposure);

#endif
