#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/mem.h"
#include "driver/config/config.h"
#include "driver/config/connection.h"
#include "driver/config/files.h"
#include "driver/secret/grant.h"

#define NAME_BYTES \
	"0123456789_-" \
	"abcdefghijklmnopqrstuvwxyz" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ"

enum {
	MAX_NAME = 63,
};

static struct config_workspace *
find_or_add(struct config *config, const char *name, size_t len)
{
	struct config_workspace *workspace;
	size_t i;

	for (i = 0; i < config->workspace_count; i++) {
		workspace = &config->workspaces[i];
		if (strlen(workspace->name) == len &&
		    strncmp(workspace->name, name, len) == 0)
			return workspace;
	}
	config->workspaces = xreallocarray(config->workspaces,
	    config->workspace_count + 1, sizeof(config->workspaces[0]));
	workspace = &config->workspaces[config->workspace_count++];
	workspace->name = xstrndup(name, len);
	workspace->connection = xstrdup("");
	workspace->sql_connection = xstrdup("");
	return workspace;
}

bool
config_workspace_set(struct config *config, const char *key, const char *value,
    struct error *err)
{
	size_t len = strspn(key, NAME_BYTES);
	const char *field = key + len + 1;
	bool is_sql = key[len] == '.' && strcmp(field, "sql_connection") == 0;
	struct config_workspace *workspace;
	char **place;

	if (len == 0 || len > MAX_NAME || key[len] != '.' ||
	    (!is_sql && strcmp(field, "connection") != 0)) {
		error_set(err, "unknown option workspaces.%s", key);
		error_hint(err,
		    "A workspace has a name of letters, digits, _ and -, a "
		    "connection and a sql_connection.");
		return false;
	}
	if (value == NULL) {
		error_set(err, "workspaces.%s must be a string", key);
		return false;
	}
	workspace = find_or_add(config, key, len);
	place = is_sql ? &workspace->sql_connection : &workspace->connection;
	free(*place);
	*place = xstrdup(value);
	return true;
}

void
config_workspaces_clear(struct config *config)
{
	struct config_workspace *workspace;

	while (config->workspace_count > 0) {
		workspace = &config->workspaces[--config->workspace_count];
		free(workspace->name);
		free(workspace->connection);
		free(workspace->sql_connection);
	}
	free(config->workspaces);
	config->workspaces = NULL;
}

size_t
config_workspaces(const struct config *config)
{
	return config->workspace_count > 0 ? config->workspace_count : 1;
}

struct config_workspace
config_workspace(const struct config *config, size_t i)
{
	static char no_name[] = "";

	if (config->workspace_count > 0)
		return config->workspaces[i];
	return (struct config_workspace){
		.name = no_name,
		.connection = config->connection,
		.sql_connection = config->sql_connection,
	};
}

static bool
check_workspaces(const struct config *config, struct error *err)
{
	size_t i, count = config->workspace_count;

	if (count > 0 && (config->connection[0] != '\0' ||
	                     config->sql_connection[0] != '\0')) {
		error_set(err, "both workspaces and connection are given");
		error_hint(err,
		    "Name each database in a group of workspaces, or the only "
		    "one in connection and sql_connection.");
		return false;
	}
	for (i = 0; i < count; i++)
		if (config->workspaces[i].connection[0] == '\0') {
			error_set(err, "workspaces.%s has no connection",
			    config->workspaces[i].name);
			error_hint(err, "Name its database there.");
			return false;
		}
	if ((int64_t)count > config->slots) {
		error_set(err, "%zu workspaces cannot share %lld slots", count,
		    (long long)config->slots);
		error_hint(err, "Give each at least one.");
		return false;
	}
	return true;
}

static bool
check_tls(const struct config *config, struct error *err)
{
	const char *version = config->http.tls_min;

	if (strcmp(version, "1.2") == 0 || strcmp(version, "1.3") == 0)
		return true;
	error_set(err, "http.tls_min must be 1.2 or 1.3, not \"%s\"", version);
	error_hint(err, "Older versions of TLS are broken.");
	return false;
}

bool
config_check(const struct config *config, struct error *err)
{
	if (strlen(config->name) > MAX_NAME) {
		error_set(err, "name has more than %d bytes", MAX_NAME);
		error_hint(err, "Give the driver a shorter one.");
		return false;
	}
	return check_workspaces(config, err) && check_tls(config, err) &&
	       config_connections_check(config, err) &&
	       config_files_check(config, err) &&
	       secret_grants_check(&config->secrets.grants, err);
}
