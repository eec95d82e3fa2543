#include "common/way.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"

enum {
	MAX_LINKS = 40, /* the kernel's limit */
};

/* A walk along a path. */
struct walk {
	struct way *way;
	int at;          /* the directory that was reached */
	struct buf name; /* its name, without the last slash */
	bool is_shared;  /* everybody may put files into it */
	/* the part of the path that is left: empty, or from a slash on */
	char *rest;
	int links; /* how many links were followed */
};

/* Trusted users ----------------------------------------------------------- */

static bool
is_trusted(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

char *
way_user(uid_t uid)
{
	const struct passwd *user = getpwuid(uid);

	return user != NULL ? xstrdup(user->pw_name)
	                    : xasprintf("user %u", (unsigned)uid);
}

/* Some systems give each user a group of the same name, and let it write. */
static bool
is_own_group(gid_t gid)
{
	const struct passwd *user = geteuid() != 0 ? getpwuid(geteuid()) : NULL;
	const struct group *group;

	if (user == NULL || user->pw_gid != gid)
		return false;
	group = getgrgid(gid);
	return group != NULL && strcmp(group->gr_name, user->pw_name) == 0 &&
	       group->gr_mem[0] == NULL;
}

static bool
others_may_write(const struct stat *status)
{
	return (status->st_mode & S_IWOTH) != 0 ||
	       ((status->st_mode & S_IWGRP) != 0 &&
	           !is_own_group(status->st_gid));
}

bool
way_is_open_to_others(const struct stat *status)
{
	return !is_trusted(status->st_uid) || others_may_write(status);
}

/* Step by step ------------------------------------------------------------ */

static const char *
name_of(const struct walk *walk)
{
	return walk->name.len > 0 ? walk->name.data : "/";
}

/* "root", or "root or USER". */
static void
hint_owner(struct error *err)
{
	char *me = way_user(geteuid());

	error_hint(err,
	    "Each directory and link on the way has to belong to root%s%s, "
	    "and nobody else may write to it.",
	    geteuid() != 0 ? " or " : "", geteuid() != 0 ? me : "");
	free(me);
}

static bool
refuse_owner(const struct walk *walk, const char *kind, const char *name,
    uid_t uid, struct error *err)
{
	char *owner = way_user(uid);

	error_set(err, "%s may be changed by others: the %s %s belongs to %s",
	    walk->way->path, kind, name, owner);
	hint_owner(err);
	free(owner);
	errno = EPERM;
	return false;
}

static bool
check_directory(struct walk *walk, const struct stat *status, struct error *err)
{
	const char *name = name_of(walk);

	walk->is_shared = others_may_write(status);
	if (!is_trusted(status->st_uid))
		return refuse_owner(
		    walk, "directory", name, status->st_uid, err);
	if (!walk->is_shared)
		return true;
	if ((status->st_mode & S_ISVTX) != 0) {
		if (walk->way->shared == NULL)
			walk->way->shared = xstrdup(name);
		return true;
	}
	error_set(err,
	    "%s may be changed by others: the directory %s has mode %04o",
	    walk->way->path, name, status->st_mode & 07777);
	error_hint(err, "chmod go-w %s, or choose another place for it.", name);
	errno = EPERM;
	return false;
}

/*
 * Where everybody may put files, a file of root may have been moved there by
 * anyone.
 */
static bool
check_shared(const struct walk *walk, const char *kind, struct error *err)
{
	if (!walk->is_shared)
		return true;
	error_set(err,
	    "%s may be changed by others: everybody may put a %s into %s",
	    walk->way->path, kind, name_of(walk));
	error_hint(err, "Put it into a directory of its own, which only its "
	                "owner may write to.");
	errno = EPERM;
	return false;
}

/* Go on from the directory `fd`, which is called `step` where we are. */
static bool
enter(struct walk *walk, int fd, const char *step, struct error *err)
{
	struct stat status;

	if (walk->at >= 0)
		close(walk->at);
	walk->at = fd;
	if (step != NULL) {
		buf_addc(&walk->name, '/');
		buf_adds(&walk->name, step);
	} else {
		buf_truncate(&walk->name, 0);
	}
	if (fd < 0 || fstat(fd, &status) != 0) {
		error_set_errno(err, "cannot open %s", name_of(walk));
		return false;
	}
	return check_directory(walk, &status, err);
}

static bool
enter_root(struct walk *walk, struct error *err)
{
	return enter(
	    walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), NULL, err);
}

/* The target of the link `fd` comes before the rest of the path. */
static bool
follow(struct walk *walk, int fd, const char *step, const struct stat *status,
    struct error *err)
{
	char target[PATH_MAX], *name, *rest = walk->rest;
	ssize_t len = readlinkat(fd, "", target, sizeof(target) - 1);
	bool ok;

	if (len <= 0 || ++walk->links > MAX_LINKS) {
		errno = len < 0 ? errno : ELOOP;
		error_set_errno(err, "cannot open %s", walk->way->path);
		return false;
	}
	target[len] = '\0';
	name =
	    xasprintf("%s/%s", walk->name.len > 0 ? walk->name.data : "", step);
	ok = is_trusted(status->st_uid) ||
	     refuse_owner(walk, "link", name, status->st_uid, err);
	free(name);
	if (!ok || !check_shared(walk, "link", err))
		return false;
	walk->rest = xasprintf("%s%s", target, rest);
	free(rest);
	return target[0] != '/' || enter_root(walk, err);
}

/*
 * Make the directory `step`, which is missing.  If root makes it, a server may
 * read it.
 */
