/*
 * local.h - the workspace of one's own: a private PostgreSQL in a directory,
 * reached through a socket in it, with a driver beside it.
 *
 *	data/	    the cluster
 *	run/	    its socket; only the owner may enter
 *	log/	    server.log, driver.log
 *	driver.conf options of the driver, for people to edit
 *	driver.pid  locked as long as the driver lives
 *	lock	    held by whoever starts or stops
 *
 * PostgreSQL refuses to run as root.  Root's server therefore runs as an
 * unprivileged user, who owns data, run and log.
 */
#ifndef CONSOLE_LOCAL_H
#define CONSOLE_LOCAL_H

#include <stdbool.h>
#include <sys/types.h>

struct account;
struct error;
struct pg_target;

#define LOCAL_DATABASE "pgwf"
#define LOCAL_PORT "5432" /* names the socket, nothing else */

/* All strings are owned. */
struct local {
	char *dir;
	char *data, *run, *log;
	char *owner;          /* the cluster's superuser: who we are */
	struct account *user; /* who the server runs as; NULL: as we do */
	int lock;
};

/*
 * The directory `dir`, or if that is NULL $PGWF_HOME or the usual place.
 * Nothing is made or started yet.
 */
bool local_init(struct local *local, const char *dir, struct error *err);
void local_release(struct local *local);

/* Make what is missing of the directory; let no one else start or stop. */
bool local_lock(struct local *local, struct error *err);
void local_unlock(struct local *local);

/* A file in the directory, for the caller to free(). */
char *local_path(const struct local *local, const char *name);

/* How to reach the database called `dbname` in it. */
void local_target(
    const struct local *local, const char *dbname, struct pg_target *target);

/*
 * The error `message`, with the reason that a log gives from `begin` on:
 * where the log ended before it happened.
 */
off_t local_log_end(const char *log);
void local_explain(
    const char *message, const char *log, off_t begin, struct error *err);

/*
 * The socket's directory of the local workspace in its usual place, if its
 * server runs: for the caller to free().  NULL if it does not.
 */
char *local_find_running(void);

/* The server (local_server.c): start is fine if it runs, stop if not. */
bool local_server_is_running(const struct local *local);
bool local_server_start(const struct local *local, struct error *err);
bool local_server_stop(const struct local *local, struct error *err);

/* The driver (local_driver.c), likewise. */
bool local_driver_is_running(const struct local *local);
bool local_driver_start(const struct local *local, struct error *err);
bool local_driver_stop(const struct local *local, struct error *err);

#endif
