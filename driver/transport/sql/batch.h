/*
 * batch.h - the batches of a SQL task, and the workspace's procedures in
 * them.
 *
 *     open:       what the session begins with
 *     statement:  begin; sql_begin; savepoint; the statement
 *     commit:     release; constraints; sql_outcome; read only; commit | reset | open
 *     rollback:   rollback | reset | open
 *     status:     token_status, after a connection was lost: did it commit?
 */
#ifndef DRIVER_TRANSPORT_SQL_BATCH_H
#define DRIVER_TRANSPORT_SQL_BATCH_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct session;
struct session_answer;
struct sql_statement;
struct task;

/* A session that has just connected. */
void sql_batch_open(struct session *session);

/* What it has found out about its login; NULL where nobody knows. */
struct sql_login {
	const char *name;
	const char *powers;   /* that no SQL task should have; "": none */
	const char *settings; /* that go with the role; "": none */
};

/* The strings live as long as the answer. */
struct sql_login sql_batch_opened(const struct session_answer *answer);

/*
 * The first statement of a task, and the transaction around it; another one in
 * it.  The last result is the statement's.  `timeout_ms` 0: no limit.
 */
void sql_batch_first(struct session *session, const struct task *task,
    const struct sql_statement *statement, int64_t timeout_ms);
void sql_batch_next(struct session *session,
    const struct sql_statement *statement, int64_t timeout_ms);

void sql_batch_commit(
    struct session *session, const struct task *task, const struct buf *body);

/* Whether it did; what came behind the commit does not matter. */
bool sql_batch_committed(const struct session_answer *answer);

void sql_batch_rollback(struct session *session);

void sql_batch_status(struct session *session, const struct task *task);

/*
 * Whether a first statement or a status was asked of the wrong workspace: of a
 * standby, or of one that was upgraded meanwhile.  Nothing of it counts.
 */
bool sql_batch_is_misplaced(const struct session_answer *answer);

/* Whether the server does not know the request, or no longer does. */
bool sql_batch_is_unknown(const struct session_answer *answer);

/* Whether the task is still to be done, and by us. */
bool sql_batch_is_open(const struct session_answer *answer);

#endif
