#include "driver/config/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/mem.h"
#include "common/suggestion.h"
#include "common/utf8.h"
#include "driver/config/config.h"

static const char *const type_names[] = {
	[OPTION_BOOL] = "true or false",
	[OPTION_INT] = "a whole number",
	[OPTION_LIST] = "a list of strings",
	[OPTION_STRING] = "a string",
};

#define KIB INT64_C(1024)
#define MIB (KIB * KIB)
#define DAY_MS INT64_C(86400000) /* libconfig's numbers end at 24 days */
#define AT(field) offsetof(struct config, field)

/* In the order of the example file; a group's options stand together. */
/* clang-format off */
const struct option options[] = {
	{ "connection", OPTION_STRING, AT(connection), "", 0, 0,
	  "The workspace's database, as libpq takes it: \"host=... dbname=...\" or a\n"
	  "URI.  What is left out comes from the PG* variables of the environment.\n"
	  "Several hosts are tried in turn: \"host=a,b target_session_attrs=read-write\".", OPTION_LIVE },
	{ "sql_connection", OPTION_STRING, AT(sql_connection), "", 0, 0,
	  "The same database for SQL tasks, logged in as the role that they run as.\n"
	  "Empty: this driver takes no SQL tasks.", OPTION_LIVE },
	{ "sql_roles", OPTION_LIST, AT(sql_roles), "", 0, 0,
	  "Roles that the SQL tasks of some workflows run as (wf-console sql grants).\n"
	  "Each logs in over sql_connection under its own name; a password stands in\n"
	  "a passfile, in a line for each.", OPTION_LIVE },
	{ "name", OPTION_STRING, AT(name), "", 0, 0,
	  "What the driver is called in lists.  Empty: the host's name.", OPTION_FIXED },
	{ "slots", OPTION_INT, AT(slots), "256", 1, 10000,
	  "How many requests may be under way at once, of all workspaces.  What the\n"
	  "driver answers by itself (transport builtin) needs no slot.", OPTION_REGISTERED },
	{ "slots_kept", OPTION_INT, AT(slots_kept), "1", 0, 10000,
	  "How many of them are kept for each transport, at most half of them for all:\n"
	  "slow requests of one transport leave so many to each of the others.", OPTION_LIVE },
	{ "connections", OPTION_INT, AT(connections), "2", 1, 16,
	  "Connections to a workspace; two keep both sides busy.  While all of them\n"
	  "wait for it, one more tells it that the driver lives.", OPTION_FIXED },
	{ "sql_connections", OPTION_INT, AT(sql_connections), "4", 1, 1000,
	  "How many SQL tasks of a workspace run at once, for each role.", OPTION_FIXED },
	{ "queues", OPTION_LIST, AT(queues), "", 0, 0,
	  "Take tasks of these queues only.  Empty: of every queue.", OPTION_REGISTERED },
	{ "capabilities", OPTION_LIST, AT(capabilities), "", 0, 0,
	  "What else this driver has that a task may require: \"gpu\", \"zone=eu\".", OPTION_REGISTERED },
	{ "transports", OPTION_LIST, AT(transports), "", 0, 0,
	  "Offer these transports only.  Empty: all that are set up.", OPTION_FIXED },
	{ "env", OPTION_LIST, AT(env), "", 0, 0,
	  "Variables of the driver's environment that workflows may read.", OPTION_LIVE },
	{ "poll_min_ms", OPTION_INT, AT(poll_min_ms), "10", 1, 1000,
	  "After finding nothing, ask again this much later; then twice that, ...", OPTION_LIVE },
	{ "poll_max_ms", OPTION_INT, AT(poll_max_ms), "1000", 1, 1000,
	  "... but never later than this.", OPTION_LIVE },
	{ "heartbeat_ms", OPTION_INT, AT(heartbeat_ms), "5000", 100, 60000,
	  "Without a turn for so long, tell the workspace that the driver lives.", OPTION_LIVE },
	{ "turn_timeout_ms", OPTION_INT, AT(turn_timeout_ms), "60000", 1000, DAY_MS,
	  "Give up a connection that has not answered for so long.", OPTION_FIXED },
	{ "drain_timeout_ms", OPTION_INT, AT(drain_timeout_ms), "30000", 0, DAY_MS,
	  "How long a stopping driver waits for what is under way.", OPTION_LIVE },
	{ "log_level", OPTION_STRING, AT(log_level), "info", 0, 0,
	  "error, warn, info or debug.", OPTION_LIVE },
	{ "log_time", OPTION_BOOL, AT(log_time), "false", 0, 0,
	  "Begin lines of text with the time, in UTC.", OPTION_LIVE },
	{ "log_json", OPTION_BOOL, AT(log_json), "false", 0, 0,
	  "Log JSON lines instead of text.", OPTION_LIVE },
	{ "trust_network", OPTION_BOOL, AT(trust_network), "false", 0, 0,
	  "Do not warn of connections to a workspace that are weaker than\n"
	  "sslmode=verify-full: whoever is on the way can read and change everything.", OPTION_LIVE },
	{ "sql_timeout_ms", OPTION_INT, AT(sql_timeout_ms), "0", 0, 24 * DAY_MS,
	  "Time limit of a SQL task that states none; 0 is none.", OPTION_LIVE },
	{ "sql_max_rows_bytes", OPTION_INT, AT(sql_max_rows_bytes), "1048576", 1, 256 * MIB,
	  "The rows that a SQL task may have, in bytes as JSON; the server ends what has more.", OPTION_LIVE },
	{ "exec.programs", OPTION_LIST, AT(exec.programs), "", 0, 0,
	  "Programs of this host that workflows may run, each as \"name=/path\", with the\n"
	  "first arguments behind it: \"backup=/usr/bin/rsync -a --\".  Empty: none, and\n"
	  "this driver takes no such tasks.", OPTION_FIXED },
	{ "exec.env", OPTION_LIST, AT(exec.env), "", 0, 0,
	  "Variables that workflows may set for them.  Some give a program away: never\n"
	  "let PATH, LD_PRELOAD and the like stand here.", OPTION_LIVE },
	{ "exec.directory", OPTION_STRING, AT(exec.directory), "/", 0, 0,
	  "Where they work.", OPTION_LIVE },
	{ "exec.timeout_ms", OPTION_INT, AT(exec.timeout_ms), "0", 0, 24 * DAY_MS,
	  "Time limit of a program that states none; 0 is none.", OPTION_LIVE },
	{ "exec.max_output", OPTION_INT, AT(exec.max_output), "262144", 1024, 64 * MIB,
	  "The end of standard output that is kept, in bytes as JSON; the same of standard error.", OPTION_LIVE },
	{ "exec.kill_after_ms", OPTION_INT, AT(exec.kill_after_ms), "5000", 0, DAY_MS,
	  "A stopped program that does not end is killed so much later.", OPTION_LIVE },
	{ "http.connect_timeout_ms", OPTION_INT, AT(http.connect_timeout_ms), "5000", 1, DAY_MS,
	  "Time limit of reaching a server.", OPTION_LIVE },
	{ "http.timeout_ms", OPTION_INT, AT(http.timeout_ms), "60000", 1, DAY_MS,
	  "Time limit of a request that states none.", OPTION_LIVE },
	{ "http.max_body", OPTION_INT, AT(http.max_body), "1048576", 1, 256 * MIB,
	  "The largest body of a response, decompressed.", OPTION_LIVE },
	{ "http.max_headers", OPTION_INT, AT(http.max_headers), "65536", 1024, 300 * KIB,
	  "The largest header of a response; each line counts 32 bytes more than it has.", OPTION_LIVE },
	{ "http.max_redirects", OPTION_INT, AT(http.max_redirects), "5", 0, 20,
	  "How many redirects are followed.", OPTION_LIVE },
	{ "http.allow", OPTION_LIST, AT(http.allow), "0.0.0.0/0,::/0", 0, 0,
	  "Connect to these only: hosts (\"api.example.com\"; \".example.com\" is all\n"
	  "below it) and networks (\"10.0.0.0/8\").  Of the networks that hold an address\n"
	  "the smallest decides, among them some that are denied unless they are named\n"
	  "here: loopback, private, link-local and other networks that are not public,\n"
	  "and metadata services.  So by default all that is public is allowed; to allow\n"
	  "this machine as well, add \"127.0.0.0/8\" and \"::1\".", OPTION_LIVE },
	{ "http.deny", OPTION_LIST, AT(http.deny), "", 0, 0,
	  "Never connect to these, unless http.allow names a smaller network in them.", OPTION_LIVE },
	{ "http.ca_file", OPTION_STRING, AT(http.ca_file), "", 0, 0,
	  "Certificates of the authorities to trust.  Empty: the system's.", OPTION_LIVE },
	{ "http.tls_min", OPTION_STRING, AT(http.tls_min), "1.2", 0, 0,
	  "The oldest version of TLS that is used: 1.2 or 1.3.", OPTION_LIVE },
	{ "http.certificates", OPTION_LIST, AT(http.certificates), "", 0, 0,
	  "Certificates that the driver shows to servers that ask for one; each three\n"
	  "words: \"DESTINATION CERTIFICATE KEY\", the last two are files in PEM format.\n"
	  "The destination is \"https://api.example.com\", \"https://*.example.com:8443\" or\n"
	  "* for every server.  The first line that fits counts.", OPTION_LIVE },
	{ "http.proxy", OPTION_STRING, AT(http.proxy), "", 0, 0,
	  "The proxy that requests go through: \"http://HOST:PORT\", or \"https://HOST:PORT\"\n"
	  "for a proxy with TLS.  It looks names up, so the driver cannot look at the\n"
	  "addresses: a name goes through only if http.allow has that host, or \".domain\".\n"
	  "Empty: none; the environment is never asked.", OPTION_LIVE },
	{ "http.no_proxy", OPTION_LIST, AT(http.no_proxy), "", 0, 0,
	  "Hosts, \".domain\" and networks, as in http.allow, that are called without the\n"
	  "proxy.  A network is compared with addresses in URLs, not with those of names.", OPTION_LIVE },
	{ "secrets.directory", OPTION_STRING, AT(secrets.directory), "", 0, 0,
	  "Where secrets are: one file each, called as the secret is, that nobody else\n"
	  "may read.  Empty: the directory of systemd's credentials, if it gave one.", OPTION_LIVE },
	{ "secrets.environment", OPTION_STRING, AT(secrets.environment), "", 0, 0,
	  "What stands before the names of variables that are secrets: with \"SECRET_\"\n"
	  "secret(\"token\") may be in SECRET_token.  They are taken out of the\n"
	  "environment.  Empty: there are none.", OPTION_FIXED },
	{ "secrets.grants", OPTION_LIST, AT(secrets.grants), "", 0, 0,
	  "Who may use which secret, and where it may go; each four words:\n"
	  "\"SECRET WORKFLOW TASK_TYPE DESTINATION\".  The destination is\n"
	  "\"https://hr.example.com\", \"https://*.example.com:8443\", \"http://...\",\n"
	  "\"ssh://bastion\" or \"exec://PROGRAM\".  A * stands for every one.  Empty:\n"
	  "nobody may use any.", OPTION_LIVE },
	{ "ssh.program", OPTION_STRING, AT(ssh.program), "ssh", 0, 0,
	  "OpenSSH's client.", OPTION_LIVE },
	{ "ssh.config_file", OPTION_STRING, AT(ssh.config_file), "", 0, 0,
	  "Its configuration (hosts, users, keys).  Empty: the user's and the system's.", OPTION_LIVE },
	{ "ssh.options", OPTION_LIST, AT(ssh.options),
	  "ConnectTimeout=5,ServerAliveInterval=5,ServerAliveCountMax=3", 0, 0,
	  "Further options of ssh_config(5), each as Name=value.", OPTION_LIVE },
	{ "ssh.timeout_ms", OPTION_INT, AT(ssh.timeout_ms), "0", 0, 24 * DAY_MS,
	  "Time limit of a command that states none; 0 is none.", OPTION_LIVE },
	{ "ssh.max_output", OPTION_INT, AT(ssh.max_output), "262144", 1024, 64 * MIB,
	  "The end of standard output that is kept, in bytes as JSON; the same of standard error.", OPTION_LIVE },
	{ "ssh.kill_after_ms", OPTION_INT, AT(ssh.kill_after_ms), "5000", 0, DAY_MS,
	  "A stopped command that does not end is killed so much later.", OPTION_LIVE },
	{ "ssh.sessions", OPTION_INT, AT(ssh.sessions), "10", 0, 1000,
	  "How many commands share a connection, at most as many as the host's\n"
	  "MaxSessions.  0: each has one of its own, as ssh_config says.", OPTION_LIVE },
	{ "ssh.connections", OPTION_INT, AT(ssh.connections), "10", 1, 1000,
	  "How many shared connections there are to one host; further commands wait.", OPTION_LIVE },
	{ "ssh.connecting", OPTION_INT, AT(ssh.connecting), "4", 1, 1000,
	  "How many connections to one host are being made at a time; the host's\n"
	  "MaxStartups is for all who connect.", OPTION_LIVE },
	{ "ssh.idle_ms", OPTION_INT, AT(ssh.idle_ms), "30000", 0, DAY_MS,
	  "A shared connection that nobody uses is closed so much later.", OPTION_LIVE },
	{ "ssh.socket_dir", OPTION_STRING, AT(ssh.socket_dir), "", 0, 0,
	  "Where the directory for sockets of shared connections is made.  Empty: in\n"
	  "$RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR or /tmp.", OPTION_FIXED },
};
/* clang-format on */

