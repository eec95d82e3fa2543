#include "console/program.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"
#include "common/mem.h"

#ifndef PGWF_DATA_DIR
#error "PGWF_DATA_DIR is given by the build"
#endif

/* The directory that this program is in. */
static char *
own_directory(void)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path));
	const char *slash;

	if (len <= 0)
		return xstrdup(".");
	slash = memrchr(path, '/', (size_t)len);
	return xstrndup(path, slash != NULL ? (size_t)(slash - path) : 0);
}

char *
program_sql_file(const char *name, struct error *err)
{
	static const char *const places[] = {
		"../workspace-sql",            /* build tree */
		"../share/pgwf/workspace-sql", /* moved as a whole */
	};
	char *own = own_directory(), *path;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		path = xasprintf("%s/%s/%s", own, places[i], name);
		if (access(path, R_OK) == 0)
			break;
		free(path);
	}
	if (i == sizeof(places) / sizeof(places[0]))
		path = xasprintf("%s/workspace-sql/%s", PGWF_DATA_DIR, name);
	free(own);
	if (access(path, R_OK) == 0)
		return path;
	error_set_errno(err, "cannot read %s", path);
	error_hint(err, "The program is not installed as a whole: the folder "
	                "workspace-sql is missing.");
	free(path);
	return NULL;
}

char *
program_companion(const char *name)
{
	char *own = own_directory(), *path = xasprintf("%s/%s", own, name);

	free(own);
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return xstrdup(name);
}
