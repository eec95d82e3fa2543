#include "driver/secret/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/mem.h"
#include "common/utf8.h"
#include "common/way.h"
#include "driver/config/config.h"
#include "driver/secret/grant.h"
#include "driver/secret/known.h"
#include "driver/secret/redact.h"
#include "driver/transport/transport.h"

enum {
	NAME_MAX_BYTES = 128,
	VALUE_MAX = 65536,
};

/* A variable that the driver was started with. */
struct variable {
	char *name; /* without the prefix */
	char *value;
};

struct secrets {
	const struct config *config;
	const char *workspace; /* its name; "": it is the only one */
	struct variable *variables;
	size_t count;
};

/* The environment ---------------------------------------------------------- */

static void
take_variable(struct secrets *secrets, char *text, size_t prefix)
{
	char *equals = strchr(text, '=');
	char *name = xstrndup(text, (size_t)(equals - text));

	secrets->variables = xreallocarray(secrets->variables,
	    secrets->count + 1, sizeof(secrets->variables[0]));
	secrets->variables[secrets->count++] = (struct variable){
		.name = xstrdup(name + prefix),
		.value = xstrdup(equals + 1),
	};
	/* the kernel shows these bytes in /proc/PID/environ */
	explicit_bzero(equals + 1, strlen(equals + 1));
	unsetenv(name);
	free(name);
}

struct secrets *
secrets_new(const struct config *config)
{
	struct secrets *secrets = xcalloc(1, sizeof(*secrets));
	const char *prefix = config->secrets.environment;
	size_t i, len = strlen(prefix);

	secrets->config = config;
	secrets->workspace = "";
	for (i = 0; len > 0 && environ[i] != NULL;)
		if (strncmp(environ[i], prefix, len) == 0 &&
		    strchr(environ[i], '=') != NULL)
			take_variable(secrets, environ[i], len);
		else
			i++;
	return secrets;
}

void
secrets_free(struct secrets *secrets)
{
	if (secrets == NULL)
		return;
	while (secrets->count > 0) {
		struct variable *last = &secrets->variables[--secrets->count];

		explicit_bzero(last->value, strlen(last->value));
		free(last->value);
		free(last->name);
	}
	free(secrets->variables);
	known_clear();
	free(secrets);
}

struct secrets *
secrets_attach(const struct secrets *secrets, const char *workspace)
{
	struct secrets *attached = xmalloc(sizeof(*attached));

	*attached = *secrets;
	attached->workspace = workspace;
	if (*workspace != '\0')
		attached->count = 0;
	return attached;
}

void
secrets_detach(struct secrets *secrets)
{
	free(secrets);
}

/* Files -------------------------------------------------------------------- */

/*
 * The directory of systemd, unless the configuration names another; NULL: none.
 */
static const char *
directory_of(const struct secrets *secrets)
{
	const char *directory = secrets->config->secrets.directory;

	return directory[0] != '\0' ? directory
	                            : getenv("CREDENTIALS_DIRECTORY");
}

/* No other user may read or change the file. */
static bool
check_file(const struct way *way, const struct stat *status, struct error *err)
{
	const char *path = way->path;

	if (!S_ISREG(status->st_mode)) {
		error_set(err, "%s is not a file", path);
		return false;
	}
	if (way_is_open_to_others(status) || (status->st_mode & 027) != 0) {
		error_set(err, "%s may be read or changed by others", path);
		error_hint(err,
		    "It has to belong to root or to the driver's user, with "
		    "mode 0400 or 0440.");
		return false;
	}
	if (way->shared != NULL) {
		error_set(err,
		    "%s is a secret below %s, to which everybody "
		    "may write",
		    path, way->shared);
		error_hint(err, "Put it where only root and the driver's user "
		                "may write to each directory above it.");
		return false;
	}
	if (status->st_size > VALUE_MAX) {
		error_set(err, "%s has more than %d bytes", path, VALUE_MAX);
		return false;
	}
	return true;
}

static bool
read_all(int fd, const char *path, struct buf *value, struct error *err)
{
	char chunk[4096];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		if (!buf_add(value, chunk, (size_t)n))
			break;
	explicit_bzero(chunk, sizeof(chunk));
	if (n == 0)
		return true;
	if (n < 0)
		error_set(err, "%s: %s", path, strerror(errno));
	else
		error_set(err, "%s has more than %d bytes", path, VALUE_MAX);
	return false;
}

static bool
read_file(const struct way *way, int fd, struct buf *value, struct error *err)
{
	struct stat status;

	if (fstat(fd, &status) < 0) {
		error_set(err, "%s: %s", way->path, strerror(errno));
		return false;
	}
	return check_file(way, &status, err) &&
	       read_all(fd, way->path, value, err);
}

