#include "common/pg.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/pg_exposure.h"
#include "common/pg_params.h"
#include "common/sqlstate.h"

struct pg {
	PGconn *conn;
	int64_t limit_ms; /* the time limit of pg_query; 0: none */
	/* queries and syncs that were sent and have no event yet */
	int outstanding;
	bool wants_write; /* libpq holds bytes that the socket did not take */
	/* in a state that only the end of the session leaves */
	bool is_spoilt;
	bool drops_rows; /* rows of results are dropped as they come */
};

static const struct pg_params no_params;

/* struct pg_result is libpq's under our name; it is never looked into. */
static struct pg_result *
from_libpq(PGresult *result)
{
	return (struct pg_result *)result;
}

/* Errors and notices ----------------------------------------------------- */

/*
 * libpq's own words: the first line is the message, the rest is advice. The
 * line may be the server's, which then begins with its severity.
 */
static void
set_connection_error(
    struct error *err, const PGconn *conn, const char *sqlstate)
{
	const char *text = PQerrorMessage(conn);
	const char *rest = text + strcspn(text, "\n");
	int len = (int)(rest - text);

	while (*rest == '\n' || *rest == '\t' || *rest == ' ')
		rest++;
	error_set(err, "%.*s", len, len > 0 ? text : "no connection");
	error_sqlstate(err, sqlstate);
	if (*rest != '\0')
		error_hint(err, "%.*s", (int)strcspn(rest, "\n"), rest);
}

static void
set_result_error(struct error *err, const PGconn *conn, const PGresult *result)
{
	const char *message =
	    PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
	const char *hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);

	if (message == NULL) {
		set_connection_error(err, conn, SQLSTATE_CONNECTION_LOST);
		return;
	}
	error_set(err, "%s", message);
	if (sqlstate != NULL)
		error_sqlstate(err, sqlstate);
	if (detail != NULL)
		error_detail(err, "%s", detail);
	if (hint != NULL)
		error_hint(err, "%s", hint);
}

static void
log_notice(void *arg, const PGresult *result)
{
	const char *severity =
	    PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
	const char *message =
	    PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

	(void)arg;
	if (message == NULL)
		return;
	if (severity != NULL && strcmp(severity, "WARNING") == 0)
		log_warnx("database: %s", message);
	else
		log_debug("database: %s", message);
}

/* The message of libpq itself, which belongs to no result. */
static void
log_libpq_notice(void *arg, const char *message)
{
	(void)arg;
	log_debug("libpq: %s", message);
}

/* Sessions --------------------------------------------------------------- */

/* To libpq, a later keyword wins over an earlier one. */
struct options {
	const char *keywords[13], *values[13];
	size_t count;
};

static void
add_option(struct options *options, const char *keyword, const char *value)
{
	if (value == NULL)
		return;
	options->keywords[options->count] = keyword;
	options->values[options->count++] = value;
}

static struct options
target_options(const struct pg_target *target)
{
	struct options options = { 0 };

	/* a peer that vanishes silently is noticed within 16 s */
	add_option(&options, "keepalives_idle", "10");
	add_option(&options, "keepalives_interval", "3");
	add_option(&options, "keepalives_count", "2");
	add_option(&options, "tcp_user_timeout", "15000");
	add_option(&options, "dbname", target->dbname);
	add_option(&options, "host", target->host);
	add_option(&options, "hostaddr", target->hostaddr);
	add_option(&options, "port", target->port);
	add_option(&options, "user", target->user);
	add_option(&options, "fallback_application_name", target->program);
	add_option(&options, "client_encoding", "UTF8");
	return options;
}

/*
 * libpq does not always report that it had no memory.  errno tells it, if errno
 * was 0 before.
 */
static bool
lacked_memory(void)
{
	return errno == ENOMEM;
}

static void
set_no_session(struct error *err, const PGconn *conn, bool starved)
{
	if (!starved) {
		set_connection_error(err, conn, SQLSTATE_NO_CONNECTION);
		return;
	}
	error_set(err, "no memory for a connection");
	error_sqlstate(err, SQLSTATE_NO_CONNECTION);
}

/*
 * The session on `conn`, unless that one is bad.  errno was 0 before `conn` was
 * made.
 */
static struct pg *
pg_new(PGconn *conn, struct error *err)
{
	bool starved = lacked_memory();
	struct pg *pg;

	if (conn == NULL || starved || PQstatus(conn) == CONNECTION_BAD) {
		set_no_session(err, conn, starved);
		PQfinish(conn);
		return NULL;
	}
	pg = xcalloc(1, sizeof(*pg));
	pg->conn = conn;
	PQsetNoticeReceiver(conn, log_notice, NULL);
	PQsetNoticeProcessor(conn, log_libpq_notice, NULL);
	return pg;
}

