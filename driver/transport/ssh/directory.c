#include "driver/transport/ssh/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/mem.h"

#define NAME "pgwf-ssh."
#define SOCKET_NAME "/4294967295"

struct ssh_directory {
	char *path;
	int fd; /* holds the lock */
	unsigned sockets;
};

/* Whether ssh takes the name as it is: %, ${} and quotes mean more to ssh. */
static bool
is_plain(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
	                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                            "0123456789/._-+,:@=";

	return path[0] == '/' && path[strspn(path, plain)] == '\0';
}

/*
 * Lock a directory of our user; -1: another process has it, or it is not ours.
 */
static int
lock(const char *path)
{
	struct stat opened, named;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fstat(fd, &opened) == 0 && opened.st_uid == geteuid() &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0 && lstat(path, &named) == 0 &&
	    named.st_ino == opened.st_ino && named.st_dev == opened.st_dev)
		return fd;
	close(fd);
	return -1;
}

/* Remove it.  `fd` holds its lock; close it. */
static void
discard(const char *path, int fd)
{
	int copy = dup(fd);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		(void)unlinkat(fd, entry->d_name, 0);
	if (dir != NULL)
		closedir(dir);
	(void)rmdir(path);
	close(fd);
}

/* Remove the directories that killed drivers have left. */
static void
discard_stale(const char *base)
{
	DIR *dir = opendir(base);
	struct dirent *entry;
	char *path;
	int fd;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (strncmp(entry->d_name, NAME, strlen(NAME)) != 0)
			continue;
		path = xasprintf("%s/%s", base, entry->d_name);
		if ((fd = lock(path)) >= 0)
			discard(path, fd);
		free(path);
	}
	if (dir != NULL)
		closedir(dir);
}

/* NULL with `err` set. */
static struct ssh_directory *
make(const char *base, struct error *err)
{
	struct ssh_directory *directory;
	char *path = xasprintf("%s/" NAME "XXXXXX", base);
	int fd, tries;

	if (!is_plain(path) ||
	    strlen(path) + strlen(SOCKET_NAME) > SSH_SOCKET_MAX) {
		error_set(err, "%s cannot hold sockets of ssh", base);
		error_hint(err, "Its name has to be short, without blanks, "
		                "quotes, %% and $.");
		free(path);
		return NULL;
	}
	discard_stale(base);
	/* another driver may have removed a fresh directory as a stale one */
	for (tries = 0; tries < 10 && mkdtemp(path) != NULL; tries++) {
		if ((fd = lock(path)) >= 0) {
			directory = xcalloc(1, sizeof(*directory));
			directory->path = path;
			directory->fd = fd;
			return directory;
		}
		(void)rmdir(path);
		errno = EBUSY;
		memcpy(path + strlen(path) - 6, "XXXXXX", 6);
	}
	error_set_errno(err, "cannot make a directory in %s", base);
	free(path);
	return NULL;
}

struct ssh_directory *
ssh_directory_new(const char *base, struct error *err)
{
	const char *const bases[] = { getenv("RUNTIME_DIRECTORY"),
		getenv("XDG_RUNTIME_DIR"), "/tmp" };
	struct ssh_directory *directory = NULL;
	size_t i;

	if (base[0] != '\0')
		return make(base, err);
	for (i = 0; i < 3 && directory == NULL; i++)
		if (bases[i] != NULL) {
			error_release(err);
			directory = make(bases[i], err);
		}
	return directory;
}

char *
ssh_directory_socket(struct ssh_directory *directory)
{
	return xasprintf("%s/%u", directory->path, directory->sockets++);
}

void
ssh_directory_free(struct ssh_directory *directory)
{
	if (directory == NULL)
		return;
	discard(directory->path, directory->fd);
	free(directory->path);
	free(directory);
}
