/*
 * The arguments of a request, as authors write them: each transport begins
 * with them or says what is wrong.  None of them gets anywhere.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/json.h"
#include "common/utf8.h"
#include "driver/config/config.h"
#include "driver/transport/outcome.h"
#include "driver/transport/sql/statement.h"
#include "driver/transport/transport.h"
#include "runtime/loop.h"
#include "tests/fuzz/fuzz.h"

static const char *const settings[] = {
	"http.deny=0.0.0.0/0,::/0",
	"exec.programs=program=/nowhere/program -x",
	"exec.env=SHOWN",
	"ssh.program=/nowhere/ssh",
	"ssh.sessions=0",
};

static const struct transport *const transports[] = { &transport_http,
	&transport_ssh, &transport_exec };

enum { TRANSPORTS = sizeof(transports) / sizeof(transports[0]) };

static struct config config;
static struct loop *loop;
static void *states[TRANSPORTS];

static void
set_up(void)
{
	struct error err = { 0 };
	size_t i;

	signal(SIGPIPE, SIG_IGN);
	loop = loop_new();
	config_preset(&config);
	for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		MUST(config_set(&config, settings[i], &err));
	for (i = 0; i < TRANSPORTS; i++)
		MUST(transports[i]->open(loop, &config, &states[i], &err));
}

static void
on_done(void *arg, struct outcome *outcome)
{
	(void)arg;
	outcome_release(outcome);
}

static void
try_transport(size_t i, const struct task *task)
{
	struct error err = { 0 };
	struct run *run =
	    transports[i]->start(states[i], task, on_done, NULL, &err);

	MUST((run == NULL) == (err.message != NULL));
	MUST(run != NULL || utf8_valid(err.message, strlen(err.message)));
	if (run != NULL)
		transports[i]->free(run);
	error_release(&err);
}

static void
try_statement(const struct task *task)
{
	struct sql_statement statement;
	struct error err = { 0 };
	struct json *args = NULL;

	if (json_parse(task->args, task->args_len, &args, &err)) {
		MUST(sql_statement_init(&statement, args, 1000, &err) ==
		     (err.message == NULL));
		sql_statement_release(&statement);
	}
	json_free(args);
	error_release(&err);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { (const char *)data, size };
	struct task task = {
		.token = "0",
		.trace_id = "01234567-89ab-cdef-0123-456789abcdef",
		.request = "start",
		.type = "t",
		.workspace = "",
	};
	char *args = fuzz_part(&input, &task.args_len);
	size_t i;

	if (loop == NULL)
		set_up();
	task.args = args;
	for (i = 0; i < TRANSPORTS; i++)
		try_transport(i, &task);
	try_statement(&task);
	free(args);
	return 0;
}
