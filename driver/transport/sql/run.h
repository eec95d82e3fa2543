/*
 * run.h - a SQL task on its way.  Its statement, or the statements of an
 * atomic, and its outcome are one transaction: all of it happens or nothing.
 *
 * The workspace has the outcome of a task that succeeded; only failures are
 * reported.
 *
 *     WAITING ▶ STATEMENT (one after another) ▶ COMMIT ▶ OVER
 *                   └──────▶ ROLLBACK ◀────────┘ └─▶ OVER
 *     a lost connection ▶ STATUS ▶ OVER, or the whole task once more
 */
#ifndef DRIVER_TRANSPORT_SQL_RUN_H
#define DRIVER_TRANSPORT_SQL_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "driver/transport/outcome.h"
#include "driver/transport/sql/statement.h"
#include "driver/transport/transport.h"
#include "runtime/loop.h"

struct config;
struct session;
struct session_answer;
struct worker;

enum sql_phase {
	SQL_WAITING, /* for a session */
	SQL_STATEMENT,
	SQL_COMMIT,
	SQL_ROLLBACK,
	SQL_STATUS,
	SQL_OVER,
};

struct run {
	struct loop *loop;
	const struct config *config;
	const struct task *task;
	struct json *args;
	struct sql_statement *statements;
	size_t count, at;        /* of statements; the current one */
	size_t row_bytes;        /* of the statements that have ended */
	bool is_atomic;          /* the response is a list of results */
	struct session *session; /* NULL while waiting */
	enum sql_phase phase;
	struct outcome outcome; /* once it is over */
	int repeats;
	bool unknown;        /* a server did not know the request; we left it */
	char *lost;          /* why the connection was lost, or NULL */
	int64_t limit_ms;    /* of the current statement; 0: none */
	const char *stopped; /* "timeout", "cancelled" or NULL */
	struct timer limit_timer;  /* of the statement; also after a loss */
	struct timer status_timer; /* of SQL_STATUS */

	/* For the transport: the run's place, and the call at its end. */
	struct pool *pool;     /* NULL: none for its role */
	struct worker *worker; /* NULL while waiting */
	TAILQ_ENTRY(run) link; /* among the runs that wait */
	transport_done_fn *done;
	void *arg;
	struct loop_call end_call;
	void (*over)(struct run *run); /* the caller that begins it sets it */
};

/*
 * NULL with `err` set if the task's arguments are wrong.  `task` is borrowed.
 */
struct run *sql_run_new(struct loop *loop, const struct config *config,
    const struct task *task, struct error *err);
void sql_run_free(struct run *run);

/* Give the run a session that is ready.  The run keeps it until it is over. */
void sql_run_begin(struct run *run, struct session *session);

/* The run's session has answered; or it is ready again, after it was lost. */
void sql_run_answer(struct run *run, const struct session_answer *answer);
void sql_run_resume(struct run *run);

/* Cancel the run.  A run that waits has its outcome at once. */
void sql_run_stop(struct run *run);

/* Give the run's session up: `run` is about to be freed, without an outcome. */
void sql_run_abandon(struct run *run);

#endif
