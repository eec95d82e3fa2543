#include "console/local.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/pg.h"
#include "console/subprocess.h"

/* Not below /root if root runs it: no one else can enter there. */
#define ROOT_DIRECTORY "/var/lib/pgwf"
#define USER_DIRECTORY ".local/share/pgwf"

static char *
usual_directory(const struct passwd *me)
{
	const char *wish = getenv("PGWF_HOME"), *home = getenv("HOME");

	if (wish != NULL && wish[0] != '\0')
		return xstrdup(wish);
	if (geteuid() == 0)
		return xstrdup(ROOT_DIRECTORY);
	return xasprintf("%s/%s",
	    home != NULL && home[0] == '/' ? home : me->pw_dir, USER_DIRECTORY);
}

static char *
make_absolute(const char *dir)
{
	char here[PATH_MAX];

	if (dir[0] == '/' || getcwd(here, sizeof(here)) == NULL)
		return xstrdup(dir);
	return xasprintf("%s/%s", here, dir);
}

static const struct passwd *
find_user(const char *name)
{
	const struct passwd *found;

	errno = 0;
	found = getpwnam(name);
	if (found == NULL && errno == ENOMEM)
		fatal("cannot look for the user %s", name);
	return found;
}

/* The user for root's server; NULL if no such user exists. */
static struct account *
unprivileged_user(void)
{
	const struct passwd *found = find_user("postgres");
	struct account *user;

	if (found == NULL && (found = find_user("nobody")) == NULL)
		return NULL;
	user = xmalloc(sizeof(*user));
	*user = (struct account){
		.name = xstrdup(found->pw_name),
		.uid = found->pw_uid,
		.gid = found->pw_gid,
	};
	return user;
}

/* The path of a socket must be short, and libpq reads a comma as "or". */
static bool
check_socket(const struct local *local, struct error *err)
{
	struct sockaddr_un address;

	if (strlen(local->run) + strlen("/.s.PGSQL." LOCAL_PORT) >=
	    sizeof(address.sun_path))
		error_set(
		    err, "%s is too long a name for a socket", local->run);
	else if (strchr(local->run, ',') != NULL)
		error_set(err, "%s can't hold a socket: there is a comma in it",
		    local->run);
	else
		return true;
	error_hint(err, "Choose another place with --dir or PGWF_HOME.");
	return false;
}

bool
local_init(struct local *local, const char *dir, struct error *err)
{
	const struct passwd *me = getpwuid(geteuid());
	char *place;

	*local = (struct local){ .home = -1, .lock = -1 };
	if (me == NULL) {
		error_set(err, "user %d has no name", (int)geteuid());
		return false;
	}
	local->owner = xstrdup(me->pw_name);
	place = dir != NULL ? xstrdup(dir) : usual_directory(me);
	local->dir = make_absolute(place);
	free(place);
	local->data = local_path(local, "data");
	local->run = local_path(local, "run");
	local->log = local_path(local, "log");
	if (geteuid() == 0 && (local->user = unprivileged_user()) == NULL) {
		error_set(err, "PostgreSQL can not run as root, and there is "
		               "no user postgres or nobody");
		return false;
	}
	return check_socket(local, err);
}

void
local_release(struct local *local)
{
	local_unlock(local);
	if (local->home >= 0)
		close(local->home);
	free(local->dir);
	free(local->data);
	free(local->run);
	free(local->log);
	free(local->owner);
	if (local->user != NULL)
		free(local->user->name);
	free(local->user);
}

char *
local_path(const struct local *local, const char *name)
{
	return xasprintf("%s/%s", local->dir, name);
}

/*
 * When this process or the driver connects to a socket, only the user of the
 * server may answer.
 */
static void
expect_server(const struct local *local)
{
	setenv("PGREQUIREPEER",
	    local->user != NULL ? local->user->name : local->owner, 1);
}

void
local_target(
    const struct local *local, const char *dbname, struct pg_target *target)
{
	expect_server(local);
	*target = (struct pg_target){
		.dbname = dbname,
		.host = local->run,
		.port = LOCAL_PORT,
		.user = local->owner,
		.program = "wf-console",
	};
}

off_t
local_log_end(const struct local *local, const char *log)
{
	struct stat file;

	return fstatat(local->home, log, &file, AT_SYMLINK_NOFOLLOW) == 0
	           ? file.st_size
	           : 0;
}

/*
 * How much a line of a log tells why a program ended: 0 is nothing, 2 is best.
 */
static int
weigh(const char *line)
{
	if (strstr(line, ": hint: ") != NULL || strstr(line, "HINT:") != NULL ||
	    strstr(line, ": detail: ") != NULL)
		return 0;
	return strstr(line, "FATAL:") != NULL ? 2 : 1;
}

/* The last of the lines that tell most; free() it. */
static char *
find_reason(const struct local *local, const char *log, off_t begin)
{
	struct error ignored = { 0 };
	char *line = NULL, *reason = NULL;
	int fd = local_open_file(local, log, O_RDONLY, &ignored);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	size_t size = 0;
	int best = 1;

	error_release(&ignored);
	if (file != NULL)
		fseeko(file, begin, SEEK_SET);
	while (file != NULL && getline(&line, &size, file) > 0) {
		if (weigh(line) < best)
			continue;
		best = weigh(line);
		free(reason);
		reason = xstrndup(line, strcspn(line, "\n"));
	}
	if (file != NULL)
		fclose(file);
	free(line);
	return reason;
}

void
local_explain(const struct local *local, const char *message, const char *log,
    off_t begin, struct error *err)
{
	char *reason = find_reason(local, log, begin);

	if (reason != NULL)
		error_set(err, "%s: %s", message, reason);
	else
		error_set(err, "%s", message);
	error_hint(err, "Its log is %s/%s.", local->dir, log);
	free(reason);
}

/* Whether the server's user is at the other end of the socket `fd`. */
static bool
is_server(const struct local *local, int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	       peer.uid == local_server_uid(local);
}

bool
local_server_is_running(const struct local *local)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char *path;
	int fd;
	bool is_there;

	if (local->home < 0)
		return false;
	path = xasprintf("%s/.s.PGSQL." LOCAL_PORT, local->run);
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	is_there =
	    fd >= 0 &&
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    is_server(local, fd);
	if (fd >= 0)
		close(fd);
	free(path);
	return is_there;
}

char *
local_find_running(void)
{
	struct error ignored = { 0 };
	struct local local;
	char *run = NULL;

	if (local_init(&local, NULL, &ignored) &&
	    local_open(&local, &ignored) && local_server_is_running(&local)) {
		expect_server(&local);
		run = xstrdup(local.run);
	}
	local_release(&local);
	error_release(&ignored);
	return run;
}
