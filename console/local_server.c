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
#include "console/local.h"
#include "console/subprocess.h"

#define OLDEST_VERSION 14
#define OUTPUT_MAX 65536
#define START_MS 60000 /* it may have to recover first */
#define LOOK_MS 20

/*
 * Finding the server's programs -------------------------------------------
 */

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
	struct error ignored = { 0 };
	int fd = local_open_file(local, "data/PG_VERSION", O_RDONLY, &ignored);
	char text[16] = "";

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	error_release(&ignored);
	return atoi(text);
}

/* The programs in the usual places: of the cluster's version, or the newest. */
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

/* The directory in PATH that has the first `program`. */
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
	ok = subprocess_run(argv, local->user, &output, err);
	if (!ok && strstr(err->message, "No space left") != NULL)
		error_hint(err,
		    "The disk of %s is full: make room there, or choose "
		    "another place with --dir or PGWF_HOME.",
		    local->dir);
	else if (!ok && local->user != NULL)
		error_hint(err,
		    "PostgreSQL runs as %s. If this user has no access to %s, "
		    "choose another place with --dir or PGWF_HOME.",
		    local->user->name, local->dir);
	buf_release(&output);
	free(initdb);
	return ok;
}

/* Starting and stopping --------------------------------------------------- */

/* Whether it takes connections. */
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

/* Wait until it is ready, or has ended. */
static bool
await_server(
    const struct local *local, pid_t pid, off_t begin, struct error *err)
{
	struct mono end = mono_add_ms(mono_now(), START_MS);

	while (!is_ready(local)) {
		if (waitpid(pid, NULL, WNOHANG) == pid) {
			local_explain(local, "PostgreSQL does not start",
			    LOCAL_SERVER_LOG, begin, err);
			return false;
		}
		if (mono_before(end, mono_now())) {
			kill(pid, SIGINT);
			local_explain(local, "PostgreSQL does not get ready",
			    LOCAL_SERVER_LOG, begin, err);
			return false;
		}
		poll(NULL, 0, LOOK_MS);
	}
	return true;
}

/*
 * The setting with the directory of its socket; free() it.  It is a list, and a
 * quoted name in it has each quote twice.
 */
static char *
socket_setting(const struct local *local)
{
	const char *at;
	struct buf text;

	buf_init(&text, 0);
	buf_adds(&text, "unix_socket_directories=\"");
	for (at = local->run; *at != '\0'; at++) {
		if (*at == '"')
			buf_addc(&text, *at);
		buf_addc(&text, *at);
	}
	buf_addc(&text, '"');
	return buf_take(&text);
}

/*
 * This does not use pg_ctl, which gives the directory's name to a shell.  The
 * settings are given at each start, since the directory may have been moved.
 */
static pid_t
spawn(const struct local *local, int log, struct error *err)
{
	char *postgres = server_program(local, "postgres", err);
	char *directories = socket_setting(local);
	const char *argv[] = { postgres, "-D", local->data, "-c",
		"listen_addresses=", "-p", LOCAL_PORT, "-c",
		"unix_socket_permissions=0700", "-c", directories, NULL };
	struct subprocess child = {
		.argv = argv,
		.user = local->user,
		.output = log,
		.is_detached = true,
		.is_english = true,
	};
	pid_t pid = postgres != NULL ? subprocess_start(&child, err) : -1;

	free(directories);
	free(postgres);
	return pid;
}

static bool
launch(const struct local *local, struct error *err)
{
	int log = local_open_file(
	    local, LOCAL_SERVER_LOG, O_WRONLY | O_CREAT | O_APPEND, err);
	off_t begin;
	pid_t pid;

	if (log < 0)
		return false;
	begin = local_log_end(local, LOCAL_SERVER_LOG);
	pid = spawn(local, log, err);
	close(log);
	return pid > 0 && await_server(local, pid, begin, err);
}

bool
local_server_start(const struct local *local, struct error *err)
{
	return local_server_is_running(local) ||
	       ((cluster_version(local) != 0 || make_cluster(local, err)) &&
	           launch(local, err));
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
	ok = pg_ctl != NULL && subprocess_run(argv, local->user, &output, err);
	buf_release(&output);
	free(pg_ctl);
	return ok;
}

/* As PostgreSQL sees it: it looks at processes, not at the socket. */
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
