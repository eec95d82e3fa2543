/*
 * config.h - the driver's options: one table, read from three places.
 *
 * Each option has a default, may stand in the configuration file (libconfig's
 * syntax) and may be given as -o key=value.  config/driver.conf.example is
 * printed from the same table.
 */
#ifndef DRIVER_CONFIG_H
#define DRIVER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct buf;
struct error;

struct config_list {
	char **items; /* owned */
	size_t count;
};

/* Strings are owned and never NULL. */
struct config {
	char *name;
	char *connection;
	char *sql_connection;
	int64_t connections;
	int64_t sql_connections;
	int64_t slots;
	struct config_list queues;
	struct config_list transports;
	struct config_list env;
	int64_t poll_min_ms;
	int64_t poll_max_ms;
	int64_t heartbeat_ms;
	int64_t turn_timeout_ms;
	int64_t drain_timeout_ms;
	char *log_level;
	bool log_json;
	int64_t sql_timeout_ms;
	int64_t sql_max_rows_bytes;
	struct {
		int64_t connect_timeout_ms;
		int64_t timeout_ms;
		int64_t max_body;
		int64_t max_headers;
		int64_t max_redirects;
		struct config_list allow;
		struct config_list deny;
		char *ca_file;
	} http;
	struct {
		char *program;
		char *config_file;
		struct config_list options;
		int64_t timeout_ms;
		int64_t max_output;
		int64_t kill_after_ms;
	} ssh;
};

/* Every option at its default.  Give it to config_release(). */
void config_preset(struct config *config);
void config_release(struct config *config);

/* Read a file over what is set.  The error begins "file:line: " if it can. */
bool config_load(struct config *config, const char *path, struct error *err);

/* Set one option from `key=value`; the elements of a list stand between commas. */
bool config_set(struct config *config, const char *text, struct error *err);

/*
 * Take what differs in `fresh`, as far as that can be done while the driver
 * runs.  True: the workspace must be told.  The keys of what waits for a new
 * start are written to `waiting`, with commas between them.
 */
bool config_take(
    struct config *config, struct config *fresh, struct buf *waiting);

/* Write a file that sets every option to what it is in `config`. */
void config_print(const struct config *config, FILE *out);

#endif