enum found {
	FOUND,
	NOT_THERE,
	FAILED, /* with `err` set */
};

/* The name of the secret's file; for the caller to free(). */
static char *
file_of(const struct secrets *secrets, const char *name)
{
	bool own = secrets->workspace[0] != '\0';

	return xasprintf("%s%s%s", secrets->workspace, own ? "." : "", name);
}

/* For the caller to free(). */
static char *
path_of(const struct secrets *secrets, const char *name)
{
	char *file = file_of(secrets, name);
	char *path = xasprintf("%s/%s", directory_of(secrets), file);

	free(file);
	return path;
}

static enum found
find_file(const struct secrets *secrets, const char *name, struct buf *value,
    struct error *err)
{
	char *path = path_of(secrets, name);
	struct way way = { .path = path };
	int fd = way_open(&way, O_RDONLY | O_NOCTTY | O_NONBLOCK, err);
	enum found found = FAILED;

	if (fd >= 0) {
		found = read_file(&way, fd, value, err) ? FOUND : FAILED;
		close(fd);
	} else if (errno == ENOENT) {
		found = NOT_THERE;
		error_release(err);
	}
	free(way.shared);
	free(path);
	return found;
}

/* One secret --------------------------------------------------------------- */

static bool
is_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
	                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                              "0123456789_.-";

	return strlen(name) <= NAME_MAX_BYTES && *name != '\0' &&
	       *name != '.' && *name != '-' &&
	       name[strspn(name, allowed)] == '\0';
}

static bool
find_variable(
    const struct secrets *secrets, const char *name, struct buf *value)
{
	size_t i;

	for (i = 0; i < secrets->count; i++)
		if (strcmp(secrets->variables[i].name, name) == 0)
			return buf_adds(value, secrets->variables[i].value);
	return false;
}

static void
not_to_be_had(
    const struct secrets *secrets, const char *name, struct error *err)
{
	const char *prefix = secrets->config->secrets.environment;
	char *path = directory_of(secrets) ? path_of(secrets, name) : NULL;
	struct buf where;

	buf_init(&where, 0);
	if (path != NULL)
		buf_addf(&where, ": no file %s", path);
	if (*prefix != '\0' && secrets->workspace[0] == '\0')
		buf_addf(&where, "%s no variable %s%s",
		    path != NULL ? "," : ":", prefix, name);
	free(path);
	error_set(err, "this driver has no secret %s%s", name, where.data);
	if (where.len > 0)
		error_hint(err, "Put it there, then retry the task.");
	else
		error_hint(err, "Set secrets.directory in the driver's "
		                "configuration.");
	buf_release(&where);
}

static bool
check_value(const char *name, struct buf *value, struct error *err)
{
	if (value->len > 0 && value->data[value->len - 1] == '\n')
		buf_truncate(value, value->len - 1);
	if (value->len > 0 && value->data[value->len - 1] == '\r')
		buf_truncate(value, value->len - 1);
	if (value->len < REDACT_MIN) {
		error_set(
		    err, "secret %s has fewer than %d bytes", name, REDACT_MIN);
		error_hint(err,
		    "The driver hides secrets in all that it writes. So "
		    "short a value would match other text, too.");
		return false;
	}
	if (memchr(value->data, '\0', value->len) != NULL ||
	    !utf8_valid(value->data, value->len)) {
		error_set(err, "secret %s is not UTF-8 text", name);
		return false;
	}
	return true;
}

bool
secret_is_granted(const struct secrets *secrets, const char *name,
    const struct task *task, const char *destination, struct error *err)
{
	char *file = file_of(secrets, name);
	struct secret_use use = {
		.secret = file,
		.workflow = task->workflow,
		.type = task->type,
		.destination = destination,
	};
	bool ok =
	    secret_grants_allow(&secrets->config->secrets.grants, &use, err);

	free(file);
	return ok;
}

bool
secret_read(const struct secrets *secrets, const char *name, struct buf *value,
    struct error *err)
{
	enum found found = NOT_THERE;

	buf_init_secret(value, VALUE_MAX);
	if (!is_name(name)) {
		error_set(err, "this is not a name that a secret can have");
		return false;
	}
	if (directory_of(secrets) != NULL)
		found = find_file(secrets, name, value, err);
	if (found == NOT_THERE && find_variable(secrets, name, value))
		found = FOUND;
	if (found == NOT_THERE)
		not_to_be_had(secrets, name, err);
	return found == FOUND && check_value(name, value, err);
}