const size_t option_count = sizeof(options) / sizeof(options[0]);

void *
option_field(const struct config *config, const struct option *option)
{
	return (char *)config + option->offset;
}

const struct option *
option_find(const char *key, struct error *err)
{
	struct suggestion suggestion;
	size_t i;

	suggestion_init(&suggestion, key);
	for (i = 0; i < option_count; i++) {
		if (strcmp(options[i].key, key) == 0)
			return &options[i];
		suggestion_offer(
		    &suggestion, options[i].key, strlen(options[i].key));
	}
	error_set(err, "unknown option %s", key);
	if (suggestion.best != NULL)
		error_hint(err,
		    "Did you mean %s?  wf-driver --print-config shows every "
		    "option.",
		    suggestion.best);
	else
		error_hint(err, "wf-driver --print-config shows every option.");
	return NULL;
}

void
option_list_clear(struct config_list *list)
{
	while (list->count > 0)
		free(list->items[--list->count]);
	free(list->items);
	*list = (struct config_list){ 0 };
}

void
option_list_add(struct config_list *list, const char *item, size_t len)
{
	list->items =
	    xreallocarray(list->items, list->count + 1, sizeof(list->items[0]));
	list->items[list->count++] = xstrndup(item, len);
}

bool
option_wrong_type(const struct option *option, struct error *err)
{
	error_set(err, "%s must be %s", option->key, type_names[option->type]);
	error_hint(err, "wf-driver --print-config shows every option.");
	return false;
}

