/*
 * session.h - one connection to a database, on the loop.
 *
 * A session connects by itself to any of its hosts.  It connects again, with
 * growing pauses, whenever the connection is lost.  If a server refuses to
 * write (25006), the session hands that answer over, then goes to the next
 * host.  A session carries batches: queries that go out together, and whose
 * answers come back together when all is committed or nothing is.  One batch
 * goes at a time.  Callbacks come from the loop, never from the functions
 * below.
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
	/* one per query, as far as they got; valid during the callback only */
	struct pg_result *results[SESSION_QUERIES];
	int count;
	int done;                /* results before the first failure */
	const struct error *err; /* the first failure; NULL: there was none */
	bool lost; /* the connection is gone; the batch may be done or not */
};

struct session_events {
	/* The session is connected; a batch may begin. */
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
 * The beginning of a session.  It has the server notice a driver that has
 * vanished silently as soon as the driver would notice a vanished server.  The
 * server looks every two seconds whether the connection of a statement is still
 * there, and ends the statement if not.  So a driver that gives a session up
 * need not cancel its statement.  A commit that waits for a synchronous standby
 * waits on.  A cancel would end that wait, and the committed transaction might
 * be lost with the server.  The isolation is read committed, whatever is set
 * for the login or the database.
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
	const char *conninfo; /* all strings: borrowed for the session's life */
	const char *user;     /* NULL: as in conninfo */
	const char *program;  /* application_name */
	const char *label;    /* the name in log lines; NULL: no name */
	int64_t answer_ms;    /* longest time of a batch; 0: no limit */
};

/* A session that begins to connect.  The strings of `options` are kept. */
struct session *session_new(struct loop *loop,
    const struct session_options *options, const struct session_events *events,
    void *arg);

/* No callback comes after this.  NULL is allowed. */
void session_free(struct session *session);

/* The option: how long the session waits for a batch; 0: no limit. */
int64_t session_answer_ms(const struct session *session);

/* The number of the server's process, as in pg_backend(); 0: none. */
int session_backend(const struct session *session);

/* Whether it is connected and has no batch. */
bool session_is_ready(const struct session *session);

/* Add a query to the batch.  Only when ready; nothing of `params` is kept. */
void session_send(
    struct session *session, const char *sql, const struct pg_params *params);

/*
 * Drop the rows of this batch's results as they come, however many there are;
 * pg_affected() says how many there were.
 */
void session_drop_rows(struct session *session);

/*
 * Make the next queries a transaction of their own.  The split has no answer of
 * its own, but a failure before it skips only the queries up to here.
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
