/*
 * main.c - wf-driver, from its arguments to its end.
 */
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "driver/config/config.h"
#include "driver/fleet.h"
#include "driver/identity.h"
#include "driver/secret/redact.h"
#include "driver/transport/transport.h"
#include "driver/workspace.h"
#include "runtime/descriptors.h"
#include "runtime/exposure.h"
#include "runtime/loop.h"
#include "runtime/supervisor.h"

enum {
	EXIT_USAGE = 2,
	EXIT_CONFIG = 78, /* as in sysexits.h: a restart will not help */

	LARGE_BUFFER = 256 << 10,

	/* descriptors */
	PER_SLOT = 4, /* a program: three pipes and its pidfd */
	OTHERS = 64,  /* the log, look-ups, shared connections, ... */
};

static const char usage_text[] =
    "usage: wf-driver [-c FILE] [-d CONNECTION] [-o KEY=VALUE]... [-n] [-v]\n"
    "\n"
    "  -c, --config FILE      read the configuration from FILE\n"
    "  -d CONNECTION          the workspace's database, as libpq takes it\n"
    "  -o KEY=VALUE           set an option, over what the file says\n"
    "  -n, --check            check configuration, connection and workspace, "
    "then exit\n"
    "  -v, --verbose          log in more detail\n"
    "      --print-config     print every option and exit\n"
    "      --version          print the version and exit\n"
    "      --help             print this and exit\n"
    "\n"
    "TERM: finish what is under way, then exit; a second TERM: exit now.\n"
    "HUP: read the configuration again.\n"
    "USR1: log the counters, and write them into the workspace.\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 78 configuration.\n";

enum option_code {
	OPTION_HELP = 256,
	OPTION_PRINT,
	OPTION_VERSION,
};

static const char short_options[] = "c:d:o:nv";
static const struct option long_options[] = {
	{ "check", no_argument, NULL, 'n' },
	{ "config", required_argument, NULL, 'c' },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ "print-config", no_argument, NULL, OPTION_PRINT },
	{ "verbose", no_argument, NULL, 'v' },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ NULL, 0, NULL, 0 },
};

struct arguments {
	bool check;
	bool print;
	bool verbose;
};

_Noreturn static void
exit_with(int code, const struct error *err)
{
	log_error(err);
	exit(code);
}

_Noreturn static void
exit_with_usage(void)
{
	fputs(usage_text, stderr);
	exit(EXIT_USAGE);
}

/*
 * Read the files before the options, so that options on the command line win.
 */
static bool
read_files(struct config *config, int argc, char **argv, struct error *err)
{
	int code;

	optind = 1;
	while ((code = getopt_long(
	            argc, argv, short_options, long_options, NULL)) != -1)
		if (code == '?')
			exit_with_usage();
		else if (code == 'c' && !config_load(config, optarg, err))
			return false;
	if (optind < argc)
		exit_with_usage();
	return true;
}

/* Set this as the only workspace. */
static void
set_connection(struct config *config, const char *conninfo)
{
	config_workspaces_clear(config);
	free(config->connection);
	config->connection = xstrdup(conninfo);
}

static bool
read_options(struct config *config, struct arguments *arguments, int argc,
    char **argv, struct error *err)
{
	int code;

	optind = 1;
	while ((code = getopt_long(
	            argc, argv, short_options, long_options, NULL)) != -1)
		switch (code) {
		case 'd':
			set_connection(config, optarg);
			break;
		case 'n':
			arguments->check = true;
			break;
		case 'o':
			if (!config_set(config, optarg, err))
				return false;
			break;
		case 'v':
			arguments->verbose = true;
			break;
		case OPTION_HELP:
			fputs(usage_text, stdout);
			exit(EXIT_SUCCESS);
		case OPTION_PRINT:
			arguments->print = true;
			break;
		case OPTION_VERSION:
			puts("wf-driver " IDENTITY_VERSION);
			exit(EXIT_SUCCESS);
		default:
			break;
		}
	return true;
}

static bool
check_log(const struct config *config, struct error *err)
{
	enum log_level level;

	if (log_level_find(config->log_level, &level))
		return true;
	error_set(err, "log_level: unknown level \"%s\"", config->log_level);
	error_hint(err, "There are error, warn, info and debug.");
	return false;
}

/* Check the limits of wf.register(). */
static bool
check_capabilities(const struct config_list *list, struct error *err)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (list->items[i][0] == '\0' || strlen(list->items[i]) > 127) {
			error_set(err,
			    "capabilities: \"%s\" has %zu bytes; a capability "
			    "has 1 to 127",
			    list->items[i], strlen(list->items[i]));
			return false;
		}
	if (list->count > 64)
		error_set(err,
		    "capabilities: %zu are given, at most 64 are allowed",
		    list->count);
	return list->count <= 64;
}

/* Read the whole configuration, over the defaults; at the start and later. */
static bool
read_config(struct config *config, struct arguments *arguments, int argc,
    char **argv, struct error *err)
{
	struct error ignored = { 0 };

	config_preset(config);
	if (!read_files(config, argc, argv, err)) {
		/* the options may say how to log the error */
		(void)read_options(config, arguments, argc, argv, &ignored);
		error_release(&ignored);
		return false;
	}
	return read_options(config, arguments, argc, argv, err) &&
	       config_check(config, err) && check_log(config, err) &&
	       check_capabilities(&config->capabilities, err);
}

static void
start_log(const struct config *config, const struct arguments *arguments)
{
	enum log_level level = LOG_LEVEL_INFO;

	log_level_find(config->log_level, &level);
	log_filter(redact_line);
	log_init(arguments->verbose ? LOG_LEVEL_DEBUG : level,
	    config->log_json   ? LOG_JSON
	    : config->log_time ? LOG_TIMED
	                       : LOG_TEXT);
}

