/*
 * local_server.c - the private PostgreSQL of a local workspace.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/mono.h"
#include "common/pg.h"
#include "console/child.h"
#include "console/local.h"

#define OLDEST_VERSION 14
#define OUTPUT_MAX 65536
#define START_MS 60000 /* it may have to recover first */
#define LOOK_MS 20

/* Finding the server's programs ------------------------------------------- */

/* The version in a path like /usr/lib/postgresql/15/bin; 0 if none. */
static int
path_version(const char *path)
{
	size_t at = strcspn(path, "0123456789");

	return atoi(path + at);
}

/* The version that made the cluster; 0 if there is none yet. */
static int
cluster_version(const struct local *local)
{
	char *path = xasprintf("%s/PG_VERSION", local->data);
	FILE *file = fopen(path, "re");
	int version = 0;

	if (file == NULL && errno == ENOMEM)
		fatal("cannot read %s", path);
	if (file != NULL) {
		if (fscanf(file, "%d", &version) != 1)
			version = 0;
		fclose(file);
	}
	free(path);
	return version;
}

/* In the usual places: the cluster's version, or the newest. */
static char *
find_in_usual_places(int wanted)
{
	static const char *const patterns[] = {
		"/usr/lib/postgresql/*/bin/pg_ctl",
		"/usr/pgsql-*/bin/pg_ctl",
	};
	char *best = NULL;
	int best_version = wanted != 0 ? wanted - 1 : OLDEST_VERSION - 1;
	size_t i, j;
	glob_t found;
	int code;

	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		code = glob(patterns[i], 0, NULL, &found);
		if (code == GLOB_NOSPACE)
			fatalx("cannot allocate the list of %s", patterns[i]);
		if (code == 0)
			for (j = 0; j < found.gl_pathc; j++) {
				int version = path_version(found.gl_pathv[j]);

				if (version <= best_version ||
				    (wanted != 0 && version != wanted))
					continue;
				free(best);
				best = xstrdup(found.gl_pathv[j]);
				best_version = version;
			}
		globfree(&found);
	}
	if (best != NULL)
		*strrchr(best, '/') = '\0';
	return best;
}

/* The directory of the first `program` in PATH. */
static char *
find_in_path(const char *program)
{
	const char *path = getenv("PATH"), *at;
	char *candidate, *dir;
	size_t len;

	for (at = path != NULL ? path : ""; *at != '\0';
	     at += len + (at[len] == ':')) {
		len = strcspn(at, ":");
		dir = xstrndup(at, len);
		candidate = xasprintf("%s/%s", dir, program);
		if (access(candidate, X_OK) == 0) {
			free(candidate);
			return dir;
		}
		free(candidate);
		free(dir);
	}
	return NULL;
}

/* A program of the server's, for the caller to free(). */
static char *
server_program(const struct local *local, const char *name, struct error *err)
{
	char *dir = find_in_usual_places(cluster_version(local)), *path;

	if (dir == NULL)
		dir = find_in_path("pg_ctl");
	if (dir == NULL) {
		error_set(err, "PostgreSQL's server is not installed");
		error_hint(err, "Install it, on Debian: apt-get install "
		                "postgresql.");
		return NULL;
	}
	path = xasprintf("%s/%s", dir, name);
	free(dir);
	return path;
}

/* Making the cluster ------------------------------------------------------ */

/* `path` as the only element of a list in postgresql.conf. */
static void
add_quoted(struct buf *buf, const char *path)
{
	buf_adds(buf, "'\"");
	for (; *path != '\0'; path++) {
		if (strchr("'\\\"", *path) != NULL)
			buf_addc(buf, *path);
		buf_addc(buf, *path);
	}
	buf_adds(buf, "\"'");
}

static bool
write_file(const struct local *local, const char *name, int flags,
    const char *text, struct error *err)
{
	char *path = xasprintf("%s/%s", local->data, name);
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0600);
	size_t len = strlen(text);
	bool ok = fd >= 0 && write(fd, text, len) == (ssize_t)len &&
	          (local->user == NULL ||
	              fchown(fd, local->user->uid, local->user->gid) == 0);

	if (fd >= 0)
		ok = close(fd) == 0 && ok;
	if (!ok)
		error_set_errno(err, "cannot write %s", path);
	free(path);
	return ok;
}

/* Written at each start, since the directory may have been moved. */
static bool
write_settings(const struct local *local, struct error *err)
{
	struct buf text;
	bool ok;

	buf_init(&text, 0);
	buf_adds(&text, "# written by wf-console local start\n"
	                "listen_addresses = ''\n"
	                "port = " LOCAL_PORT "\n"
	                "unix_socket_permissions = 0700\n"
	                "unix_socket_directories = ");
	add_quoted(&text, local->run);
	buf_addc(&text, '\n');
	ok = write_file(local, "pgwf.conf", O_CREAT | O_TRUNC, text.data, err);
	buf_release(&text);
	return ok;
}

