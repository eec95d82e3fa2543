/*
 * private.h - a directory that common/way.h finds safe for secrets; /tmp is
 * none.
 */
#ifndef TESTS_UNIT_PRIVATE_H
#define TESTS_UNIT_PRIVATE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Make it; false if there is no place for it. */
static inline bool
private_directory(char *path, size_t size)
{
	const char *parent = getenv("XDG_RUNTIME_DIR");

	if (parent == NULL || *parent == '\0')
		parent = geteuid() == 0 ? "/run" : getenv("HOME");
	if (parent == NULL)
		return false;
	snprintf(path, size, "%s/pgwf.XXXXXX", parent);
	return mkdtemp(path) != NULL;
}

#endif
