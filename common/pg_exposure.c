#include "common/pg_exposure.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <libpq-fe.h>

#include "common/log.h"
#include "common/mem.h"

/* Whether both ends are on one machine, with only the kernel between them. */
static bool
is_local_socket(const PGconn *conn)
{
	struct sockaddr_storage peer = { 0 };
	socklen_t len = sizeof(peer);

	return getpeername(PQsocket(conn), (struct sockaddr *)&peer, &len) ==
	           0 &&
	       peer.ss_family == AF_UNIX;
}

/* The sslmode that was used, wherever it was set; for the caller to free(). */
static char *
mode_of(const PGconn *conn)
{
	PQconninfoOption *options, *option;
	char *mode = NULL;

	options = PQconninfo((PGconn *)conn);
	if (options == NULL)
		fatalx("cannot allocate the options of a connection");
	for (option = options; option != NULL && option->keyword != NULL;
	     option++)
		if (strcmp(option->keyword, "sslmode") == 0 &&
		    option->val != NULL)
			mode = xstrdup(option->val);
	PQconninfoFree(options);
	return mode != NULL ? mode : xstrdup("");
}

/* What somebody on the network can do to the connection; NULL: nothing. */
static const char *
danger(const PGconn *conn, const char *mode)
{
	if (!PQsslInUse((PGconn *)conn))
		return "is not encrypted: whoever is on the way can read and "
		       "change everything";
	if (strcmp(mode, "verify-full") == 0)
		return NULL;
	if (strcmp(mode, "verify-ca") == 0)
		return "is encrypted, but the name of the server was not "
		       "checked: whoever has another certificate of the same "
		       "authority can read and change everything";
	return "is encrypted, but no check of the server's certificate was "
	       "asked for: whoever takes the place of the server can read and "
	       "change everything";
}

char *
pg_exposure_of(const struct pg_conn *conn)
{
	const char *host, *what;
	char *mode, *text = NULL;

	/* with Kerberos both sides prove their identity */
	if (is_local_socket(conn) || PQgssEncInUse((PGconn *)conn))
		return NULL;
	mode = mode_of(conn);
	what = danger(conn, mode);
	host = PQhost(conn);
	if (what != NULL)
		text = xasprintf("the connection to %s %s (sslmode=%s); "
		                 "sslmode=verify-full prevents that",
		    host != NULL && *host != '\0' ? host : "the server", what,
		    mode);
	free(mode);
	return text;
}
