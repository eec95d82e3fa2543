/*
 * connection.h - the connection strings among the driver's options.
 */
#ifndef DRIVER_CONFIG_CONNECTION_H
#define DRIVER_CONFIG_CONNECTION_H

#include <stdbool.h>

struct config;
struct error;

/* Whether the string itself holds a password.  The string may be invalid. */
bool config_connection_has_password(const char *conninfo);

/*
 * Whether libpq can read all connection strings.  The error begins with the
 * option's key.
 */
bool config_connections_check(const struct config *config, struct error *err);

#endif