static const char *
best_locale(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);

	if (locale == (locale_t)0 && errno == ENOMEM)
		fatal("cannot look for a locale");
	if (locale == (locale_t)0)
		return "--locale=C";
	freelocale(locale);
	return "--locale=C.UTF-8";
}

static bool
make_cluster(const struct local *local, struct error *err)
{
	char *initdb = server_program(local, "initdb", err);
	const char *argv[] = { initdb, "-D", local->data, "-U", local->owner,
		"-A", "trust", "-E", "UTF8", best_locale(), NULL };
	struct buf output;
	bool ok;

	if (initdb == NULL)
		return false;
	buf_init(&output, OUTPUT_MAX);
	ok = child_run(argv, local->user, &output, err);
	if (!ok && local->user != NULL)
		error_hint(err,
		    "It runs as %s, who has to get to %s: choose another "
		    "place with --dir or PGWF_HOME if not.",
		    local->user->name, local->dir);
	buf_release(&output);
	free(initdb);
	return ok && write_file(local, "postgresql.conf", O_APPEND,
	                 "\ninclude_if_exists = 'pgwf.conf'\n", err);
}

/* Starting and stopping --------------------------------------------------- */

/* Whether it lets someone in. */
static bool
is_ready(const struct local *local)
{
	struct error ignored = { 0 };
	struct pg_target target;
	struct pg *pg;

	if (!local_server_is_running(local))
		return false;
	local_target(local, "postgres", &target);
	pg = pg_connect(&target, &ignored);
	pg_free(pg);
	error_release(&ignored);
	return pg != NULL;
}

/* Until it is ready, or has ended. */
static bool
await_server(const struct local *local, pid_t pid, const char *log, off_t begin,
    struct error *err)
{
	struct mono end = mono_add_ms(mono_now(), START_MS);

	while (!is_ready(local)) {
		if (waitpid(pid, NULL, WNOHANG) == pid) {
			local_explain(
			    "PostgreSQL does not start", log, begin, err);
			return false;
		}
		if (mono_before(end, mono_now())) {
			kill(pid, SIGINT);
			local_explain(
			    "PostgreSQL does not get ready", log, begin, err);
			return false;
		}
		poll(NULL, 0, LOOK_MS);
	}
	return true;
}

/* Without pg_ctl, which hands the directory's name to a shell. */
static bool
launch(const struct local *local, const char *log, struct error *err)
{
	char *postgres = server_program(local, "postgres", err);
	const char *argv[] = { postgres, "-D", local->data, NULL };
	struct child child = {
		.argv = argv,
		.user = local->user,
		.output =
		    open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600),
		.is_detached = true,
	};
	off_t begin = local_log_end(log);
	pid_t pid = -1;

	if (child.output < 0)
		error_set_errno(err, "cannot open %s", log);
	else if (postgres != NULL)
		pid = child_start(&child, err);
	if (child.output >= 0)
		close(child.output);
	free(postgres);
	return pid > 0 && await_server(local, pid, log, begin, err);
}

bool
local_server_start(const struct local *local, struct error *err)
{
	char *log;
	bool ok;

	if (local_server_is_running(local))
		return true;
	log = xasprintf("%s/server.log", local->log);
	ok = (cluster_version(local) != 0 || make_cluster(local, err)) &&
	     write_settings(local, err) && launch(local, log, err);
	free(log);
	return ok;
}

static bool
control(const struct local *local, const char *verb, struct error *err)
{
	char *pg_ctl = server_program(local, "pg_ctl", err);
	const char *argv[] = { pg_ctl, "-D", local->data, "-m", "fast", "-w",
		verb, NULL };
	struct buf output;
	bool ok;

	buf_init(&output, OUTPUT_MAX);
	ok = pg_ctl != NULL && child_run(argv, local->user, &output, err);
	buf_release(&output);
	free(pg_ctl);
	return ok;
}

/* As PostgreSQL sees it, which looks at processes and not at the socket. */
static bool
has_server(const struct local *local)
{
	struct error ignored = { 0 };
	bool has =
	    cluster_version(local) != 0 && control(local, "status", &ignored);

	error_release(&ignored);
	return has;
}

bool
local_server_stop(const struct local *local, struct error *err)
{
	struct error failed = { 0 };
	bool ok = !has_server(local) || control(local, "stop", &failed) ||
	          !has_server(local);

	if (!ok)
		error_set(err, "%s", failed.message);
	error_release(&failed);
	return ok;
}
