/*
 * metrics.h - the counters of a driver: requests, turns and connections of one
 * workspace, and the state of the whole program.
 *
 * Numbers only grow.  docs/driver.md says what each of them means.  Every ten
 * seconds the counters are due to go to the workspace, unless the driver has
 * only polled since they went there.
 */
#ifndef DRIVER_METRICS_H
#define DRIVER_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/transport/transport.h"
#include "runtime/timer.h"

struct buf;
struct loop;

/* The events that are counted, each with the name that its counter has. */
#define METRICS(X) \
	X(CONNECTIONS_MADE, "connections.made") \
	X(CONNECTIONS_LOST, "connections.lost") \
	X(CONNECTIONS_FAILED, "connections.failed") \
	X(REQUESTS_TAKEN, "requests.taken") \
	X(REQUESTS_STOPPED, "requests.stopped") \
	X(DOORBELLS, "doorbells") \
	X(REGISTRATIONS, "turns.register") \
	X(POLLS, "turns.poll") \
	X(REPORTS_ALONE, "turns.report") \
	X(UPKEEP, "turns.upkeep") \
	X(HEARTBEATS, "turns.heartbeat") \
	X(TURNS_FAILED, "turns.failed")

#define METRIC(name, text) METRIC_##name,
enum metric { METRICS(METRIC) METRIC_COUNT };
#undef METRIC

/* How a request ended. */
enum metrics_end {
	METRICS_RESPONSE,
	METRICS_ERROR,
	METRICS_RECORDED, /* the workspace had its outcome before */
	METRICS_RELEASED, /* handed back; it had not begun */
	METRICS_ENDS,
};

enum {
	METRICS_SPANS = 6, /* 1 ms, 10 ms, … 100 s */
};

struct metrics_transport {
	const char *name; /* NULL: this place is free */
	uint64_t ends[METRICS_ENDS];
	uint64_t within[METRICS_SPANS]; /* requests no longer than the span */
	uint64_t total_ms;
};

/* Read the fields; change them only through the functions. */
struct metrics {
	uint64_t counts[METRIC_COUNT];
	struct metrics_transport transports[TRANSPORTS_MOST];
	struct loop *loop;
	struct timer timer;
	bool is_news; /* something has happened besides polls */
	bool due;     /* to go to the workspace */
	void (*changed)(void *arg);
	void *arg;
};

/* Begin with zeros.  `changed` is called when the counters become due. */
void metrics_init(struct metrics *metrics, struct loop *loop,
    void (*changed)(void *arg), void *arg);
void metrics_release(struct metrics *metrics);

/* Make the counters due at once. */
void metrics_hurry(struct metrics *metrics);

/*
 * Log the counters, and make them due at once.  `label`: the workspace's name.
 */
void metrics_tell(struct metrics *metrics, const char *label);

/* That event has happened once more. */
void metrics_add(struct metrics *metrics, enum metric metric);

/*
 * A request of `transport` has ended, after `ms`; negative: it had not begun.
 * `transport` may be NULL if the driver does not have it: nothing counts then.
 */
void metrics_end(struct metrics *metrics, const struct transport *transport,
    enum metrics_end end, int64_t ms);

/*
 * Add all counters as a JSON object, with those of the whole program.  The
 * workspace gets it, so nothing is due for a while.
 */
void metrics_write(struct metrics *metrics, struct buf *json);

#endif
