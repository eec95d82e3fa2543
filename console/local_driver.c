/*
 * local_driver.c - the driver of a local workspace, in the background.
 *
 * It inherits driver.pid open and locked: as long as it lives, the lock is
 * held.  So the number of a driver that has died misleads nobody.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"
#include "common/mono.h"
#include "common/pg.h"
#include "console/local.h"
#include "console/program.h"
#include "console/subprocess.h"

#define START_MS 15000
#define DRAIN_MS 35000 /* a little more than the limit of the driver itself */
#define KILL_MS 5000
#define LOOK_MS 50

/* Open driver.pid; `*is_free` says that no driver holds it.  -1: failed. */
static int
open_pid_file(
    const struct local *local, int flags, bool *is_free, struct error *err)
{
	int fd = local_open_file(local, "driver.pid", O_RDWR | flags, err);

	*is_free = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
	return fd;
}

/* The driver's process; 0 if none lives. */
static pid_t
find_driver(const struct local *local)
{
	struct error ignored = { 0 };
	bool is_free = true;
	char text[24] = "";
	pid_t pid = 0;
	int fd = -1;

	if (local->home >= 0)
		fd = open_pid_file(local, 0, &is_free, &ignored);
	if (fd >= 0 && !is_free && read(fd, text, sizeof(text) - 1) > 0)
		pid = (pid_t)atol(text);
	if (fd >= 0)
		close(fd);
	error_release(&ignored);
	return pid > 0 && kill(pid, 0) == 0 ? pid : 0;
}

bool
local_driver_is_running(const struct local *local)
{
	return find_driver(local) != 0;
}

