/*
 * supervisor.h - what the driver tells its supervisor: datagrams to
 * $NOTIFY_SOCKET, as sd_notify(3) has them.
 *
 * Without that variable it sends nothing.  The watchdog's beats are a timer of
 * the loop: they come only while it turns.
 */
#ifndef RUNTIME_SUPERVISOR_H
#define RUNTIME_SUPERVISOR_H

struct buf;
struct loop;
struct supervisor;

/* Write a line about how things are. */
typedef void supervisor_status_fn(void *arg, struct buf *line);

/*
 * Takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of the environment,
 * so that no child inherits them.  `status` is called now and then.
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
