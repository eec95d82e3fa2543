/*
 * builtin.c - requests that the driver does by itself: log, read its
 * environment, do nothing, fail.
 *
 * It is the smallest whole transport, and meant to be copied.  start() decides
 * everything; only the call of `done` waits for its turn in the loop.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/json.h"
#include "common/log.h"
#include "common/mem.h"
#include "driver/config/config.h"
#include "driver/transport/outcome.h"
#include "driver/transport/transport.h"
#include "runtime/loop.h"

struct builtin {
	struct loop *loop;
	const struct config *config;
};

struct run {
	struct loop *loop;
	struct loop_call call;
	transport_done_fn *done;
	void *arg;
	struct outcome outcome;
};

/* One operation: it makes the outcome from the arguments. */
typedef bool operation_fn(const struct builtin *builtin,
    const struct task *task, const struct json *args, struct outcome *outcome,
    struct error *err);

static bool
op_env(const struct builtin *builtin, const struct task *task,
    const struct json *args, struct outcome *outcome, struct error *err)
{
	const struct config_list *allowed = &builtin->config->env;
	const char *name = json_string(json_get(args, "name"));
	size_t i = 0;

	(void)task;
	if (name == NULL) {
		error_set(err, "env: name must be a string");
		return false;
	}
	while (i < allowed->count && strcmp(allowed->items[i], name) != 0)
		i++;
	if (i == allowed->count) {
		error_set(err, "env: this driver does not show %s", name);
		error_hint(err, "Add it to env in the driver's configuration.");
		return false;
	}
	buf_addc(&outcome->body, '{');
	outcome_add_member(&outcome->body, "value", getenv(name));
	buf_addc(&outcome->body, '}');
	return true;
}

static bool
op_fail(const struct builtin *builtin, const struct task *task,
    const struct json *args, struct outcome *outcome, struct error *err)
{
	const char *kind = json_string(json_get(args, "kind"));
	const char *message = json_string(json_get(args, "message"));
	const struct json *attempts = json_get(args, "attempts");

	(void)builtin;
	(void)err;
	/* a later attempt ends well: so a policy `retry` can be tried out */
	if (json_type(attempts) == JSON_INT &&
	    task->attempt > json_int(attempts))
		return true;
	outcome_error(outcome, kind != NULL ? kind : "failed", NULL, "%s",
	    message != NULL ? message : "failed on purpose");
	return true;
}

static bool
op_log(const struct builtin *builtin, const struct task *task,
    const struct json *args, struct outcome *outcome, struct error *err)
{
	const char *message = json_string(json_get(args, "message"));

	(void)builtin;
	if (message == NULL) {
		error_set(err, "log: message must be a string");
		return false;
	}
	log_say(TASK_ABOUT(task), message);
	buf_adds(&outcome->body, "{}");
	return true;
}

static bool
op_noop(const struct builtin *builtin, const struct task *task,
    const struct json *args, struct outcome *outcome, struct error *err)
{
	(void)builtin;
	(void)task;
	(void)args;
	(void)outcome;
	(void)err;
	return true;
}

/* Keep sorted by name. */
static const struct {
	const char *name;
	operation_fn *fn;
} operations[] = {
	{ "env", op_env },
	{ "fail", op_fail },
	{ "log", op_log },
	{ "noop", op_noop },
};

enum {
	OPERATIONS = sizeof(operations) / sizeof(operations[0]),
};

static bool
operate(const struct builtin *builtin, const struct task *task,
    struct outcome *outcome, struct error *err)
{
	static const char noop[] = "{\"op\": \"noop\"}";
	struct json *args;
	const char *name;
	bool ok = false;
	size_t i;

	/* by far the most frequent arguments need no parsing */
	if (strcmp(task->args, noop) == 0)
		return true;
	if (!json_parse(task->args, task->args_len, &args, err))
		return false;
	name = json_string(json_get(args, "op"));
	for (i = 0; name != NULL && i < OPERATIONS; i++)
		if (strcmp(operations[i].name, name) == 0)
			break;
	if (name == NULL || i == OPERATIONS)
		error_set(err, "op must be env, fail, log or noop");
	else
		ok = operations[i].fn(builtin, task, args, outcome, err);
	json_free(args);
	return ok;
}

static void
finish(void *arg)
{
	struct run *run = arg;
	struct outcome outcome = run->outcome;

	outcome_init(&run->outcome);
	run->done(run->arg, &outcome);
}

static struct run *
builtin_start(void *state, const struct task *task, transport_done_fn *done,
    void *arg, struct error *err)
{
	struct builtin *builtin = state;
	struct run *run = xcalloc(1, sizeof(*run));

	outcome_init(&run->outcome);
	if (!operate(builtin, task, &run->outcome, err)) {
		outcome_release(&run->outcome);
		free(run);
		return NULL;
	}
	run->loop = builtin->loop;
	run->call.fn = finish;
	run->call.arg = run;
	run->done = done;
	run->arg = arg;
	loop_later(builtin->loop, &run->call);
	return run;
}

static void
builtin_cancel(struct run *run)
{
	(void)run; /* the request is over before anyone can ask */
}

static void
builtin_free(struct run *run)
{
	loop_cancel(run->loop, &run->call);
	outcome_release(&run->outcome);
	free(run);
}

static bool
builtin_open(struct loop *loop, const struct config *config, void **state,
    struct error *err)
{
	struct builtin *builtin = xmalloc(sizeof(*builtin));

	(void)err;
	builtin->loop = loop;
	builtin->config = config;
	*state = builtin;
	return true;
}

const struct transport transport_builtin = {
	.name = "builtin",
	.instant = true,
	.open = builtin_open,
	.start = builtin_start,
	.cancel = builtin_cancel,
	.free = builtin_free,
	.close = free,
};
