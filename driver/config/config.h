/*
 * config.h - the driver's options: one table, read from three places.
 *
 * Each option has a default, may stand in the configuration file (libconfig's
 * syntax) and may be given as -o key=value.  config/driver.conf.example is
 * printed from the same table.
 */
#ifndef DRIVER_CONFIG_CONFIG_H
#define DRIVER_CONFIG_CONFIG_H

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

/* A workspace among several.  Strings are owned and never NULL. */
struct config_workspace {
	char *name;
	char *connection;
	char *sql_connection;
};

/* Strings are owned and never NULL. */
struct config {
	/* none: there is one, of `connection`, which has no name */
	struct config_workspace *workspaces;
	size_t workspace_count;
	char *name;
	char *connection;
	char *sql_connection;
	int64_t connections;
	struct config_list sql_roles;
	int64_t sql_connections;
	int64_t slots;
	int64_t slots_kept;
	struct config_list queues;
	struct config_list capabilities;
	struct config_list transports;
	struct config_list env;
	int64_t poll_min_ms;
	int64_t poll_max_ms;
	int64_t heartbeat_ms;
	int64_t turn_timeout_ms;
	int64_t drain_timeout_ms;
	char *log_level;
	bool log_time;
	bool log_json;
	bool trust_network;
	int64_t sql_timeout_ms;
	int64_t sql_max_rows_bytes;
	struct {
		struct config_list programs;
		struct config_list env;
		char *directory;
		int64_t timeout_ms;
		int64_t max_output;
		int64_t kill_after_ms;
	} exec;
	struct {
		int64_t connect_timeout_ms;
		int64_t timeout_ms;
		int64_t max_body;
		int64_t max_headers;
		int64_t max_redirects;
		struct config_list allow;
		struct config_list deny;
		char *ca_file;
		char *tls_min;
		struct config_list certificates;
		char *proxy;
		struct config_list no_proxy;
	} http;
	struct {
		char *directory;
		char *environment;
		struct config_list grants;
	} secrets;
	struct {
		char *program;
		char *config_file;
		struct config_list options;
		int64_t timeout_ms;
		int64_t max_output;
		int64_t kill_after_ms;
		int64_t sessions;
		int64_t connections;
		int64_t connecting;
		int64_t idle_ms;
		char *socket_dir;
	} ssh;
};

/* Every option at its default.  Give it to config_release(). */
void config_preset(struct config *config);
void config_release(struct config *config);

/*
 * Set the options that a file gives.  The error begins "file:line: " if it can.
 */
bool config_load(struct config *config, const char *path, struct error *err);

/* Check the conditions that depend on several options. */
bool config_check(const struct config *config, struct error *err);

/* How many workspaces there are, and the i-th; its strings are borrowed. */
size_t config_workspaces(const struct config *config);
struct config_workspace config_workspace(const struct config *config, size_t i);

/* Set a field of a workspace; `key` is NAME.FIELD. */
bool config_workspace_set(struct config *config, const char *key,
    const char *value, struct error *err);

void config_workspaces_clear(struct config *config);

/* Set one option from `key=value`; the elements of a list stand between commas. */
bool config_set(struct config *config, const char *text, struct error *err);

/*
 * Take the options that differ in `fresh` and can change while the driver runs.
 * True: the workspace must be told.  The keys of those that need a new start
 * are written to `waiting`, with commas between them.
 */
bool config_take(
    struct config *config, struct config *fresh, struct buf *waiting);

/* Write a configuration file with the value of every option in `config`. */
void config_print(const struct config *config, FILE *out);

#endif