bool
option_is_text(const char *key, const char *text, struct error *err)
{
	if (utf8_valid(text, strlen(text)))
		return true;
	error_set(err, "%s is not UTF-8 text", key);
	error_hint(err, "The database takes nothing else.");
	return false;
}

bool
option_set_int(struct config *config, const struct option *option,
    int64_t value, struct error *err)
{
	if (value < option->min || value > option->max) {
		error_set(err, "%s is %lld, outside of %lld to %lld",
		    option->key, (long long)value, (long long)option->min,
		    (long long)option->max);
		error_hint(err, "%s", option->text);
		return false;
	}
	*(int64_t *)option_field(config, option) = value;
	return true;
}

static bool
set_bool(struct config *config, const struct option *option, const char *text,
    struct error *err)
{
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return option_wrong_type(option, err);
	*(bool *)option_field(config, option) = *text == 't';
	return true;
}

void
option_set_string(
    struct config *config, const struct option *option, const char *text)
{
	char **string = option_field(config, option);

	free(*string);
	*string = xstrdup(text);
}

static void
set_list(struct config *config, const struct option *option, const char *text)
{
	struct config_list *list = option_field(config, option);
	size_t len;

	option_list_clear(list);
	for (; *text; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		option_list_add(list, text, len);
	}
}

