#include "common/pg_hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "common/log.h"
#include "common/mem.h"

enum {
	SHORTEST_S = 2, /* libpq's, too */
};

/*
 * This sslmode does not exist.  libpq gathers all options, then refuses the mode
 * before it looks for a host: there is no other way to ask for the options.
 */
static PQconninfoOption *
gather(const char *conninfo)
{
	const char *keywords[] = { "dbname", "sslmode", NULL };
	const char *values[] = { conninfo, "none, only gather", NULL };
	PQconninfoOption *options;
	PGconn *conn;

	errno = 0; /* without memory libpq gives only some of the options */
	conn = PQconnectStartParams(keywords, values, 1);
	options = PQconninfo(conn);
	if (options == NULL || errno == ENOMEM)
		fatalx("cannot allocate the options of a connection");
	PQfinish(conn);
	return options;
}

/* An option's value; NULL: it has none. */
static const char *
value_of(const PQconninfoOption *options, const char *keyword)
{
	const PQconninfoOption *at;

	for (at = options; at != NULL && at->keyword != NULL; at++)
		if (strcmp(at->keyword, keyword) == 0)
			return at->val != NULL && *at->val != '\0' ? at->val
			                                           : NULL;
	return NULL;
}

/* How many elements a list has. */
static size_t
length(const char *list)
{
	size_t n = list != NULL;

	for (; list != NULL && *list != '\0'; list++)
		n += *list == ',';
	return n;
}

/* Element `i` of a list, or its only element; NULL if it is empty. */
static char *
element(const char *list, size_t i)
{
	size_t len;

	if (list == NULL)
		return NULL;
	if (length(list) == 1)
		i = 0;
	for (; i > 0; i--)
		list += strcspn(list, ",") + 1;
	len = strcspn(list, ",");
	return len > 0 ? xstrndup(list, len) : NULL;
}

static bool
is_socket(const struct pg_host *host)
{
	return host->host != NULL &&
	       (host->host[0] == '/' || host->host[0] == '@');
}

static bool
is_complete(const struct pg_host *host, bool has_addresses)
{
	if (host->port == NULL)
		return false;
	return has_addresses ? host->hostaddr != NULL ||
	                           (host->host != NULL && !is_socket(host))
	                     : host->host != NULL;
}

/* Split the list.  False if a part of it cannot be given to libpq by itself. */
static bool
split(struct pg_hosts *hosts, const PQconninfoOption *options)
{
	const char *names = value_of(options, "host");
	const char *addresses = value_of(options, "hostaddr");
	const char *ports = value_of(options, "port");
	struct pg_host *host;
	size_t i;

	hosts->count = length(addresses != NULL ? addresses : names);
	if (hosts->count == 0 ||
	    (names != NULL && length(names) != hosts->count) ||
	    (length(ports) != 1 && length(ports) != hosts->count))
		return false;
	hosts->items = xcalloc(hosts->count, sizeof(hosts->items[0]));
	for (i = 0; i < hosts->count; i++) {
		host = &hosts->items[i];
		host->host = element(names, i);
		host->hostaddr = element(addresses, i);
		host->port = element(ports, i);
		if (!is_complete(host, addresses != NULL))
			return false;
	}
	return true;
}

static int64_t
timeout_ms(const char *seconds)
{
	long s = seconds != NULL ? strtol(seconds, NULL, 10) : 0;

	if (s <= 0)
		return 0;
	return (int64_t)(s < SHORTEST_S ? SHORTEST_S : s) * 1000;
}

void
pg_hosts_init(struct pg_hosts *hosts, const char *conninfo)
{
	PQconninfoOption *options = gather(conninfo);

	*hosts = (struct pg_hosts){ 0 };
	if (!split(hosts, options)) {
		pg_hosts_release(hosts);
		hosts->items = xcalloc(1, sizeof(hosts->items[0]));
		hosts->count = 1;
	}
	hosts->timeout_ms = timeout_ms(value_of(options, "connect_timeout"));
	PQconninfoFree(options);
}

void
pg_hosts_release(struct pg_hosts *hosts)
{
	size_t i;

	for (i = 0; hosts->items != NULL && i < hosts->count; i++) {
		free(hosts->items[i].host);
		free(hosts->items[i].hostaddr);
		free(hosts->items[i].port);
	}
	free(hosts->items);
	*hosts = (struct pg_hosts){ 0 };
}

bool
pg_host_is_name(const struct pg_host *host)
{
	return host->host != NULL && host->hostaddr == NULL && !is_socket(host);
}
