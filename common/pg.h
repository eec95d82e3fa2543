/*
 * pg.h - sessions with PostgreSQL.  The only user of libpq (with pg_result.c,
 * pg_conninfo.c, pg_exposure.c and pg_hosts.c).
 *
 * There are two ways to use a session.  The console connects, asks and waits
 * (pg_connect, pg_query).  The driver never waits (pg_connect_start, pg_send,
 * pg_next) and keeps its session in pipeline mode.  There a batch of queries
 * ends with one pg_sync, is one transaction unless it says otherwise, and takes
 * one round trip.
 *
 * Errors carry the server's message, detail, hint and SQLSTATE.  A session that
 * could not be opened has 08001, one that broke has 08006.  Notices go to the
 * log: warnings as warnings, the others at debug level.
 */
#ifndef COMMON_PG_H
#define COMMON_PG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/pg_type.h"

struct error;
struct pg;
struct pg_cancel;
struct pg_params;
struct pg_result;

/*
 * Where to connect.  NULL leaves a field to libpq: PG* variables, the service
 * file, defaults.  `dbname` may be a whole connection string or URI; the other
 * fields override it.
 */
struct pg_target {
	const char *dbname;
	const char *host;
	const char *hostaddr;
	const char *port;
	const char *user;
	/* application_name, unless the connection string sets one */
	const char *program;
};

/* Sessions, both ways --------------------------------------------------- */

/* End the session, abruptly if need be.  NULL is allowed. */
void pg_free(struct pg *pg);

/* Whether the session exists, as far as is known without asking the server. */
bool pg_is_alive(const struct pg *pg);

enum pg_transaction {
	PG_IDLE,
	PG_ACTIVE, /* a query is under way */
	PG_IN_TRANSACTION,
	PG_IN_FAILED_TRANSACTION,
	PG_NO_SESSION,
};

enum pg_transaction pg_transaction(const struct pg *pg);

/*
 * The process number of the server, as the server told it to the session;
 * behind a pooler it is the number of another process.
 */
int pg_backend(const struct pg *pg);

/* 150004 for 15.4; 0 without a session. */
int pg_server_version(const struct pg *pg);

/*
 * What others on the network can do to an open session, in one line, for the
 * caller to free().  NULL if they can do nothing: the session has a local
 * socket, TLS with sslmode=verify-full, or the encryption of Kerberos.  libpq
 * tells which parameters were used, wherever they came from.
 */
char *pg_exposure(const struct pg *pg);

/*
 * Ask the server to stop the query of the session, which then fails with 57014.
 * pg_cancel_send opens a connection of its own and waits for it.  It may be
 * called in another thread, and after the session has ended.
 */
struct pg_cancel *pg_cancel_new(const struct pg *pg);
bool pg_cancel_send(struct pg_cancel *cancel, struct error *err);

/* The same for a signal handler, which may call nothing else of this file. */
void pg_cancel_in_handler(struct pg_cancel *cancel);
void pg_cancel_free(struct pg_cancel *cancel);

/*
 * The channel of a notification that has come, for the caller to free();
 * NULL when there is none left.
 */
char *pg_take_notify(struct pg *pg);

/* Waiting --------------------------------------------------------------- */

/* NULL if the session could not be opened. */
struct pg *pg_connect(const struct pg_target *target, struct error *err);

/*
 * Send one query and wait for its answer.  `params` may be NULL.  NULL on
 * failure; otherwise the caller must pg_result_free() the result.
 */
struct pg_result *pg_query(struct pg *pg, const char *sql,
    const struct pg_params *params, struct error *err);

/*
 * Limit the time of each query of pg_query; a query that takes longer fails
 * with 57014.  0, the default, sets no limit.  No limit is set either where the
 * session has a statement_timeout already.  The limit ends with the query's
 * transaction: a pooler does not hand it on to another session.
 */
void pg_limit(struct pg *pg, int64_t statement_ms);

/* Several statements in one string, without parameters; rows are dropped. */
bool pg_script(struct pg *pg, const char *sql, struct error *err);

/* Never waiting --------------------------------------------------------- */

enum pg_progress {
	PG_WANT_READ,  /* call again when the socket is readable */
	PG_WANT_WRITE, /* … writable */
	PG_DONE,
	PG_FAILED,
};

/*
 * Begin to connect; go on with pg_connect_poll.  The look-up of a host name
 * blocks: `hostaddr` avoids it.  NULL if it could not even begin.
 */
struct pg *pg_connect_start(const struct pg_target *target, struct error *err);

/*
 * The next step of connecting.  The socket may be another one after each
 * step.  There is no deadline but the caller's.  After PG_FAILED only
 * pg_free is left.
 */
enum pg_progress pg_connect_poll(struct pg *pg, struct error *err);

/* -1 without a session.  Watch it for reading, always. */
int pg_socket(const struct pg *pg);

/* Whether to watch the socket for writing, too. */
bool pg_wants_write(const struct pg *pg);

/*
 * Read what the server has sent, and write the bytes that wait.  Call it when
 * the socket is ready, and before pg_next.  False if the session broke.
 */
bool pg_work(struct pg *pg, struct error *err);

/*
 * Add a query to the batch.  `params` may be NULL; they are copied.  When one
 * query fails, the later ones are skipped up to the pg_sync.
 */
bool pg_send(struct pg *pg, const char *sql, const struct pg_params *params,
    struct error *err);

/* End the batch and begin to write it. */
bool pg_sync(struct pg *pg, struct error *err);

enum pg_event {
	PG_EVENT_NONE,    /* nothing more for now */
	PG_EVENT_RESULT,  /* a query's answer */
	PG_EVENT_ERROR,   /* a query's failure; the session goes on */
	PG_EVENT_SKIPPED, /* a query after one that failed */
	PG_EVENT_SYNC,    /* the batch has ended (committed, if none failed) */
	/* the session broke: the fate of open queries is unknown */
	PG_EVENT_BROKEN,
};

/*
 * The next event, in the order of sending: one for each query and one for each
 * pg_sync.  `*result` is set on PG_EVENT_RESULT only and belongs to the caller;
 * `err` is set on ERROR and BROKEN only.  COPY is an ERROR that breaks the
 * session.  Lack of memory for the server's answer breaks it, too.
 */
enum pg_event pg_next(
    struct pg *pg, struct pg_result **result, struct error *err);

/*
 * Whether the rows of results are dropped as they come.  A result then has no
 * rows, pg_affected() says how many there were, and the session never holds
 * more than one.  Call it before the first of these results has come.
 */
void pg_drop_rows(struct pg *pg, bool drop);

/* Queries and syncs whose event is still to come. */
int pg_outstanding(const struct pg *pg);

/* Results --------------------------------------------------------------- */

/* NULL is allowed. */
void pg_result_free(struct pg_result *result);

int pg_rows(const struct pg_result *result);
int pg_columns(const struct pg_result *result);

/* Rows that the statement touched or returned; 0 for those with neither. */
int64_t pg_affected(const struct pg_result *result);

const char *pg_column_name(const struct pg_result *result, int column);

/* The index of the column of that name; -1 if there is no such column. */
int pg_column(const struct pg_result *result, const char *name);

/* How a column's values are to be shown. */
enum pg_kind pg_column_kind(const struct pg_result *result, int column);

/* The value as text, as long as `result` lives; NULL if it is null. */
const char *pg_value(const struct pg_result *result, int row, int column);
size_t pg_value_length(const struct pg_result *result, int row, int column);

/* 0 and false for null. */
int64_t pg_value_bigint(const struct pg_result *result, int row, int column);
bool pg_value_bool(const struct pg_result *result, int row, int column);

#endif
