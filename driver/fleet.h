/*
 * fleet.h - the workspaces that the driver works for; each has a scheduler.
 *
 * They share the slots and the loop, nothing else.  If one workspace cannot be
 * reached, hangs or refuses the driver, it does not hold up the others.
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

/*
 * Stop each scheduler with scheduler_stop().  The loop stops after the last
 * one.
 */
void fleet_stop(struct fleet *fleet);

/*
 * The configuration has changed: leave the workspaces that it no longer names,
 * and begin with new ones.  If `tell`, the driver registers again with the
 * others.
 */
void fleet_reload(struct fleet *fleet, bool tell);

/* Each scheduler logs its counters and writes them into its workspace. */
void fleet_tell_counters(struct fleet *fleet);

/* Add the state of all, in one line. */
void fleet_status(const struct fleet *fleet, struct buf *line);

/* After the loop has stopped: 0, or 1 if something was left undone. */
int fleet_exit_code(const struct fleet *fleet);

#endif
