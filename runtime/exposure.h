/*
 * exposure.h - the driver's warnings of connections that others on the network
 * can read or change.
 *
 * A driver has many sessions with one server, and opens them again and again.
 * The same warning is said once at the start and once at each reload.
 */
#ifndef RUNTIME_EXPOSURE_H
#define RUNTIME_EXPOSURE_H

#include <stdbool.h>

struct exposure;
struct pg;

/*
 * From now on connections are warned of, or not.  Those that are open are warned
 * of again.
 */
void exposure_init(bool warn);

/*
 * A session of the workspace `label` (NULL: it has no name) is there.  NULL if
 * nobody can do anything to it; otherwise the session's to exposure_drop().
 */
struct exposure *exposure_hold(const char *label, const struct pg *pg);

/* The session has ended.  NULL is allowed. */
void exposure_drop(struct exposure *exposure);

#endif
