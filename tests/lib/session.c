/*
 * session.c - a client of PostgreSQL that a test script asks again and again.  A psql
 * for each question takes far longer to begin than the question takes.
 *
 *     session DIR
 *
 * DIR has two named pipes.  A request comes in `ask`: host, port, user, database,
 * options and a query, each of them ended by a NUL byte.  What psql --no-align
 * --tuples-only --command would print is then in the files `rows` and `messages`, and
 * its exit status is the line of `status`.  A byte in `done` tells whoever waits for it.
 *
 * To the query the connection is a new one: whatever a query leaves behind is undone
 * after it, and a connection that was lost since then is made again.
 */
#include <fcntl.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As psql exits. */
enum status { DONE, FAILED, NO_CONNECTION };

/* Of a request, in this order. */
enum part { HOST, PORT, USER, DATABASE, OPTIONS, QUERY, PARTS };
static const char *const KEYWORDS[] = { "host", "port", "user", "dbname",
	"options", "fallback_application_name", NULL };

static PGconn *connection;
static char *connected_to[QUERY];

static FILE *
file_opened(const char *name, const char *mode)
{
	FILE *file = fopen(name, mode);

	if (!file) {
		perror(name);
		exit(1);
	}
	return file;
}

static void
message_print(void *messages, const char *text)
{
	fputs(text, messages);
}

static bool
is_readable(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) == 1;
}

/* The answers to what was asked last, for nobody. */
static void
answers_drop(void)
{
	PGresult *result;

	while ((result = PQgetResult(connection)))
		PQclear(result);
}

/*
 * Is the connection of the last request as this one wants it, and alive?  It is the
 * first time that somebody waits for that server since then: a server may stand still,
 * and the next one be asked.
 */
static bool
connection_fits(char *const parts[])
{
	if (!connection)
		return false;
	for (int part = HOST; part < QUERY; part++)
		if (strcmp(parts[part], connected_to[part]) != 0)
			return false;
	answers_drop();
	/* the server's farewell may wait to be read, and behind it the end */
	while (is_readable(PQsocket(connection)))
		if (!PQconsumeInput(connection))
			return false;
	return PQstatus(connection) == CONNECTION_OK;
}

static void
connection_make(char *const parts[])
{
	const char *values[] = { parts[HOST], parts[PORT], parts[USER],
		parts[DATABASE], parts[OPTIONS], "psql", NULL };

	PQfinish(connection);
	connection = PQconnectdbParams(KEYWORDS, values, 0);
	for (int part = HOST; part < QUERY; part++) {
		free(connected_to[part]);
		connected_to[part] = strdup(parts[part]);
	}
}

static void
rows_print(const PGresult *result, FILE *rows)
{
	for (int row = 0; row < PQntuples(result); row++)
		for (int column = 0; column < PQnfields(result); column++)
			fprintf(rows, "%s%s", PQgetvalue(result, row, column),
			    column + 1 < PQnfields(result) ? "|" : "\n");
}

static enum status
query_execute(const char *query, FILE *rows, FILE *messages)
{
	enum status status = DONE;
	PGresult *result;

	if (!PQsendQuery(connection, query)) {
		fputs(PQerrorMessage(connection), messages);
		return NO_CONNECTION;
	}
	while ((result = PQgetResult(connection))) {
		switch (PQresultStatus(result)) {
		case PGRES_TUPLES_OK:
			rows_print(result, rows);
			break;
		case PGRES_COMMAND_OK:
		case PGRES_EMPTY_QUERY:
			break;
		default:
			fputs(PQresultErrorMessage(result), messages);
			status = FAILED;
		}
		PQclear(result);
	}
	return PQstatus(connection) == CONNECTION_OK ? status : NO_CONNECTION;
}

static enum status
request_execute(char *const parts[])
{
	FILE *rows = file_opened("rows", "w"),
	     *messages = file_opened("messages", "w");
	enum status status = NO_CONNECTION;

	if (!connection_fits(parts))
		connection_make(parts);
	PQsetNoticeProcessor(connection, message_print, messages);
	if (PQstatus(connection) == CONNECTION_OK)
		status = query_execute(parts[QUERY], rows, messages);
	else
		fprintf(
		    messages, "psql: error: %s", PQerrorMessage(connection));
	PQsetNoticeProcessor(connection, message_print, stderr);
	fclose(rows);
	fclose(messages);
	return status;
}

/* Asks for it only.  Plans are kept: no query sees them. */
static void
traces_remove(void)
{
	const char *traces = "set session authorization default; reset all;"
	                     " deallocate all; close all; unlisten *;"
	                     " select pg_advisory_unlock_all();"
	                     " discard sequences; discard temp";
	char query[256];

	snprintf(query, sizeof(query), "%s%s",
	    PQtransactionStatus(connection) == PQTRANS_IDLE ? "" : "rollback; ",
	    traces);
	PQsendQuery(connection, query);
}

static bool
request_read(FILE *ask, char *parts[], size_t sizes[])
{
	for (int part = 0; part < PARTS; part++)
		if (getdelim(&parts[part], &sizes[part], '\0', ask) == -1)
			return false;
	return true;
}

static void
status_tell(enum status status, int done)
{
	FILE *file = file_opened("status", "w");

	fprintf(file, "%d\n", status);
	fclose(file);
	dprintf(done, "x");
}

int
main(int argc, char *argv[])
{
	char *parts[PARTS] = { 0 };
	size_t sizes[PARTS] = { 0 };
	FILE *ask;
	int done;

	if (argc != 2 || chdir(argv[1])) {
		fputs("usage: session DIR\n", stderr);
		return 2;
	}
	/* both are open for both, so that no end waits for the other one */
	ask = file_opened("ask", "r+");
	done = open("done", O_RDWR | O_CLOEXEC);
	while (request_read(ask, parts, sizes)) {
		status_tell(request_execute(parts), done);
		traces_remove();
	}
	return 1;
}
