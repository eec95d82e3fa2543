#include "driver/config/files.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"
#include "common/mem.h"
#include "common/pg_conninfo.h"
#include "common/way.h"
#include "driver/config/certificate.h"
#include "driver/config/config.h"

#define BLANKS " \t"

/* A setting of libpq or of ssh whose value is a file, or several. */
struct setting {
	const char *name;
	bool is_secret;
};

static const struct setting libpq_settings[] = {
	{ "passfile", true },
	{ "sslkey", true },
	{ "sslcert", false },
	{ "sslrootcert", false },
	{ "sslcrl", false },
};

static const struct setting ssh_settings[] = {
	{ "IdentityFile", true },
	{ "CertificateFile", false },
	{ "GlobalKnownHostsFile", false },
	{ "UserKnownHostsFile", false },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool
check(const char *path, const struct setting *setting, const char *key,
    struct error *err)
{
	if (*path == '\0' || strcmp(path, "/dev/null") == 0 ||
	    way_check(path, setting->is_secret, err))
		return true;
	error_prefix(err, "%s: %s", key, setting->name);
	return false;
}

static bool
check_connection(const char *conninfo, const char *key, struct error *err)
{
	bool ok = true;
	char *path;
	size_t i;

	for (i = 0; ok && i < COUNT(libpq_settings); i++) {
		path = pg_conninfo_get_any(conninfo, libpq_settings[i].name);
		ok = path == NULL || check(path, &libpq_settings[i], key, err);
		free(path);
	}
	return ok;
}

/* Whether ssh takes `path` for no file, or only ssh can complete it. */
static bool
is_for_ssh(const char *path)
{
	return *path == '~' || strpbrk(path, "%$") != NULL ||
	       strcasecmp(path, "none") == 0;
}

/* Check all files in a value of ssh. */
static bool
check_paths(const char *value, const struct setting *setting, struct error *err)
{
	bool ok = true;
	size_t len;
	char *path;

	for (; ok && *value != '\0'; value += len) {
		value += strspn(value, BLANKS "\"");
		len = strcspn(value, BLANKS "\"");
		path = xstrndup(value, len);
		ok = is_for_ssh(path) ||
		     check(path, setting, "ssh.options", err);
		free(path);
	}
	return ok;
}

static bool
check_ssh_option(const char *option, struct error *err)
{
	size_t len = strcspn(option, "=" BLANKS), i;
	const char *value = option + len + strspn(option + len, "=" BLANKS);

	for (i = 0; i < COUNT(ssh_settings); i++)
		if (strlen(ssh_settings[i].name) == len &&
		    strncasecmp(option, ssh_settings[i].name, len) == 0)
			return check_paths(value, &ssh_settings[i], err);
	return true;
}

static bool
check_path(const char *path, const char *key, struct error *err)
{
	if (*path == '\0' || way_check(path, false, err))
		return true;
	error_prefix(err, "%s", key);
	return false;
}

bool
config_files_check(const struct config *config, struct error *err)
{
	bool ok = check_path(config->http.ca_file, "http.ca_file", err) &&
	          certificates_check(&config->http.certificates, err) &&
	          check_path(config->ssh.config_file, "ssh.config_file", err);
	struct config_workspace workspace;
	size_t i;

	for (i = 0; ok && i < config->ssh.options.count; i++)
		ok = check_ssh_option(config->ssh.options.items[i], err);
	for (i = 0; ok && i < config_workspaces(config); i++) {
		workspace = config_workspace(config, i);
		ok =
		    check_connection(workspace.connection, "connection", err) &&
		    check_connection(
		        workspace.sql_connection, "sql_connection", err);
	}
	return ok;
}
