#include "common/pg_conninfo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"

/* The signs by which libpq tells a connection string from a database name. */
static bool
is_conninfo(const char *text)
{
	return strchr(text, '=') != NULL ||
	       strncmp(text, "postgresql://", 13) == 0 ||
	       strncmp(text, "postgres://", 11) == 0;
}

/*
 * libpq quotes a string that it cannot read.  The string may have a password,
 * which must not get into a log.
 */
static const char *
readable(const char *conninfo, const char *reason)
{
	if (strchr(conninfo, '@') != NULL || strstr(conninfo, "pass") != NULL)
		return "it cannot be read, and is not quoted here, as it may "
		       "have a password";
	return reason;
}

bool
pg_conninfo_check(const char *conninfo, struct error *err)
{
	char *reason = NULL;
	PQconninfoOption *options;

	if (!is_conninfo(conninfo))
		return true;
	options = PQconninfoParse(conninfo, &reason);
	if (options == NULL && reason == NULL) {
		error_set(err, "no memory to read it");
	} else if (options == NULL) {
		const char *text = readable(conninfo, reason);

		error_set(err, "%.*s", (int)strcspn(text, "\n"), text);
		error_hint(err,
		    "Write \"host=... dbname=...\", postgresql://host/dbname, "
		    "or the name of a database.");
	}
	PQfreemem(reason);
	PQconninfoFree(options);
	return options != NULL;
}

/*
 * Frees `options`, which may be NULL.  Without memory libpq loses options, and
 * reports it only by errno, which was 0 before.
 */
static char *
take(PQconninfoOption *options, const char *keyword)
{
	PQconninfoOption *option;
	char *value = NULL;

	if (errno == ENOMEM)
		fatalx("cannot allocate the options of a connection");
	for (option = options;
	     option != NULL && option->keyword != NULL && value == NULL;
	     option++)
		if (strcmp(option->keyword, keyword) == 0 &&
		    option->val != NULL)
			value = xstrdup(option->val);
	PQconninfoFree(options);
	return value;
}

char *
pg_conninfo_get(const char *conninfo, const char *keyword)
{
	if (!is_conninfo(conninfo))
		return NULL;
	errno = 0;
	return take(PQconninfoParse(conninfo, NULL), keyword);
}

char *
pg_conninfo_get_any(const char *conninfo, const char *keyword)
{
	char *value = pg_conninfo_get(conninfo, keyword);

	if (value != NULL)
		return value;
	errno = 0;
	return take(PQconndefaults(), keyword);
}
