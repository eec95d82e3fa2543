/*
 * supervisor.h - the driver's messages to its supervisor: datagrams to
 * $NOTIFY_SOCKET, as in sd_notify(3).
 *
 * Without that variable the driver sends nothing.  The watchdog's beats come
 * from a timer of the loop, so they stop if the loop hangs.
 */
#ifndef RUNTIME_SUPERVISOR_H
#define RUNTIME_SUPERVISOR_H

struct buf;
struct loop;
struct supervisor;

/* Write a line about the state of the program. */
typedef void supervisor_status_fn(void *arg, struct buf *line);

/*
 * Take NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of the environment, so
 * that no child inherits them.  `status` is called now and then.
 */
struct supervisor *supervisor_new(
    struct loop *loop, supervisor_status_fn *status, void *arg);

/* NULL is allowed. */
void supervisor_free(struct supervisor *supervisor);

/* The driver works, or has ended a reload.  The first call starts the beat. */
void supervisor_ready(struct supervisor *supervisor);
void supervisor_reloading(struct supervisor *supervisor);
void supervisor_stopping(struct supervisor *supervisor);

#endif