bool
local_driver_is_outdated(const struct local *local)
{
	struct stat conf, pid;

	return fstatat(local->home, "driver.conf", &conf,
	           AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(local->home, "driver.pid", &pid, AT_SYMLINK_NOFOLLOW) ==
	           0 &&
	       (conf.st_mtim.tv_sec != pid.st_mtim.tv_sec
	               ? conf.st_mtim.tv_sec > pid.st_mtim.tv_sec
	               : conf.st_mtim.tv_nsec > pid.st_mtim.tv_nsec);
}

/* The value of -o for a connection of `user`; a conninfo quotes with '...'. */
static char *
connection_option(const struct local *local, const char *key, const char *user)
{
	struct buf text;
	const char *at;

	buf_init(&text, 0);
	buf_addf(&text, "%s=host='", key);
	for (at = local->run; *at != '\0'; at++) {
		if (*at == '\'' || *at == '\\')
			buf_addc(&text, '\\');
		buf_addc(&text, *at);
	}
	buf_addf(&text, "' port=%s dbname=%s user=%s", LOCAL_PORT,
	    LOCAL_DATABASE, user);
	return buf_take(&text);
}

/* People may edit the file, so it is never overwritten. */
static bool
make_configuration(const struct local *local, struct error *err)
{
	static const char text[] =
	    "# Options of the local driver, as in driver.conf.example.\n"
	    "# `wf-console local stop` and `local start` apply a change.\n"
	    "# The command line tells the driver where its workspace is.\n"
	    "\n"
	    "# Here workflows are tried out, and may call services of this\n"
	    "# machine, too: by itself a driver calls public addresses only.\n"
	    "http: { allow = [\"0.0.0.0/0\", \"::/0\", \"127.0.0.0/8\", "
	    "\"::1\"]; };\n";
	struct error exists = { 0 };
	int fd = local_open_file(
	    local, "driver.conf", O_WRONLY | O_CREAT | O_EXCL, &exists);
	bool ok = fd < 0 && errno == EEXIST;

	if (fd >= 0) {
		ok = write(fd, text, sizeof(text) - 1) > 0;
		ok = close(fd) == 0 && ok;
	}
	if (!ok)
		error_set_errno(err, "cannot write %s/driver.conf", local->dir);
	error_release(&exists);
	return ok;
}

static pid_t
spawn(const struct local *local, int log, struct error *err)
{
	char *program = program_companion("wf-driver");
	char *config = local_path(local, "driver.conf");
	char *connection =
	    connection_option(local, "connection", "pgwf_driver");
	char *sql = connection_option(local, "sql_connection", "pgwf_tasks");
	const char *argv[] = { program, "-c", config, "-o", connection, "-o",
		sql, "-o", "name=local", "-o", "log_time=true", NULL };
	struct subprocess child = {
		.argv = argv,
		.output = log,
		.is_detached = true,
	};
	pid_t pid = subprocess_start(&child, err);

	free(sql);
	free(connection);
	free(config);
	free(program);
	return pid;
}

/* The number of the latest live driver; -1 if the workspace can't be asked. */
static int64_t
latest_driver(struct pg *pg, struct error *err)
{
	struct pg_result *result = pg_query(pg,
	    "select coalesce(max(driver_id), 0) from wf.driver_v"
	    " where name = 'local' and state = 'live'",
	    NULL, err);
	int64_t latest = result != NULL ? pg_value_bigint(result, 0, 0) : -1;

	pg_result_free(result);
	return latest;
}

/* A driver that is being started. */
struct newcomer {
	pid_t pid;
	off_t log_begin; /* where its log begins */
	struct pg *pg;
	int64_t before; /* the latest driver before it */
};

/* Wait until it has registered: until then it may still fail. */
static bool
await_driver(
    const struct local *local, const struct newcomer *new, struct error *err)
{
	struct mono end = mono_add_ms(mono_now(), START_MS);

	while (latest_driver(new->pg, err) <= new->before &&
	       err->message == NULL) {
		if (waitpid(new->pid, NULL, WNOHANG) == new->pid) {
			local_explain(local, "the driver ended at once",
			    LOCAL_DRIVER_LOG, new->log_begin, err);
		} else if (mono_before(end, mono_now())) {
			kill(new->pid, SIGTERM);
			local_explain(local, "the driver does not come up",
			    LOCAL_DRIVER_LOG, new->log_begin, err);
		} else {
			poll(NULL, 0, LOOK_MS);
		}
	}
	return err->message == NULL;
}

/*
 * Start it with driver.pid, `lock`, open and locked.  Its number is written
 * there.
 */
static bool
launch(const struct local *local, struct newcomer *new, int lock,
    struct error *err)
{
	int log = local_open_file(
	    local, LOCAL_DRIVER_LOG, O_WRONLY | O_CREAT | O_APPEND, err);

	if (log < 0)
		return false;
	new->pid = spawn(local, log, err);
	close(log);
	if (new->pid > 0 && ftruncate(lock, 0) == 0 &&
	    dprintf(lock, "%d\n", (int)new->pid) > 0)
		return true;
	if (new->pid > 0) {
		error_set_errno(err, "cannot write driver.pid");
		kill(new->pid, SIGTERM);
	}
	return false;
}

static bool
start(const struct local *local, int lock, struct error *err)
{
	struct newcomer new = { .before = -1 };
	struct pg_target target;
	bool ok;

	new.log_begin = local_log_end(local, LOCAL_DRIVER_LOG);
	local_target(local, LOCAL_DATABASE, &target);
	if ((new.pg = pg_connect(&target, err)) != NULL)
		new.before = latest_driver(new.pg, err);
	ok = new.before >= 0 && launch(local, &new, lock, err) &&
	     await_driver(local, &new, err);
	pg_free(new.pg);
	return ok;
}

bool
local_driver_start(const struct local *local, struct error *err)
{
	bool is_free, ok = make_configuration(local, err);
	int lock = -1;

	if (ok)
		ok = (lock = open_pid_file(local, O_CREAT, &is_free, err)) >= 0;
	if (ok && is_free)
		ok = fcntl(lock, F_SETFD, 0) == 0 && start(local, lock, err);
	if (lock >= 0)
		close(lock);
	return ok;
}

/* Ask the driver to end, and wait; true once it is gone. */
static bool
end_driver(
    const struct local *local, pid_t pid, int signal_number, int within_ms)
{
	struct mono end = mono_add_ms(mono_now(), within_ms);

	kill(pid, signal_number);
	while (find_driver(local) == pid) {
		if (mono_before(end, mono_now()))
			return false;
		poll(NULL, 0, LOOK_MS);
	}
	return true;
}

bool
local_driver_stop(const struct local *local, struct error *err)
{
	pid_t pid = find_driver(local);

	if (pid != 0 && !end_driver(local, pid, SIGTERM, DRAIN_MS) &&
	    !end_driver(local, pid, SIGKILL, KILL_MS)) {
		error_set(
		    err, "the driver, process %d, does not end", (int)pid);
		return false;
	}
	(void)unlinkat(local->home, "driver.pid", 0);
	return true;
}
