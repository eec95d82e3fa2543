/*
 * turn.h - a session with the workspace, and the one turn that is under way on
 * it.
 *
 * Each function begins a turn on a session that is ready.  The session's answer
 * tells how the turn ended.
 */
#ifndef DRIVER_TURN_H
#define DRIVER_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/pace.h"
#include "driver/poll_window.h"
#include "driver/request.h"

struct error;
struct identity;
struct loop;
struct metrics;
struct reports;
struct runner;
struct session;
struct session_answer;
struct session_events;
struct session_options;

enum turn_kind {
	TURN_NONE,
	TURN_OPEN, /* the session; one listens for the doorbell */
	TURN_REGISTER,
	TURN_WORK,   /* outcome, poll */
	TURN_REPORT, /* outcome alone, with one report or those of an instance */
	TURN_UPKEEP, /* work that takes its time, alone */
	TURN_HEARTBEAT,
	TURN_COUNTERS, /* the counters so far */
	TURN_LEAVE,
};

/* Read the fields; change them only through the functions. */
struct turn {
	int number; /* among the workspace's turns, from 1 */
	struct session *session;
	void *owner;       /* for callbacks */
	const char *label; /* the name in log lines; borrowed */
	enum turn_kind kind;
	bool connected;
	bool is_new;      /* TURN_OPEN must come first */
	bool upkept;      /* its last turn was upkeep */
	int64_t timeline; /* of the session's server; 0: not known */
	int64_t item;     /* of work, named by the last upkeep; 0: none */
	struct load want; /* asked for; the slots are kept free for it */
	struct request_list carried; /* the reports that it carries */
	struct request_list behind;  /* more of the same instances */
	bool reported;               /* it carried reports when it began */
	bool streamed;               /* it carried output before them */
	char *mark; /* what poll() said the turn has done; NULL: nothing */
};

/* The session has a new connection; the next turn must open it. */
void turn_renew(struct turn *turn);

/* A turn has succeeded: the connection works. */
void turn_works(struct turn *turn);

/* The connection is lost.  Returns whether it had worked. */
bool turn_lost(struct turn *turn);

void turn_open(struct turn *turn, bool listens);

/*
 * A turn of work has two steps.  First the turn takes as many of the runner's
 * reports as it can carry; `reports` packs them.  `output` says that output is
 * due, too.
 */
void turn_report(struct turn *turn, int64_t driver, struct runner *runner,
    struct reports *reports, bool output);

/*
 * Report only one kept request, and the reports of both lists of the runner
 * that go along with it.  The result of output_add() comes first, if there was
 * output; then comes the result of outcome().
 */
void turn_report_alone(struct turn *turn, int64_t driver, struct runner *runner,
    struct reports *reports, struct request *request);

/*
 * Then add the poll, which begins the turn.  `drain`: tell the workspace that
 * the driver takes no more.  The results are those of output_add() and
 * outcome(), if the turn carried any, and that of poll().
 */
void turn_poll(struct turn *turn, int64_t driver, struct load want, bool drain);

/* Hand outcome()'s answers to the runner; false if some are missing. */
bool turn_answers(const struct turn *turn, const struct session_answer *answer,
    struct runner *runner, struct reports *reports);

/*
 * A turn has failed.  If its reports may be the cause, note that with each of
 * them.
 */
void turn_blame(struct turn *turn, const struct session_answer *answer);

/* A turn has failed: whether its poll may be the cause. */
bool turn_blames_poll(
    const struct turn *turn, const struct session_answer *answer);

/* Count that the turn has succeeded, or that it has `failed`. */
void turn_count(const struct turn *turn, struct metrics *metrics, bool failed);

/*
 * The turn has ended.  The runner reports again its unanswered requests, and
 * those that stood behind it.
 */
void turn_end(struct turn *turn, struct runner *runner);

/*
 * Hand the rows of poll() to the runner.  `taken` gets the requests among them.
 * Returns when the workspace wants the next poll.
 */
struct rest turn_requests(struct turn *turn,
    const struct session_answer *answer, struct runner *runner,
    struct load *taken);

/*
 * Begin upkeep.  `item`: the item that the last upkeep named; 0: none.
 * `failed`: a poll did not come to its end.
 */
void turn_upkeep(struct turn *turn, int64_t item, bool failed);

/* The upkeep has ended; note the next item, if it named one. */
void turn_upkeep_done(struct turn *turn, const struct session_answer *answer);

/* Return the item that the upkeep named, and forget it. */
int64_t turn_take_item(struct turn *turn);

void turn_heartbeat(struct turn *turn, int64_t driver);
void turn_counters(struct turn *turn, int64_t driver, struct metrics *metrics);
void turn_leave(struct turn *turn, int64_t driver);

/* All turns with one workspace. */
struct turns {
	struct turn *all;
	size_t count;
};

/* `count` sessions begin to connect; each turn is the `arg` of its events. */
void turns_open(struct turns *turns, size_t count, struct loop *loop,
    const struct session_options *options, const struct session_events *events,
    void *owner);
void turns_close(struct turns *turns);

/*
 * Register on `turn`, one of `turns`.  The registration carries the tokens of
 * the requests in `table` and the marks of all turns.
 */
void turns_register(const struct turns *turns, struct turn *turn,
    struct identity *identity, const struct request_table *table);

/*
 * `turn` has opened its session, and `answer` tells the timeline of its server.
 * Servers with two timelines are a primary and a former primary that still
 * lives.  The sessions with the earlier timeline try the next server.
 */
void turns_gather(const struct turns *turns, struct turn *turn,
    const struct session_answer *answer);

/*
 * If another turn carries reports of an instance, move the due reports of that
 * instance behind that turn.
 */
void turns_sort(const struct turns *turns, const struct turn *turn,
    const struct reports *reports, struct request_list *due);

/*
 * The bytes of all reports that no turn carries yet: those in `due` and those
 * behind turns.
 */
size_t turns_waiting(const struct turns *turns, const struct request_list *due);

/* Forget all marks: the workspace has them, or does not want them. */
void turns_drop_marks(struct turns *turns);

/*
 * A turn whose last upkeep named an item, `turn` if possible.  NULL: there is
 * none.
 */
struct turn *turns_naming(const struct turns *turns, struct turn *turn);

/* A turn that may begin; NULL if there is none. */
struct turn *turns_ready(const struct turns *turns);

/* Whether any turn has a connection; whether any turn is under way. */
bool turns_connected(const struct turns *turns);
bool turns_under_way(const struct turns *turns);

/* Whether a turn of that kind is under way. */
bool turns_do(const struct turns *turns, enum turn_kind kind);

/* Whether this is the session that listens for the doorbell, for all of them. */
bool turns_listens(const struct turns *turns, const struct turn *turn);

/*
 * Whether this session may begin a turn that takes long: a report alone, or
 * upkeep.  The session that listens hears nothing during a turn.  Therefore it
 * begins a long one only if each other session is in a long one, or has no
 * connection.
 */
bool turns_takes_long_ones(const struct turns *turns, const struct turn *turn);

/*
 * Log that there is no connection.  `attempts` to dial have failed since the
 * first such line.
 */
void turn_log_down(
    const struct turn *turn, const struct error *err, int attempts);

/* Log why the database refused the turn. */
void turn_log_failure(const struct turn *turn, const struct error *err);

#endif