static bool
make(const struct walk *walk, const char *step)
{
	bool is_last = walk->rest[strspn(walk->rest, "/")] == '\0';
	mode_t mode = is_last ? walk->way->make : 0755;
	bool ok;
	int fd;

	if (walk->way->make == 0)
		return false;
	if (mkdirat(walk->at, step, mode) != 0)
		return errno == EEXIST;
	if (geteuid() != 0)
		return true;
	fd = openat(
	    walk->at, step, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ok = fd >= 0 && fchmod(fd, mode) == 0;
	if (fd >= 0)
		close(fd);
	return ok;
}

/* A handle of `step` in the present directory, which opens nothing. */
static int
find(const struct walk *walk, const char *step)
{
	const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(walk->at, step, flags);

	if (fd < 0 && errno == ENOENT && make(walk, step))
		fd = openat(walk->at, step, flags);
	return fd;
}

/* The next part of the path, for the caller to free(); NULL at the end. */
static char *
next_step(struct walk *walk)
{
	const char *begin = walk->rest;
	char *step = NULL;
	size_t len;

	do {
		begin += strspn(begin, "/");
		len = strcspn(begin, "/");
		free(step);
		step = len > 0 ? xstrndup(begin, len) : NULL;
		begin += len;
	} while (step != NULL && strcmp(step, ".") == 0);
	memmove(walk->rest, begin, strlen(begin) + 1);
	return step;
}

static int
failed(const struct walk *walk, struct error *err)
{
	int code = errno;

	error_set_errno(err, "cannot %s %s",
	    walk->way->make != 0 ? "make" : "open", walk->way->path);
	errno = code;
	return -1;
}

/* The file or directory at the end. */
static int
arrive(const struct walk *walk, const char *step, int flags, struct error *err)
{
	int fd = openat(walk->at, step, flags | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 ? fd : failed(walk, err);
}

/* A file that is not a directory ends the path. */
static int
arrive_at_file(
    const struct walk *walk, const char *step, int flags, struct error *err)
{
	if (walk->rest[0] != '\0') {
		errno = ENOTDIR;
		return failed(walk, err);
	}
	return check_shared(walk, "file", err) ? arrive(walk, step, flags, err)
	                                       : -1;
}

static int
walk_on(struct walk *walk, int flags, struct error *err)
{
	struct stat status;
	bool ok = true;
	char *step;
	int fd;

	while (ok && (step = next_step(walk)) != NULL) {
		fd = find(walk, step);
		if (fd < 0 || fstat(fd, &status) != 0) {
			failed(walk, err);
			ok = false;
		} else if (S_ISDIR(status.st_mode)) {
			ok = enter(walk, fd, step, err);
			fd = -1;
		} else if (S_ISLNK(status.st_mode)) {
			ok = follow(walk, fd, step, &status, err);
		} else {
			close(fd);
			fd = arrive_at_file(walk, step, flags, err);
			free(step);
			return fd;
		}
		if (fd >= 0)
			close(fd);
		free(step);
	}
	return ok ? arrive(walk, ".", flags, err) : -1;
}

int
way_open(struct way *way, int flags, struct error *err)
{
	struct walk walk = { .way = way, .at = -1 };
	char here[PATH_MAX];
	int fd = -1, code;

	buf_init(&walk.name, 0);
	if (way->path[0] == '/')
		walk.rest = xstrdup(way->path);
	else if (getcwd(here, sizeof(here)) != NULL)
		walk.rest = xasprintf("%s/%s", here, way->path);
	if (walk.rest == NULL)
		error_set_errno(err, "cannot open %s", way->path);
	else if (enter_root(&walk, err))
		fd = walk_on(&walk, flags, err);
	code = errno;
	if (walk.at >= 0)
		close(walk.at);
	buf_release(&walk.name);
	free(walk.rest);
	errno = code;
	return fd;
}

/* Files ------------------------------------------------------------------- */

static bool
check_file(const struct way *way, const struct stat *status, bool is_secret,
    struct error *err)
{
	if (!S_ISREG(status->st_mode)) {
		error_set(err, "%s is not a file", way->path);
		return false;
	}
	if (way_is_open_to_others(status) ||
	    (is_secret && (status->st_mode & S_IROTH) != 0)) {
		char *owner = way_user(status->st_uid);

		error_set(err,
		    "%s may be %s by others: it belongs to %s and has mode "
		    "%04o",
		    way->path, is_secret ? "read or changed" : "changed", owner,
		    status->st_mode & 07777);
		error_hint(err,
		    "It has to belong to root or to the user of this program, "
		    "with mode %s.",
		    is_secret ? "0600" : "0644");
		free(owner);
		return false;
	}
	if (is_secret && way->shared != NULL) {
		error_set(err,
		    "%s is a secret below %s, to which everybody "
		    "may write",
		    way->path, way->shared);
		error_hint(err, "Put it where only root and its owner may "
		                "write to each directory above it.");
		return false;
	}
	return true;
}

bool
way_check(const char *path, bool is_secret, struct error *err)
{
	struct way way = { .path = path };
	struct error failure = { 0 };
	struct stat status;
	int fd = way_open(&way, O_PATH, &failure);
	bool ok = false;

	if (fd >= 0) {
		if (fstat(fd, &status) == 0)
			ok = check_file(&way, &status, is_secret, err);
		else
			error_set_errno(err, "cannot open %s", path);
		close(fd);
	} else if (errno == ENOENT) {
		ok = true;
	} else {
		error_set(err, "%s", failure.message);
		if (failure.hint != NULL)
			error_hint(err, "%s", failure.hint);
	}
	error_release(&failure);
	free(way.shared);
	return ok;
}
