/*
 * local.h - the local workspace: a private PostgreSQL in a directory, reached
 * through a socket in it, and a driver.
 *
 *	data/	    the cluster
 *	run/	    its socket; only the server's user may enter
 *	log/	    server.log, driver.log
 *	driver.conf options of the driver, for people to edit
 *	driver.pid  locked as long as the driver lives
 *	lock	    held by whoever starts or stops
 *
 * PostgreSQL refuses to run as root.  Root's server therefore runs as an
 * unprivileged user, who owns data and run.  All else is root's, and root
 * writes nothing into these two: the server has its settings on its command
 * line, and its log is open when it begins.
 */
#ifndef CONSOLE_LOCAL_H
#define CONSOLE_LOCAL_H

#include <stdbool.h>
#include <sys/types.h>

struct account;
struct error;
struct pg_target;

#define LOCAL_SERVER_LOG "log/server.log"
#define LOCAL_DRIVER_LOG "log/driver.log"
#define LOCAL_DATABASE "pgwf"
#define LOCAL_PORT "5432" /* only part of the socket's name */

/* All strings are owned. */
struct local {
	char *dir;
	char *data, *run, *log;
	/* the cluster's superuser: the user of this process */
	char *owner;
	/* the user of the server; NULL: the user of this process */
	struct account *user;
	int home; /* `dir`, opened; -1: it is not there */
	int lock;
};

/*
 * The directory `dir`, or if that is NULL $PGWF_HOME or the usual place.
 * Nothing is made or started yet.
 */
bool local_init(struct local *local, const char *dir, struct error *err);
void local_release(struct local *local);

/*
 * Open the directory, if it is there (local_place.c).  False if somebody else
 * may have prepared it or may change it: a directory of its path
 * (common/way.h), or one of the files above.
 */
bool local_open(struct local *local, struct error *err);

/*
 * Make what is missing in it and open it; lock it against other starts and
 * stops.
 */
bool local_lock(struct local *local, struct error *err);
void local_unlock(struct local *local);

/*
 * Open the file `name` of the directory, never by a link; -1 on failure, with
 * `err` and errno set.  It is refused if it has the wrong owner, if somebody
 * else may write to it, or if it has a second name.
 */
int local_open_file(
    const struct local *local, const char *name, int flags, struct error *err);

/* The user that the server runs as. */
uid_t local_server_uid(const struct local *local);

/* A file in the directory, for the caller to free(). */
char *local_path(const struct local *local, const char *name);

/* How to reach the database called `dbname` in it. */
void local_target(
    const struct local *local, const char *dbname, struct pg_target *target);

/*
 * Set the error `message`, with a reason from a log of the directory.  The log
 * is read from `begin`, its end before the event.
 */
off_t local_log_end(const struct local *local, const char *log);
void local_explain(const struct local *local, const char *message,
    const char *log, off_t begin, struct error *err);

/*
 * The directory of the socket, of the local workspace in its usual place, if
 * its server runs: for the caller to free().  NULL if it does not.
 */
char *local_find_running(void);

/*
 * The server (local_server.c): no error if it runs already, or has stopped
 * already.
 */
bool local_server_is_running(const struct local *local);
bool local_server_start(const struct local *local, struct error *err);
bool local_server_stop(const struct local *local, struct error *err);

/* The driver (local_driver.c), likewise. */
bool local_driver_is_running(const struct local *local);

/* Whether driver.conf is newer than the start of the driver that runs. */
bool local_driver_is_outdated(const struct local *local);
bool local_driver_start(const struct local *local, struct error *err);
bool local_driver_stop(const struct local *local, struct error *err);

#endif