void
pg_free(struct pg *pg)
{
	if (pg == NULL)
		return;
	PQfinish(pg->conn);
	free(pg);
}

bool
pg_is_alive(const struct pg *pg)
{
	return PQstatus(pg->conn) == CONNECTION_OK && !pg->is_spoilt;
}

enum pg_transaction
pg_transaction(const struct pg *pg)
{
	switch (PQtransactionStatus(pg->conn)) {
	case PQTRANS_IDLE:
		return PG_IDLE;
	case PQTRANS_ACTIVE:
		return PG_ACTIVE;
	case PQTRANS_INTRANS:
		return PG_IN_TRANSACTION;
	case PQTRANS_INERROR:
		return PG_IN_FAILED_TRANSACTION;
	case PQTRANS_UNKNOWN:
		break;
	}
	return PG_NO_SESSION;
}

int
pg_backend(const struct pg *pg)
{
	return PQbackendPID(pg->conn);
}

int
pg_server_version(const struct pg *pg)
{
	return PQserverVersion(pg->conn);
}

char *
pg_exposure(const struct pg *pg)
{
	return pg_exposure_of(pg->conn);
}

/* struct pg_cancel is libpq's under our name, as results are. */
struct pg_cancel *
pg_cancel_new(const struct pg *pg)
{
	return (struct pg_cancel *)PQgetCancel(pg->conn);
}

bool
pg_cancel_send(struct pg_cancel *cancel, struct error *err)
{
	char reason[256] = "no connection";
	bool sent = PQcancel((PGcancel *)cancel, reason, sizeof(reason)) == 1;

	if (!sent)
		error_set(err, "cannot cancel: %.*s",
		    (int)strcspn(reason, "\n"), reason);
	return sent;
}

void
pg_cancel_in_handler(struct pg_cancel *cancel)
{
	char reason[256];
	int before = errno;

	(void)PQcancel((PGcancel *)cancel, reason, sizeof(reason));
	errno = before;
}

void
pg_cancel_free(struct pg_cancel *cancel)
{
	PQfreeCancel((PGcancel *)cancel);
}

/*
 * Whether libpq had no memory since errno was 0. libpq then believes that data
 * is missing or that the server has failed, or it does not report that
 * something has come.  The state that it has of the session is wrong from then
 * on.
 */
static bool
is_starved(struct pg *pg)
{
	pg->is_spoilt |= lacked_memory();
	return pg->is_spoilt;
}

char *
pg_take_notify(struct pg *pg)
{
	PGnotify *notify;
	char *channel;

	errno = 0;
	notify = PQnotifies(pg->conn);
	(void)is_starved(pg);
	if (notify == NULL)
		return NULL;
	channel = xstrdup(notify->relname);
	PQfreemem(notify);
	return channel;
}

/* Waiting ---------------------------------------------------------------- */

struct pg *
pg_connect(const struct pg_target *target, struct error *err)
{
	struct options o = target_options(target);

	errno = 0;
	return pg_new(PQconnectdbParams(o.keywords, o.values, 1), err);
}

/* COPY would wait for data that nobody sends or reads here. */
static bool
is_copy(const PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	return status == PGRES_COPY_IN || status == PGRES_COPY_OUT;
}

static bool
is_good(const PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ||
	       status == PGRES_EMPTY_QUERY;
}

/* The result if it is a good one. */
static struct pg_result *
check_result(const PGconn *conn, PGresult *result, struct error *err)
{
	if (is_copy(result)) {
		error_set(err, "COPY from stdin and to stdout is refused");
		error_sqlstate(err, SQLSTATE_NOT_SUPPORTED);
	} else if (is_good(result)) {
		return from_libpq(result);
	} else {
		set_result_error(err, conn, result);
	}
	PQclear(result);
	return NULL;
}

void
pg_limit(struct pg *pg, int64_t statement_ms)
{
	pg->limit_ms = statement_ms;
}

/* Wait until the server has sent more.  False if the session broke. */
static bool
wait_for_input(PGconn *conn)
{
	struct pollfd watched = { .fd = PQsocket(conn), .events = POLLIN };

	while (poll(&watched, 1, -1) < 0)
		if (errno != EINTR)
			return false;
	return PQconsumeInput(conn) == 1;
}

