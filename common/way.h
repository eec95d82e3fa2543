/*
 * way.h - the way to a file: the directories from / to it, and the links.
 *
 * A file is as safe as its way: a user who may change one of the directories
 * can put another file there.  Therefore each directory has to belong to root
 * or to the user of this process, and nobody else may write to it.  A link is
 * followed if nobody else can have made it, and its own way is checked in the
 * same manner.
 *
 * A directory like /tmp, where everybody may put files and nobody may touch
 * those of others, is allowed on the way to another directory.  A file or a
 * link that lies directly in it is refused, because others may have moved one
 * of root's there; directories cannot be moved so.  Nothing can be swapped
 * between the check and the use, since each step is made from the directory
 * that was checked.
 */
#ifndef COMMON_WAY_H
#define COMMON_WAY_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct error;

struct way {
	/*
	 * The path; a relative one begins in the working directory of the
	 * process.
	 */
	const char *path;

	/*
	 * The mode of the last directory if it has to be made; 0: do not make
	 * it.
	 */
	mode_t make;

	/* Found: the first directory like /tmp, for free(); NULL: none. */
	char *shared;
};

/*
 * Open the path with `flags`. -1 on failure, with `err` set; errno is ENOENT if
 * something is missing and EPERM if the way was refused.
 */
int way_open(struct way *way, int flags, struct error *err);

/*
 * Whether nobody else can change the file `path`, or read it if it `is_secret`.
 * True for a file that is missing.
 */
bool way_check(const char *path, bool is_secret, struct error *err);

/* Whether the file has an owner or a mode that lets others change it. */
bool way_is_open_to_others(const struct stat *status);

/* The name of a user, or the number: for the caller to free(). */
char *way_user(uid_t uid);

#endif
