/*
 * fleet.h - the workspaces that the driver works for: a scheduler each.
 *
 * They share the slots and the loop, nothing else: one that cannot be reached,
 * hangs or refuses us holds no other up.
 */
#ifndef DRIVER_FLEET_H
#define DRIVER_FLEET_H

#include <stdbool.h>

struct buf;
struct config;
struct fleet;
struct loop;
struct transports;

/* All arguments are borrowed for the fleet's life. */
struct fleet *fleet_new(struct loop *loop, const struct config *config,
    const struct transports *transports);

/* NULL is allowed. */
void fleet_free(struct fleet *fleet);

/* Stop each of them, as scheduler_stop() does; then the loop. */
void fleet_stop(struct fleet *fleet);

/*
 * The configuration has changed: leave the workspaces that are no longer
 * there, come to those that are new; if `tell`, let the others know who we are.
 */
void fleet_reload(struct fleet *fleet, bool tell);

/* Each of them logs what it has counted, and writes it into its workspace. */
void fleet_tell_counters(struct fleet *fleet);

/* How it stands, in a line. */
void fleet_status(const struct fleet *fleet, struct buf *line);

/* After the loop has stopped: 0, or 1 if something was left undone. */
int fleet_exit_code(const struct fleet *fleet);

#endif
