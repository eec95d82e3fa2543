/*
 * pg_hosts.h - the servers that a connection string lists, one by one.
 *
 * libpq walks a list by itself, but has one deadline for all of it and looks
 * names up while everybody waits.  So whoever may not wait walks it himself:
 * each host is a struct pg_target with these fields.
 */
#ifndef COMMON_PG_HOSTS_H
#define COMMON_PG_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* NULL leaves a field to libpq. */
struct pg_host {
	char *host;     /* a name, an address, the directory of a socket */
	char *hostaddr; /* its address */
	char *port;
};

struct pg_hosts {
	struct pg_host *items;
	size_t count;       /* at least 1 */
	int64_t timeout_ms; /* for each of them, to connect; 0: none given */
};

/*
 * What `conninfo` says, with the service file, the environment and libpq's
 * defaults behind it.  A list that is wrong, or has hosts that only libpq
 * can name, is one host, all NULL: libpq takes it as it is.
 */
void pg_hosts_init(struct pg_hosts *hosts, const char *conninfo);
void pg_hosts_release(struct pg_hosts *hosts);

/* Whether its address has to be looked up. */
bool pg_host_is_name(const struct pg_host *host);

#endif
