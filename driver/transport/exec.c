/*
 * exec.c - programs of this host, from a list in the configuration.
 *
 * A workflow names one of them and gives further arguments.  It never says
 * which file is run.  No shell is involved.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "driver/config/config.h"
#include "driver/transport/ending.h"
#include "driver/transport/outcome.h"
#include "driver/transport/output.h"
#include "driver/transport/tail.h"
#include "driver/transport/transport.h"
#include "driver/transport/words.h"
#include "runtime/child.h"
#include "runtime/loop.h"

struct exec {
	struct loop *loop;
	const struct config *config;
};

struct run {
	struct exec *exec;
	transport_done_fn *done;
	void *arg;
	struct json *args;
	const char *program; /* its name, in args */
	struct child *child; /* NULL: the program could not be run */
	struct error why;    /* then, the reason */
	struct loop_call call;
	struct tail out, err;
	struct output *output; /* gets the streams as they come, or NULL */
	struct ending ending;
};

/* The list of programs ----------------------------------------------------- */

#define NAME_BYTES \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

/* The command behind `name=`; NULL if `item` is another program's. */
static const char *
command_of(const char *item, const char *name)
{
	size_t len = strlen(name);

	return strncmp(item, name, len) == 0 && item[len] == '='
	           ? item + len + 1
	           : NULL;
}

static const char *
find_command(const struct config *config, const char *name)
{
	const struct config_list *list = &config->exec.programs;
	const char *command = NULL;
	size_t i;

	if (name[strspn(name, NAME_BYTES)] != '\0')
		return NULL;
	for (i = 0; command == NULL && i < list->count; i++)
		command = command_of(list->items[i], name);
	return command;
}

static bool
check_programs(const struct config_list *list, struct error *err)
{
	size_t i, len;

	for (i = 0; i < list->count; i++) {
		len = strspn(list->items[i], NAME_BYTES);
		if (len > 0 && strncmp(list->items[i] + len, "=/", 2) == 0)
			continue;
		error_set(err, "exec.programs: \"%s\" is not a program",
		    list->items[i]);
		error_hint(err, "Write \"name=/path/of/the/program\".");
		return false;
	}
	return true;
}

/* Arguments ---------------------------------------------------------------- */

/* The words of the configuration, then those of the workflow. */
static bool
add_command(struct words *words, const char *command, const struct json *args,
    struct error *err)
{
	size_t i, len;

	for (; *command != '\0'; command += len + (command[len] == ' ')) {
		len = strcspn(command, " ");
		if (len > 0)
			words_give(words, xstrndup(command, len));
	}
	if (args != NULL && json_type(args) != JSON_LIST) {
		error_set(err, "args must be a list of strings");
		return false;
	}
	for (i = 0; i < json_length(args); i++) {
		const char *text = json_c_string(json_at(args, i));

		if (text == NULL) {
			error_set(
			    err, "args[%zu] must be a string without a NUL", i);
			return false;
		}
		words_add(words, text);
	}
	return true;
}

static bool
is_listed(const struct config_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (strcmp(list->items[i], name) == 0)
			return true;
	return false;
}

static bool
add_env(struct words *words, const struct config_list *allowed,
    const struct json *env, struct error *err)
{
	struct buf variable;
	size_t i;

	if (env != NULL && json_type(env) != JSON_OBJECT) {
		error_set(err, "env must be an object");
		return false;
	}
	for (i = 0; i < json_length(env); i++) {
		const char *name = json_key_at(env, i);
		const char *value = json_c_string(json_value_at(env, i));

		if (!is_listed(allowed, name)) {
			error_set(err,
			    "env: this driver lets no workflow set %s", name);
			error_hint(err, "Add it to exec.env in the driver's "
			                "configuration.");
			return false;
		}
		if (value == NULL) {
			error_set(err, "env: %s must be a string without a NUL",
			    name);
			return false;
		}
		buf_init_secret(&variable, 0);
		buf_adds(&variable, name);
		buf_addc(&variable, '=');
		buf_adds(&variable, value);
		words_give(words, buf_take(&variable));
	}
	return true;
}

/* The outcome -------------------------------------------------------------- */

static void
on_output(void *arg, enum pipe_stream which, const char *data, size_t len)
{
	struct run *run = arg;

	tail_add(which == PIPE_OUT ? &run->out : &run->err, data, len);
	output_add(run->output, which, data, len);
}

/* As in shells: above 128 the code stands for a signal. */
static int
exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
	                           : WEXITSTATUS(status);
}

static void
on_ended(void *arg, int status)
{
	struct run *run = arg;
	struct outcome outcome;

	outcome_init(&outcome);
	if (!ending_explain(&run->ending, &outcome, run->program, ""))
		outcome_exited(
		    &outcome, exit_code(status), &run->out, &run->err);
	run->done(run->arg, &outcome);
}

static const struct child_events events = {
	.output = on_output,
	.ended = on_ended,
};

