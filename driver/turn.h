/*
 * turn.h - a session with the workspace, and the one thing that it is at.
 *
 * Each function begins a turn on a session that is ready; how it ended comes
 * with the session's answer.
 */
#ifndef DRIVER_TURN_H
#define DRIVER_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/request.h"

struct error;
struct identity;
struct pg_result;
struct reports;
struct runner;
struct session;

enum turn_kind {
	TURN_NONE,
	TURN_LISTEN, /* for the doorbell */
	TURN_REGISTER,
	TURN_WORK, /* outcome, poll */
	TURN_HEARTBEAT,
	TURN_LEAVE,
};

struct turn {
	struct session *session;
	void *owner; /* for callbacks */
	enum turn_kind kind;
	bool connected;
	bool must_listen;            /* before anything else */
	int64_t want;                /* slots kept free for what it brings */
	struct request_list carried; /* the reports that it carries */
	bool reported;               /* it carried some when it began */
};

void turn_listen(struct turn *turn);

void turn_register(struct turn *turn, const struct identity *identity,
    int64_t previous, const struct request_table *table);

struct turn_work {
	int64_t driver;
	struct reports *reports;
	struct request_list *due; /* reports; what can be carried is taken */
	int64_t want;
	bool drain; /* tell the workspace that we take no more */
};

/* The results are those of outcome(), if a report was carried, and poll(). */
void turn_work(struct turn *turn, const struct turn_work *work);

/* Hand the answers of outcome() to the runner; false if some are missing. */
bool turn_answers(const struct turn *turn, const struct pg_result *result,
    struct runner *runner);

/*
 * Hand what poll() gave to the runner: how many requests it was, and after
 * how long it wants to be asked again.
 */
int64_t turn_requests(
    const struct pg_result *result, struct runner *runner, int64_t *wait_ms);

void turn_heartbeat(struct turn *turn, int64_t driver);
void turn_leave(struct turn *turn, int64_t driver);

/* Whether any of them has a connection; whether any is being carried out. */
bool turns_connected(const struct turn *turns, size_t count);
bool turns_under_way(const struct turn *turns, size_t count);

/* The database refused it, and why. */
void turn_log_failure(const struct turn *turn, const struct error *err);

#endif
