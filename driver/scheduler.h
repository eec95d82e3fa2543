/*
 * scheduler.h - turns: report what is over, ask for as much as there are free
 * slots, begin what came; again.
 *
 * It decides nothing about tasks.  It keeps the sessions with the workspace,
 * the driver's registration and the moments of the next turn.
 */
#ifndef DRIVER_SCHEDULER_H
#define DRIVER_SCHEDULER_H

struct buf;
struct config;
struct loop;
struct scheduler;
struct transports;

/* All arguments are borrowed for the scheduler's life. */
struct scheduler *scheduler_new(struct loop *loop, const struct config *config,
    const struct transports *transports);

/* NULL is allowed. */
void scheduler_free(struct scheduler *scheduler);

/*
 * Take no more, finish what is under way, leave, stop the loop.  Asked a
 * second time: finish nothing.
 */
void scheduler_stop(struct scheduler *scheduler);

/* The configuration has other slots or queues: let the workspace know. */
void scheduler_register(struct scheduler *scheduler);

/* How it stands, in a line: whether connected, how much is under way. */
void scheduler_status(const struct scheduler *scheduler, struct buf *line);

/* After the loop has stopped: 0, or 1 if something was left undone. */
int scheduler_exit_code(const struct scheduler *scheduler);

#endif