/* The running program, for signals and the supervisor. */
struct program {
	int argc;
	char **argv;
	struct arguments arguments;
	struct config config;
	struct loop *loop;
	struct transports *transports;
	struct fleet *fleet;
	struct supervisor *supervisor;
};

/* Warn if `config` at its limits needs more descriptors than there can be. */
static void
check_descriptors(const struct config *config)
{
	int64_t logins = 1 + (int64_t)config->sql_roles.count;
	int64_t sessions =
	    config->connections + logins * config->sql_connections;
	int64_t needed = OTHERS + PER_SLOT * config->slots +
	                 (int64_t)config_workspaces(config) * sessions;
	int64_t most = descriptors_most();

	if (most > 0 && most < needed)
		log_warnx(
		    "slots is %lld: this may take %lld descriptors, and this "
		    "program may have no more than %lld; raise its hard limit "
		    "(LimitNOFILE in systemd, ulimit -H -n in a shell), or "
		    "lower slots",
		    (long long)config->slots, (long long)needed,
		    (long long)most);
}

/* Warn of settings that are valid, but dangerous or too high for this host. */
static void
warn_of(const struct config *config)
{
	exposure_init(!config->trust_network);
	check_descriptors(config);
}

/* Take over a good `fresh`. */
static void
take_config(struct program *program, struct config *fresh)
{
	struct buf waiting;
	bool tell;

	buf_init(&waiting, 0);
	tell = config_take(&program->config, fresh, &waiting);
	start_log(&program->config, &program->arguments);
	log_info("configuration read again");
	warn_of(&program->config);
	fleet_reload(program->fleet, tell);
	if (waiting.len > 0)
		log_warnx("these options have changed, but the driver reads "
		          "them at its start only: %s",
		    waiting.data);
	buf_release(&waiting);
}

static void
reload(struct program *program)
{
	struct config fresh;
	struct error err = { 0 };

	supervisor_reloading(program->supervisor);
	if (read_config(&fresh, &program->arguments, program->argc,
	        program->argv, &err) &&
	    transports_reload(program->transports, &fresh, &err))
		take_config(program, &fresh);
	else
		log_warnx("configuration not read again, the former one stays: "
		          "%s%s%s",
		    err.message, err.hint != NULL ? " hint: " : "",
		    err.hint != NULL ? err.hint : "");
	error_release(&err);
	config_release(&fresh);
	supervisor_ready(program->supervisor);
}

static void
on_reload(void *arg, int signal)
{
	(void)signal;
	reload(arg);
}

static void
on_tell(void *arg, int signal)
{
	struct program *program = arg;

	(void)signal;
	fleet_tell_counters(program->fleet);
}

static void
on_stop(void *arg, int signal)
{
	struct program *program = arg;

	(void)signal;
	fleet_stop(program->fleet);
	supervisor_stopping(program->supervisor);
}

static void
on_status(void *arg, struct buf *line)
{
	struct program *program = arg;

	fleet_status(program->fleet, line);
}

/*
 * A driver that waits for its database counts as ready.  Its status tells
 * whether it has a connection.
 */
static int
run(struct program *program)
{
	struct loop *loop = program->loop;
	int code;

	program->fleet = fleet_new(loop, &program->config, program->transports);
	program->supervisor = supervisor_new(loop, on_status, program);
	loop_signal(loop, SIGTERM, on_stop, program);
	loop_signal(loop, SIGINT, on_stop, program);
	loop_signal(loop, SIGHUP, on_reload, program);
	loop_signal(loop, SIGUSR1, on_tell, program);
	signal(SIGPIPE, SIG_IGN);
	supervisor_ready(program->supervisor);
	loop_run(loop);
	code = fleet_exit_code(program->fleet);
	supervisor_free(program->supervisor);
	fleet_free(program->fleet);
	return code;
}

static int
check(const struct config *config)
{
	struct config_workspace workspace;
	struct error err = { 0 };
	size_t i;

	for (i = 0; i < config_workspaces(config); i++) {
		workspace = config_workspace(config, i);
		if (workspace_check(workspace.name, workspace.connection, &err))
			continue;
		if (workspace.name[0] != '\0')
			error_prefix(&err, "%s", workspace.name);
		exit_with(EXIT_FAILURE, &err);
	}
	puts("wf-driver: configuration, connection and workspace are good");
	return EXIT_SUCCESS;
}

/*
 * Keep the secrets in our memory from others: no core file, and no access
 * through /proc for programs of the same user.
 */
static void
close_memory(void)
{
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		log_warnx("the memory of this program is open to its user");
}

/*
 * Give the memory of large buffers back to the system when they are freed.  By
 * itself the allocator raises the threshold to the largest buffer that was ever
 * freed.  Then later buffers lie among small ones, and the program keeps their
 * memory.
 */
static void
return_memory(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, LARGE_BUFFER);
}

int
main(int argc, char **argv)
{
	struct program program = { .argc = argc, .argv = argv };
	struct config *config = &program.config;
	struct error err = { 0 };
	int code = EXIT_SUCCESS;
	bool good;

	close_memory();
	return_memory();
	descriptors_raise();
	good = read_config(config, &program.arguments, argc, argv, &err);
	start_log(config, &program.arguments);
	if (!good)
		exit_with(EXIT_CONFIG, &err);

	program.loop = loop_new();
	program.transports = transports_open(program.loop, config, &err);
	if (program.transports == NULL)
		exit_with(EXIT_CONFIG, &err);
	if (program.arguments.print) {
		config_print(config, stdout);
	} else {
		warn_of(config);
		code = program.arguments.check ? check(config) : run(&program);
	}

	transports_close(program.transports);
	loop_free(program.loop);
	config_release(config);
	return code;
}
