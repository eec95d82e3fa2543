/* Checks of the connection strings among the options. */
#include "driver/config/connection.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/mem.h"
#include "common/pg_conninfo.h"
#include "driver/config/config.h"

enum {
	MAX_PORT = 65535,
	MAX_ROLE = 63,
};

bool
config_connection_has_password(const char *conninfo)
{
	static const char *const keywords[] = { "password", "sslpassword" };
	bool found = false;
	char *value;
	size_t i;

	for (i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
		value = pg_conninfo_get(conninfo, keywords[i]);
		found |= value != NULL && *value != '\0';
		free(value);
	}
	return found;
}

/* Numbers with commas between them; an empty one means the usual port. */
static bool
check_ports(const char *ports, struct error *err)
{
	const char *at;
	char *end;
	long port;

	for (at = ports; *at != '\0'; at = *end == ',' ? end + 1 : end) {
		end = (char *)at + strcspn(at, ",");
		if (end == at)
			continue;
		port = strtol(at, &end, 10);
		if ((*end != ',' && *end != '\0') || port < 1 ||
		    port > MAX_PORT) {
			error_set(err, "port is %s", ports);
			error_hint(
			    err, "Give a number from 1 to %d.", MAX_PORT);
			return false;
		}
	}
	return true;
}

static bool
check(const char *conninfo, struct error *err)
{
	char *ports;
	bool ok;

	if (!pg_conninfo_check(conninfo, err))
		return false;
	ports = pg_conninfo_get(conninfo, "port");
	ok = ports == NULL || check_ports(ports, err);
	free(ports);
	return ok;
}

static char *
key_of(const struct config_workspace *workspace, const char *field)
{
	return workspace->name[0] != '\0'
	           ? xasprintf("workspaces.%s.%s", workspace->name, field)
	           : xstrdup(field);
}

/* A password in sql_connection would be sent for each of the roles. */
static bool
check_roles(const struct config *config,
    const struct config_workspace *workspace, struct error *err)
{
	const struct config_list *roles = &config->sql_roles;
	size_t i, len;

	for (i = 0; i < roles->count; i++) {
		len = strlen(roles->items[i]);
		if (len >= 1 && len <= MAX_ROLE)
			continue;
		error_set(err, "sql_roles has a name of %zu bytes", len);
		error_hint(err, "A role has a name of 1 to %d.", MAX_ROLE);
		return false;
	}
	if (roles->count == 0 ||
	    !config_connection_has_password(workspace->sql_connection))
		return true;
	error_set(err,
	    "sql_connection has a password, which is that of one role, and "
	    "sql_roles names others");
	error_hint(err,
	    "Write passfile=... instead of the password: a passfile has a line "
	    "for each role.");
	return false;
}

bool
config_connections_check(const struct config *config, struct error *err)
{
	struct config_workspace workspace;
	const char *field;
	bool ok = true;
	char *key;
	size_t i;

	for (i = 0; ok && i < config_workspaces(config); i++) {
		workspace = config_workspace(config, i);
		if (!check_roles(config, &workspace, err))
			return false;
		field = "connection";
		ok = check(workspace.connection, err);
		if (ok) {
			field = "sql_connection";
			ok = check(workspace.sql_connection, err);
		}
		if (!ok) {
			key = key_of(&workspace, field);
			error_prefix(err, "%s", key);
			free(key);
		}
	}
	return ok;
}