static bool
list_same(const struct config_list *a, const struct config_list *b)
{
	size_t i;

	for (i = 0; i < a->count && i < b->count; i++)
		if (strcmp(a->items[i], b->items[i]) != 0)
			return false;
	return a->count == b->count;
}

bool
option_same(
    const struct option *option, const struct config *a, const struct config *b)
{
	const void *one = option_field(a, option),
	           *two = option_field(b, option);

	switch (option->type) {
	case OPTION_BOOL:
		return *(const bool *)one == *(const bool *)two;
	case OPTION_INT:
		return *(const int64_t *)one == *(const int64_t *)two;
	case OPTION_LIST:
		return list_same(one, two);
	case OPTION_STRING:
		return strcmp(*(char *const *)one, *(char *const *)two) == 0;
	}
	return false;
}

static const size_t sizes[] = {
	[OPTION_BOOL] = sizeof(bool),
	[OPTION_INT] = sizeof(int64_t),
	[OPTION_LIST] = sizeof(struct config_list),
	[OPTION_STRING] = sizeof(char *),
};

void
option_swap(const struct option *option, struct config *a, struct config *b)
{
	char *one = option_field(a, option), *two = option_field(b, option);
	char byte;
	size_t i;

	for (i = 0; i < sizes[option->type]; i++) {
		byte = one[i];
		one[i] = two[i];
		two[i] = byte;
	}
}

