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
	TURN_COUNTERS, /* what was counted so far */
	TURN_LEAVE,
};

/* Read the fields; change them only through the functions. */
struct turn {
	int number; /* among those of its workspace, from 1 */
	struct session *session;
	void *owner;       /* for callbacks */
	const char *label; /* the name in log lines; borrowed */
	enum turn_kind kind;
	bool connected;
	bool is_new;      /* must be opened before anything else */
	bool upkept;      /* its last turn was upkeep */
	int64_t timeline; /* of its server; 0: not known */
	int64_t item;     /* of work, that its upkeep has named; 0: none */
	struct load want; /* slots are kept free for what it brings */
	struct request_list carried; /* the reports that it carries */
	struct request_list behind;  /* more of the same instances */
	bool reported;               /* it carried some when it began */
	bool streamed;               /* it carried output before them */
	char *mark; /* what poll() said of what was done last; NULL: nothing */
};

/* Its session has a new connection, which is to be opened first of all. */
void turn_renew(struct turn *turn);

/* A turn has succeeded: the connection works. */
void turn_works(struct turn *turn);

/* There is no connection any more; whether there was one that had worked. */
bool turn_lost(struct turn *turn);

void turn_open(struct turn *turn, bool listens);

/*
 * Work, in two steps.  First what the runner has to report, as much as a turn
 * carries, by means of `reports`; `output`: that is due, too.
 */
void turn_report(struct turn *turn, int64_t driver, struct runner *runner,
    struct reports *reports, bool output);

/*
 * Report nothing but what one request, which is kept, has to say, with what goes
 * along with it from both lists of the runner.  Its result is that of outcome(),
 * after that of output_add(), if there was output.
 */
void turn_report_alone(struct turn *turn, int64_t driver, struct runner *runner,
    struct reports *reports, struct request *request);

/*
 * Then the poll, which begins the turn; `drain`: tell the workspace that we take
 * no more.  The results: of output_add() and outcome(), if carried, and of
 * poll().
 */
void turn_poll(struct turn *turn, int64_t driver, struct load want, bool drain);

/* Hand the answers of outcome() to the runner; false if some are missing. */
bool turn_answers(const struct turn *turn, const struct session_answer *answer,
    struct runner *runner, struct reports *reports);

/*
 * A turn has failed.  If its reports may be why, that is noted with each of
 * them.
 */
void turn_blame(struct turn *turn, const struct session_answer *answer);

/* A turn has failed: whether what its poll did on the way may be why. */
bool turn_blames_poll(
    const struct turn *turn, const struct session_answer *answer);

/* Count that it has succeeded, or has `failed`. */
void turn_count(const struct turn *turn, struct metrics *metrics, bool failed);

/*
 * It has ended.  The runner reports again what was not answered, and what stood
 * behind it.
 */
void turn_end(struct turn *turn, struct runner *runner);

/*
 * Hand what poll() gave to the runner: the requests that it was, and when it
 * wants to be asked again.
 */
struct rest turn_requests(struct turn *turn,
    const struct session_answer *answer, struct runner *runner,
    struct load *taken);

/*
 * Upkeep; `item`: what the last one has named, 0 is nothing; `failed`: a poll
 * did not come to its end.
 */
void turn_upkeep(struct turn *turn, int64_t item, bool failed);

/* The upkeep has ended, and may have named the next item. */
void turn_upkeep_done(struct turn *turn, const struct session_answer *answer);

/* The item that its upkeep has named; it is forgotten. */
int64_t turn_take_item(struct turn *turn);

void turn_heartbeat(struct turn *turn, int64_t driver);
void turn_counters(struct turn *turn, int64_t driver, const char *counters);
void turn_leave(struct turn *turn, int64_t driver);

/* All those with one workspace. */
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
 * Register on `turn`, one of them, with all that they know: the tokens of what
 * stands in `table` and their marks.
 */
void turns_register(const struct turns *turns, struct turn *turn,
    struct identity *identity, const struct request_table *table);

/*
 * `turn` has opened its session, and `answer` tells the timeline of its server.
 * Two servers of two timelines are a primary and a former one that still lives:
 * those that are with the earlier timeline try the next server.
 */
void turns_gather(const struct turns *turns, struct turn *turn,
    const struct session_answer *answer);

/*
 * Of the reports that are due, let those stand behind other turns whose
 * instances these carry.
 */
void turns_sort(const struct turns *turns, const struct turn *turn,
    const struct reports *reports, struct request_list *due);

/* The bytes of all reports that no turn carries yet: of `due`, and behind turns. */
size_t turns_waiting(const struct turns *turns, const struct request_list *due);

/* Forget their marks: the workspace has them, or does not want them. */
void turns_drop_marks(struct turns *turns);

/* The turn whose last upkeep has named an item: `turn`, or any; NULL: none has. */
struct turn *turns_naming(const struct turns *turns, struct turn *turn);

/* A turn that may begin; NULL if there is none. */
struct turn *turns_ready(const struct turns *turns);

/* Whether any turn has a connection; whether any is being carried out. */
bool turns_connected(const struct turns *turns);
bool turns_under_way(const struct turns *turns);

/* Whether one of them is of that kind. */
bool turns_do(const struct turns *turns, enum turn_kind kind);

/* No connection; `attempts` to dial have failed since the log said so. */
void turn_log_down(
    const struct turn *turn, const struct error *err, int attempts);

/* The database refused it, and why. */
void turn_log_failure(const struct turn *turn, const struct error *err);

#endif