/*
 * Wait for the next result; NULL behind the last one of a query.  It is NULL,
 * too, if libpq had no memory, and then the session is spoilt.  PQgetResult
 * does not wait here, because it would wait forever for a result that libpq
 * could not store.
 */
static PGresult *
wait_for_next(struct pg *pg)
{
	PGresult *result;

	errno = 0;
	while (
	    PQisBusy(pg->conn) && !is_starved(pg) && wait_for_input(pg->conn))
		errno = 0;
	result = is_starved(pg) ? NULL : PQgetResult(pg->conn);
	if (!is_starved(pg))
		return result;
	PQclear(result);
	return NULL;
}

/*
 * Wait for the last result of the oldest query, or for its first bad one, if
 * there is one.
 */
static PGresult *
wait_for_result(struct pg *pg)
{
	PGresult *result = wait_for_next(pg), *more;

	while (result != NULL && !is_copy(result) &&
	       (more = wait_for_next(pg)) != NULL) {
		if (!is_good(result)) {
			PQclear(more);
			continue;
		}
		PQclear(result);
		result = more;
	}
	if (!pg->is_spoilt)
		return result;
	PQclear(result);
	return NULL;
}

static bool
send_query(struct pg *pg, const char *sql, const struct pg_params *p)
{
	return PQsendQueryParams(pg->conn, sql, p->count, p->types,
	           (const char *const *)p->values, p->lengths, p->formats,
	           0) == 1;
}

/* Send the limit and the query as one batch, which is one transaction. */
static bool
send_limited(struct pg *pg, const char *sql, const struct pg_params *p)
{
	static const char limit_sql[] =
	    "select set_config('statement_timeout', $1, true)"
	    " where current_setting('statement_timeout') = '0'";
	struct pg_params limit;
	char number[24];
	bool ok;

	snprintf(number, sizeof(number), "%" PRId64, pg->limit_ms);
	pg_params_init(&limit);
	pg_params_add(&limit, number);
	ok = PQenterPipelineMode(pg->conn) == 1 &&
	     send_query(pg, limit_sql, &limit) && send_query(pg, sql, p) &&
	     PQpipelineSync(pg->conn) == 1;
	pg_params_release(&limit);
	return ok;
}

/*
 * The answer is that of the query, if all went well.  Otherwise it is the first
 * failure: statements after it were skipped, and those before it are undone.
 */
static PGresult *
wait_for_limited(struct pg *pg)
{
	PGresult *limit = wait_for_result(pg);
	PGresult *result = wait_for_result(pg);
	PGresult *end = wait_for_result(pg), *answer = result;

	(void)PQexitPipelineMode(pg->conn);
	if (PQresultStatus(limit) != PGRES_TUPLES_OK)
		answer = limit;
	else if (is_good(result) && PQresultStatus(end) != PGRES_PIPELINE_SYNC)
		answer = end;
	if (limit != answer)
		PQclear(limit);
	if (result != answer)
		PQclear(result);
	if (end != answer)
		PQclear(end);
	return answer;
}

static void
set_starved(struct error *err)
{
	error_set(err, "no memory for what the server said");
	error_sqlstate(err, SQLSTATE_CONNECTION_LOST);
}

/*
 * The result if it is a good one.  NULL is not a result if the session is
 * spoilt.
 */
static struct pg_result *
check_answer(struct pg *pg, PGresult *result, struct error *err)
{
	if (result == NULL && pg->is_spoilt) {
		set_starved(err);
		return NULL;
	}
	pg->is_spoilt |= is_copy(result);
	return check_result(pg->conn, result, err);
}

/* A session is spoilt if a query was sent only in part. */
static struct pg_result *
cannot_send(struct pg *pg, struct error *err)
{
	set_connection_error(err, pg->conn, SQLSTATE_CONNECTION_LOST);
	pg->is_spoilt = true;
	return NULL;
}

struct pg_result *
pg_query(struct pg *pg, const char *sql, const struct pg_params *params,
    struct error *err)
{
	const struct pg_params *p = params != NULL ? params : &no_params;

	if (pg->is_spoilt)
		return cannot_send(pg, err);
	if (pg->limit_ms > 0 ? !send_limited(pg, sql, p)
	                     : !send_query(pg, sql, p))
		return cannot_send(pg, err);
	return check_answer(pg,
	    pg->limit_ms > 0 ? wait_for_limited(pg) : wait_for_result(pg), err);
}

bool
pg_script(struct pg *pg, const char *sql, struct error *err)
{
	struct pg_result *result;

	if (pg->is_spoilt || PQsendQuery(pg->conn, sql) != 1)
		result = cannot_send(pg, err);
	else
		result = check_answer(pg, wait_for_result(pg), err);
	pg_result_free(result);
	return result != NULL;
}

