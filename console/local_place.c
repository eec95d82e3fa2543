/*
 * local_place.c - the directory of a local workspace, and who may have changed
 * it.
 *
 * common/way.c opens each directory of its path.  The files below are opened
 * from the last one, never by a link.  So nobody else can swap a file: only the
 * owner may put anything into the directory.  Of the two directories of the
 * server's user (data, run) one file is read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/mem.h"
#include "common/way.h"
#include "console/local.h"
#include "console/subprocess.h"

/* All files that the console touches there; the directories come first. */
static const struct part {
	const char *name;
	mode_t kind;
	bool is_servers; /* belongs to the server's user, and not to us */
} parts[] = {
	{ "data", S_IFDIR, true },
	{ "run", S_IFDIR, true },
	{ "log", S_IFDIR, false },
	{ "lock", S_IFREG, false },
	{ "driver.conf", S_IFREG, false },
	{ "driver.pid", S_IFREG, false },
	{ LOCAL_SERVER_LOG, S_IFREG, false },
	{ LOCAL_DRIVER_LOG, S_IFREG, false },
	{ "data/PG_VERSION", S_IFREG, true },
	{ "run/.s.PGSQL." LOCAL_PORT, S_IFSOCK, true },
};

#define PART_COUNT (sizeof(parts) / sizeof(parts[0]))

