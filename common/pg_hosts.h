/*
 * pg_hosts.h - the servers that a connection string lists, one by one.
 *
 * libpq walks a list by itself, but it has one deadline for the whole list and
 * blocks while it looks up a name.  A program that must not block walks the
 * list itself: each host is a struct pg_target with these fields.
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
	size_t count; /* at least 1 */
	/* to connect to each server; 0: no limit was given */
	int64_t timeout_ms;
};

/*
 * The servers of `conninfo`, completed by the service file, the environment and
 * libpq's defaults.  If the list is wrong, or has hosts that only libpq can
 * name, it becomes one host, all NULL: libpq then takes `conninfo` as it is.
 */
void pg_hosts_init(struct pg_hosts *hosts, const char *conninfo);
void pg_hosts_release(struct pg_hosts *hosts);

/* Whether the address of the host has to be looked up. */
bool pg_host_is_name(const struct pg_host *host);

#endif
