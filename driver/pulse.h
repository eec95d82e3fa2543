/*
 * pulse.h - a connection for signs of life alone, for the time in which all
 * other connections wait for an answer.
 *
 * The connection is made when it is first needed, and given up when turns end
 * again.  The signs of life come from the driver's only loop, so a driver that
 * hangs sends none.
 */
#ifndef DRIVER_PULSE_H
#define DRIVER_PULSE_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct session_options;

struct pulse;

/*
 * The strings of `options` are borrowed for the pulse's life.  `lost` is called
 * when the workspace says that it has given this driver up.
 */
struct pulse *pulse_new(struct loop *loop,
    const struct session_options *options,
    void (*lost)(void *arg, int64_t driver), void *arg);

/* NULL is allowed. */
void pulse_free(struct pulse *pulse);

/* Send a sign of life of this driver, as soon as there is a connection. */
void pulse_beat(struct pulse *pulse, int64_t driver);

/* End it: turns show life again. */
void pulse_rest(struct pulse *pulse);

#endif
