/*
 * batch.h - the batches of a SQL task, and the workspace's procedures in
 * them.
 *
 *     open:       the beginning of a session
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

/* Open a session that has just connected. */
void sql_batch_open(struct session *session);

/* The login of the session.  NULL: it is not known. */
struct sql_login {
	const char *name;
	const char *powers;   /* powers that no SQL task should have, or "" */
	const char *settings; /* of the role; "": none */
};

/* The strings live as long as the answer. */
struct sql_login sql_batch_opened(const struct session_answer *answer);

/*
 * Send the first statement of a task, and begin its transaction; or send the
 * next statement.  The last result is the statement's.  `timeout_ms` 0: no
 * limit.
 */
void sql_batch_first(struct session *session, const struct task *task,
    const struct sql_statement *statement, int64_t timeout_ms);
void sql_batch_next(struct session *session,
    const struct sql_statement *statement, int64_t timeout_ms);

void sql_batch_commit(
    struct session *session, const struct task *task, const struct buf *body);

/* Whether the task was committed, whatever failed behind the commit. */
bool sql_batch_committed(const struct session_answer *answer);

void sql_batch_rollback(struct session *session);

void sql_batch_status(struct session *session, const struct task *task);

/*
 * Whether the wrong server got a first statement or a status: a standby, or a
 * workspace that was upgraded meanwhile.  Then the answer does not count.
 */
bool sql_batch_is_misplaced(const struct session_answer *answer);

/* Whether the server does not know the request, or no longer does. */
bool sql_batch_is_unknown(const struct session_answer *answer);

/* Whether the task is still ours to do. */
bool sql_batch_is_open(const struct session_answer *answer);

#endif
