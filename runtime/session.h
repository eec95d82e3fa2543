/*
 * session.h - one connection to a database, on the loop.
 *
 * It connects by itself, to any of the hosts that it is given, and again with
 * growing pauses whenever it is lost.  A server that refuses to write (25006)
 * is given up for the next host, once that answer was handed over.
 * What it carries are batches: queries that go out together and whose answers
 * come back together, when all is committed or nothing is.  One batch at a
 * time.  Callbacks come from the loop, never from the functions below.
 */
#ifndef RUNTIME_SESSION_H
#define RUNTIME_SESSION_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct loop;
struct pg_params;
struct pg_result;
struct session;

enum {
	SESSION_QUERIES = 16, /* the most that a batch may hold */
};

/* How a batch ended. */
struct session_answer {
	/* one per query, as far as they got; they die with the callback */
	struct pg_result *results[SESSION_QUERIES];
	int count;
	int done; /* how many of them came before the first failure */
	const struct error *err; /* the first failure; NULL: it was done */
	bool lost; /* the connection is gone: done or not, nobody knows */
};

struct session_events {
	/* It is connected; a batch may begin. */
	void (*ready)(void *arg);

	/* The batch has ended; unless it was lost, another may begin. */
	void (*answer)(void *arg, const struct session_answer *answer);

	/*
	 * No connection to any host, for the `failures`-th time in a row.  If a
	 * batch was under way, its answer comes first.
	 */
	void (*down)(void *arg, const struct error *err, int failures);

	/* A notification has come.  May be NULL. */
	void (*notified)(void *arg);
};

/*
 * What a session begins with.  The server notices a driver that has vanished
 * without a word as soon as the driver would notice the server.  It looks every
 * two seconds whether the connection of a statement is still there, and ends the
 * statement if not: a driver that gives a session up need not cancel its statement.
 * A commit that waits for a synchronous standby waits on.  A cancel would end that
 * wait, and the committed transaction might be lost with the server.  The isolation
 * is read committed, whatever is set for the login or the database.
 */
#define SESSION_BEGIN \
	"select pg_catalog.set_config('client_connection_check_interval', " \
	"'2s', false)," \
	" pg_catalog.set_config('tcp_keepalives_idle', '10', false)," \
	" pg_catalog.set_config('tcp_keepalives_interval', '3', false)," \
	" pg_catalog.set_config('tcp_keepalives_count', '2', false)," \
	" pg_catalog.set_config('tcp_user_timeout', '15000', false)," \
	" pg_catalog.set_config('default_transaction_isolation', " \
	"'read committed', false)"

struct session_options {
	const char *conninfo; /* borrowed for the session's life, as all here */
	const char *user;     /* NULL: as conninfo says */
	const char *program;  /* application_name */
	const char *label;    /* the name in log lines; NULL: no name */
	int64_t answer_ms;    /* lost if a batch takes longer; 0: no limit */
};

/* A session that begins to connect.  The strings of `options` are kept. */
struct session *session_new(struct loop *loop,
    const struct session_options *options, const struct session_events *events,
    void *arg);

/* No callback comes after it.  NULL is allowed. */
void session_free(struct session *session);

/* What its options say: how long it waits for a batch; 0: no limit. */
int64_t session_answer_ms(const struct session *session);

/* The number of the server's process, as pg_backend() has it; 0: none. */
int session_backend(const struct session *session);

/* Connected, and no batch under way. */
bool session_is_ready(const struct session *session);

/* Add a query to the batch.  Only when ready; nothing of `params` is kept. */
void session_send(
    struct session *session, const char *sql, const struct pg_params *params);

/*
 * The rows of this batch's results are dropped as they come, however many there
 * are: pg_affected() says how many.
 */
void session_drop_rows(struct session *session);

/*
 * Let the queries that follow be a transaction of their own.  It takes no
 * place among the answers, but a failure before it skips only up to here.
 */
void session_split(struct session *session);

/* Send the batch off. */
void session_go(struct session *session);

/*
 * Have the server stop the query that is under way; the query then fails with
 * 57014.  The server is told as soon as it can be reached, even if the session
 * has been given up or freed by then.
 */
void session_cancel(struct session *session);

/*
 * Give up the connection, as if it had been lost, and connect anew.  A session
 * without a connection is not changed: it is already dialling, or it waits
 * until it dials again.
 */
void session_reset(struct session *session, const char *reason);

/* Reset the session, and try the other hosts before this one. */
void session_avoid(struct session *session, const char *reason);

#endif