bool
option_set_text(struct config *config, const struct option *option,
    const char *text, struct error *err)
{
	char *end;
	long long value;

	switch (option->type) {
	case OPTION_BOOL:
		return set_bool(config, option, text, err);
	case OPTION_INT:
		errno = 0;
		value = strtoll(text, &end, 10);
		if (errno || end == text || *end)
			return option_wrong_type(option, err);
		return option_set_int(config, option, value, err);
	case OPTION_LIST:
		set_list(config, option, text);
		return true;
	case OPTION_STRING:
		option_set_string(config, option, text);
		return true;
	}
	return false;
}

void
config_preset(struct config *config)
{
	struct error err = { 0 };
	size_t i;

	*config = (struct config){ 0 };
	for (i = 0; i < option_count; i++)
		(void)option_set_text(
		    config, &options[i], options[i].preset, &err);
}

void
config_release(struct config *config)
{
	size_t i;

	for (i = 0; i < option_count; i++) {
		if (options[i].type == OPTION_STRING)
			free(*(char **)option_field(config, &options[i]));
		else if (options[i].type == OPTION_LIST)
			option_list_clear(option_field(config, &options[i]));
	}
	config_workspaces_clear(config);
	*config = (struct config){ 0 };
}

bool
config_set(struct config *config, const char *text, struct error *err)
{
	const struct option *option;
	size_t len = strcspn(text, "=");
	char *key = xstrndup(text, len);
	bool ok;

	if (!option_is_text("an option", text, err)) {
		free(key);
		return false;
	}
	if (text[len] == '\0') {
		error_set(err, "option %s has no value", key);
		error_hint(err, "Write -o %s=value.", key);
		free(key);
		return false;
	}
	if (strncmp(key, "workspaces.", 11) == 0) {
		ok =
		    config_workspace_set(config, key + 11, text + len + 1, err);
		free(key);
		return ok;
	}
	option = option_find(key, err);
	ok = option != NULL &&
	     option_set_text(config, option, text + len + 1, err);
	free(key);
	return ok;
}