static void
on_not_run(void *arg)
{
	struct run *run = arg;
	struct outcome outcome;

	outcome_init(&outcome);
	outcome_error(
	    &outcome, "exec", NULL, "%s: %s", run->program, run->why.message);
	run->done(run->arg, &outcome);
}

/* Stopping ----------------------------------------------------------------- */

static void
stop(struct run *run, enum ending_cause cause)
{
	if (run->ending.cause != ENDING_NONE || run->child == NULL)
		return;
	child_signal(run->child, SIGTERM);
	ending_set(&run->ending, cause, run->exec->config->exec.kill_after_ms);
}

static void
on_limit(void *arg)
{
	stop(arg, ENDING_TIMEOUT);
}

static void
on_kill(void *arg)
{
	struct run *run = arg;

	child_signal(run->child, SIGKILL);
}

static void
exec_cancel(struct run *run)
{
	stop(run, ENDING_CANCELLED);
}

/* The transport ------------------------------------------------------------ */

static void
exec_free(struct run *run)
{
	if (run == NULL)
		return;
	ending_release(&run->ending);
	loop_cancel(run->exec->loop, &run->call);
	child_free(run->child);
	error_release(&run->why);
	tail_release(&run->out);
	tail_release(&run->err);
	json_free_secret(run->args);
	free(run);
}

/* If the program can't be run, that is an outcome, too. */
static void
run_program(struct run *run, char *const *argv, char *const *env)
{
	const struct exec *exec = run->exec;
	struct child_program program = {
		.argv = argv,
		.env = env,
		.directory = exec->config->exec.directory,
		.alone = true,
	};
	const struct json *input = json_get(run->args, "stdin");

	run->child = child_start(exec->loop, &program, &events, run, &run->why);
	if (run->child == NULL) {
		loop_later(exec->loop, &run->call);
		return;
	}
	child_write(run->child, input != NULL ? json_string(input) : "",
	    json_string_length(input));
	child_close_input(run->child);
	ending_begin(&run->ending);
}

static void
not_a_word(struct error *err)
{
	error_set(err, "program must be a string without a NUL");
}

static char *
destination(const struct task *task, struct error *err)
{
	const char *program;
	struct json *args;
	char *place = NULL;

	if (!json_parse_secret(task->args, task->args_len, &args, err))
		return NULL;
	program = json_c_string(json_get(args, "program"));
	if (program != NULL)
		place = xasprintf("exec://%s", program);
	else
		not_a_word(err);
	json_free_secret(args);
	return place;
}

static bool
begin(struct run *run, const struct task *task, struct error *err)
{
	const struct config *config = run->exec->config;
	struct words argv = { 0 }, env = { 0 };
	const struct json *input;
	const char *command = NULL;
	bool ok = false;

	if (!json_parse_secret(task->args, task->args_len, &run->args, err))
		return false;
	input = json_get(run->args, "stdin");
	run->program = json_c_string(json_get(run->args, "program"));
	if (run->program != NULL)
		command = find_command(config, run->program);
	if (run->program == NULL) {
		not_a_word(err);
	} else if (command == NULL) {
		error_set(err, "this driver has no program %s", run->program);
		error_hint(err,
		    "Add it to exec.programs in the driver's configuration.");
	} else if (input != NULL && json_string(input) == NULL) {
		error_set(err, "stdin must be a string");
	} else if (add_command(
	               &argv, command, json_get(run->args, "args"), err) &&
	           add_env(&env, &config->exec.env, json_get(run->args, "env"),
	               err)) {
		run_program(run, argv.list, env.list);
		ok = true;
	}
	words_release(&argv);
	words_release(&env);
	return ok;
}

static struct run *
exec_start(void *state, const struct task *task, transport_done_fn *done,
    void *arg, struct error *err)
{
	struct exec *exec = state;
	size_t limit = (size_t)exec->config->exec.max_output;
	struct run *run = xcalloc(1, sizeof(*run));

	run->exec = exec;
	run->done = done;
	run->arg = arg;
	run->output = task->output;
	tail_init(&run->out, limit);
	tail_init(&run->err, limit);
	run->call = (struct loop_call){ .fn = on_not_run, .arg = run };
	ending_init(&run->ending, exec->loop,
	    task->timeout_ms > 0 ? task->timeout_ms
	                         : exec->config->exec.timeout_ms,
	    on_limit, on_kill, run);
	if (!begin(run, task, err)) {
		exec_free(run);
		return NULL;
	}
	return run;
}

static bool
exec_open(struct loop *loop, const struct config *config, void **state,
    struct error *err)
{
	struct exec *exec;

	if (config->exec.programs.count == 0 ||
	    !check_programs(&config->exec.programs, err))
		return false;
	exec = xmalloc(sizeof(*exec));
	exec->loop = loop;
	exec->config = config;
	*state = exec;
	return true;
}

const struct transport transport_exec = {
	.name = "exec",
	.open = exec_open,
	.destination = destination,
	.start = exec_start,
	.cancel = exec_cancel,
	.free = exec_free,
	.close = free,
};