/* Never waiting ---------------------------------------------------------- */

struct pg *
pg_connect_start(const struct pg_target *target, struct error *err)
{
	struct options o = target_options(target);

	errno = 0;
	return pg_new(PQconnectStartParams(o.keywords, o.values, 1), err);
}

enum pg_progress
pg_connect_poll(struct pg *pg, struct error *err)
{
	PostgresPollingStatusType next;

	errno = 0;
	next = PQconnectPoll(pg->conn);
	if (is_starved(pg))
		next = PGRES_POLLING_FAILED;
	switch (next) {
	case PGRES_POLLING_READING:
		return PG_WANT_READ;
	case PGRES_POLLING_WRITING:
		return PG_WANT_WRITE;
	case PGRES_POLLING_OK:
		if (PQsetnonblocking(pg->conn, 1) == 0 &&
		    PQenterPipelineMode(pg->conn) == 1)
			return PG_DONE;
		break;
	default:
		break;
	}
	set_no_session(err, pg->conn, pg->is_spoilt);
	return PG_FAILED;
}

int
pg_socket(const struct pg *pg)
{
	return PQsocket(pg->conn);
}

bool
pg_wants_write(const struct pg *pg)
{
	return pg->wants_write;
}

static bool
broken(struct pg *pg, struct error *err)
{
	set_connection_error(err, pg->conn, SQLSTATE_CONNECTION_LOST);
	return false;
}

/* Write as much as the socket takes. */
static bool
flush(struct pg *pg, struct error *err)
{
	int left = PQflush(pg->conn);

	pg->wants_write = left == 1;
	return left >= 0 || broken(pg, err);
}

bool
pg_work(struct pg *pg, struct error *err)
{
	if (PQconsumeInput(pg->conn) != 1)
		return broken(pg, err);
	return flush(pg, err);
}

bool
pg_send(struct pg *pg, const char *sql, const struct pg_params *params,
    struct error *err)
{
	if (!send_query(pg, sql, params != NULL ? params : &no_params))
		return broken(pg, err);
	pg->outstanding++;
	return true;
}

bool
pg_sync(struct pg *pg, struct error *err)
{
	if (PQpipelineSync(pg->conn) != 1)
		return broken(pg, err);
	pg->outstanding++;
	return flush(pg, err);
}

void
pg_drop_rows(struct pg *pg, bool drop)
{
	pg->drops_rows = drop;
}

/*
 * Whether the next result is there without waiting.  libpq has to be told for
 * each query anew that its rows come one by one, before any of them is read.
 */
static bool
is_there(struct pg *pg)
{
	if (pg->outstanding == 0)
		return false;
	if (pg->drops_rows)
		PQsetSingleRowMode(pg->conn);
	return !PQisBusy(pg->conn);
}

/*
 * The next result, past the NULL that libpq puts behind each query's, and past
 * single rows.
 */
static PGresult *
next_result(struct pg *pg)
{
	PGresult *result = NULL;

	while (result == NULL && is_there(pg)) {
		result = PQgetResult(pg->conn);
		if (PQresultStatus(result) == PGRES_SINGLE_TUPLE) {
			PQclear(result);
			result = NULL;
		}
	}
	return result;
}

enum pg_event
pg_next(struct pg *pg, struct pg_result **result, struct error *err)
{
	PGresult *next;

	if (!pg_is_alive(pg)) {
		broken(pg, err);
		return PG_EVENT_BROKEN;
	}
	errno = 0;
	next = next_result(pg);
	if (is_starved(pg)) {
		PQclear(next);
		set_starved(err);
		return PG_EVENT_BROKEN;
	}
	if (next == NULL)
		return PG_EVENT_NONE;
	pg->outstanding--;
	switch (PQresultStatus(next)) {
	case PGRES_PIPELINE_SYNC:
		PQclear(next);
		return PG_EVENT_SYNC;
	case PGRES_PIPELINE_ABORTED:
		PQclear(next);
		return PG_EVENT_SKIPPED;
	default:
		break;
	}
	/* A pipeline never gets out of COPY again. */
	pg->is_spoilt = is_copy(next);
	*result = check_result(pg->conn, next, err);
	if (*result != NULL)
		return PG_EVENT_RESULT;
	if (PQstatus(pg->conn) != CONNECTION_OK)
		return PG_EVENT_BROKEN;
	return PG_EVENT_ERROR;
}

int
pg_outstanding(const struct pg *pg)
{
	return pg->outstanding;
}