static const char *
kind_name(mode_t mode)
{
	static const struct {
		mode_t kind;
		const char *name;
	} kinds[] = {
		{ S_IFREG, "a file" },
		{ S_IFDIR, "a directory" },
		{ S_IFLNK, "a symbolic link" },
		{ S_IFIFO, "a FIFO" },
		{ S_IFSOCK, "a socket" },
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((mode & S_IFMT) == kinds[i].kind)
			return kinds[i].name;
	return "a device";
}

uid_t
local_server_uid(const struct local *local)
{
	return local->user != NULL ? local->user->uid : geteuid();
}

/*
 * Before we hold the lock, another start may be about to give away a directory
 * that it has made.
 */
static bool
may_be_unfinished(const struct local *local, const struct stat *status)
{
	return local->lock < 0 && S_ISDIR(status->st_mode) &&
	       status->st_uid == geteuid();
}

/* Whether a part that exists is as it has to be. */
static bool
check_part(const struct local *local, const struct part *part,
    const struct stat *status, struct error *err)
{
	uid_t owner = part->is_servers ? local_server_uid(local) : geteuid();
	char *wanted = way_user(owner), *found = way_user(status->st_uid);

	if ((status->st_mode & S_IFMT) != part->kind)
		error_set(err, "%s/%s is %s and not %s", local->dir, part->name,
		    kind_name(status->st_mode), kind_name(part->kind));
	else if (status->st_uid != owner && !may_be_unfinished(local, status))
		error_set(err, "%s/%s belongs to %s and not to %s", local->dir,
		    part->name, found, wanted);
	else if ((status->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		error_set(err,
		    "%s/%s may be changed by others: it has mode %04o",
		    local->dir, part->name, status->st_mode & 07777);
	else if (!S_ISDIR(status->st_mode) && status->st_nlink != 1)
		error_set(err, "%s/%s has %lu names and not one", local->dir,
		    part->name, (unsigned long)status->st_nlink);
	free(wanted);
	free(found);
	if (err->message == NULL)
		return true;
	error_hint(err, "Somebody else may have prepared it. Look at it and "
	                "remove it, or choose another place with --dir or "
	                "PGWF_HOME.");
	errno = EPERM;
	return false;
}

/*
 * Only its owner may have put it there: the file that is checked is the file
 * that is opened.
 */
static bool
look_at(const struct local *local, const struct part *part, struct error *err)
{
	struct stat status;

	if (fstatat(local->home, part->name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		return check_part(local, part, &status, err);
	if (errno == ENOENT)
		return true;
	error_set_errno(err, "cannot look at %s/%s", local->dir, part->name);
	return false;
}

/* A directory like /tmp is refused, too: anyone may put a file "lock" there. */
static bool
check_home(const struct local *local, struct error *err)
{
	struct stat status;

	if (fstat(local->home, &status) != 0) {
		error_set_errno(err, "cannot look at %s", local->dir);
		return false;
	}
	if (!way_is_open_to_others(&status))
		return true;
	error_set(err, "%s may be changed by others: it has mode %04o",
	    local->dir, status.st_mode & 07777);
	error_hint(err, "Name a directory in it with --dir or PGWF_HOME.");
	errno = EPERM;
	return false;
}

static bool
open_home(struct local *local, mode_t make, struct error *err)
{
	struct way way = { .path = local->dir, .make = make };

	if (local->home < 0)
		local->home = way_open(&way, O_PATH | O_DIRECTORY, err);
	free(way.shared);
	return local->home >= 0 && check_home(local, err);
}

static bool
check_parts(const struct local *local, struct error *err)
{
	size_t i;

	for (i = 0; i < PART_COUNT; i++)
		if (!look_at(local, &parts[i], err))
			return false;
	return true;
}

bool
local_open(struct local *local, struct error *err)
{
	if (!open_home(local, 0, err)) {
		if (errno != ENOENT)
			return false;
		error_release(err);
		return true;
	}
	return check_parts(local, err);
}

/* A start of root's that was cut short may have left an empty directory. */
static void
remove_unfinished(const struct local *local, const struct part *part)
{
	struct stat status;

	if (part->is_servers && local->user != NULL &&
	    fstatat(local->home, part->name, &status, AT_SYMLINK_NOFOLLOW) ==
	        0 &&
	    status.st_uid == geteuid())
		(void)unlinkat(local->home, part->name, AT_REMOVEDIR);
}

/* A directory of ours, or one of the server's user. */
static bool
make_part(const struct local *local, const struct part *part, struct error *err)
{
	bool is_given = part->is_servers && local->user != NULL;

	remove_unfinished(local, part);
	if (mkdirat(local->home, part->name, 0700) != 0) {
		if (errno == EEXIST)
			return true;
		error_set_errno(
		    err, "cannot make %s/%s", local->dir, part->name);
		return false;
	}
	if (!is_given || fchownat(local->home, part->name, local->user->uid,
	                     local->user->gid, AT_SYMLINK_NOFOLLOW) == 0)
		return true;
	error_set_errno(err, "cannot give %s/%s to %s", local->dir, part->name,
	    local->user->name);
	return false;
}

static const struct part *
find_part(const char *name)
{
	size_t i = 0;

	while (strcmp(parts[i].name, name) != 0)
		i++;
	return &parts[i];
}

int
local_open_file(
    const struct local *local, const char *name, int flags, struct error *err)
{
	int fd = openat(local->home, name,
	    flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	struct stat status;
	int code;

	if (fd < 0 || fstat(fd, &status) != 0) {
		error_set_errno(err, "cannot open %s/%s", local->dir, name);
	} else if (check_part(local, find_part(name), &status, err)) {
		return fd;
	}
	code = errno;
	if (fd >= 0)
		close(fd);
	errno = code;
	return -1;
}

static bool
lock(struct local *local, struct error *err)
{
	if (!look_at(local, find_part("lock"), err))
		return false;
	local->lock = local_open_file(local, "lock", O_RDWR | O_CREAT, err);
	if (local->lock >= 0 && flock(local->lock, LOCK_EX) == 0)
		return true;
	if (local->lock >= 0)
		error_set_errno(err, "cannot lock %s/lock", local->dir);
	return false;
}

bool
local_lock(struct local *local, struct error *err)
{
	bool ok = open_home(local, local->user != NULL ? 0755 : 0700, err) &&
	          lock(local, err);
	size_t i;

	for (i = 0; ok && i < PART_COUNT; i++)
		ok = parts[i].kind != S_IFDIR ||
		     make_part(local, &parts[i], err);
	return ok && check_parts(local, err);
}

void
local_unlock(struct local *local)
{
	if (local->lock >= 0)
		close(local->lock);
	local->lock = -1;
}
