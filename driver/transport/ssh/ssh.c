/*
 * ssh.c - commands on other hosts, through OpenSSH's client.
 *
 * Only the records of the wrapper around a command (wrapper.h) tell whether the
 * command ran and how it ended.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "driver/config/config.h"
#include "driver/transport/ending.h"
#include "driver/transport/outcome.h"
#include "driver/transport/ssh/client.h"
#include "driver/transport/ssh/pool.h"
#include "driver/transport/ssh/session.h"
#include "driver/transport/ssh/stream.h"
#include "driver/transport/ssh/wrapper.h"
#include "driver/transport/transport.h"
#include "driver/transport/words.h"
#include "runtime/loop.h"
#include "runtime/random.h"

enum {
	ENDING_MS = 5000, /* for a host to kill a command that does not end */
};

struct ssh {
	struct loop *loop;
	const struct config *config;
	struct ssh_pool *pool;
};

struct run {
	struct ssh *ssh;
	const struct task *task;
	transport_done_fn *done;
	void *arg;
	struct json *args;
	struct ssh_target target; /* in args */
	char nonce[RANDOM_NONCE];
	struct buf command; /* for the remote shell */
	struct buf env;     /* a line for the wrapper */
	struct ssh_seat seat;
	struct ssh_session *session; /* NULL: the run waits for its seat */
	struct ssh_stream out, err;
	bool went;            /* the command may have begun */
	struct ending ending; /* its time to reach the host, and then the time
	                         of the command */
	struct loop_call withdraw_call;
};

/* The command -------------------------------------------------------------- */

static bool
wrong(struct error *err, const char *what)
{
	error_set(err, "%s", what);
	return false;
}

/* Whether `text` is a name that no program on its way could misunderstand. */
static bool
is_name(const char *text, const char *more)
{
	const char *c;

	if (text == NULL || strlen(text) > 253)
		return false;
	for (c = text; *c != '\0'; c++)
		if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
		        (*c >= '0' && *c <= '9') ||
		        (c > text && strchr(more, *c) != NULL)))
			return false;
	return c > text;
}

/* The list of words, or NULL; an empty list is the same as none. */
static const struct json *
command_of(const struct run *run)
{
	const struct json *command = json_get(run->args, "command");

	if (json_type(command) == JSON_LIST && json_length(command) == 0)
		return NULL;
	return command;
}

/* Read the target from `args`; its strings belong to `args`. */
static bool
read_target(
    const struct json *args, struct ssh_target *target, struct error *err)
{
	const struct json *user = json_get(args, "user");
	const struct json *port = json_get(args, "port");

	target->host = json_string(json_get(args, "host"));
	if (!is_name(target->host, "._-:"))
		return wrong(err, "host must be the name of a host");
	if (user != NULL && !is_name(json_string(user), "._-"))
		return wrong(err, "user must be the name of a user");
	if (port != NULL && (json_type(port) != JSON_INT ||
	                        json_int(port) < 1 || json_int(port) > 65535))
		return wrong(err, "port must be from 1 to 65535");
	target->user = json_string(user);
	target->port = port != NULL ? json_int(port) : 0;
	return true;
}

static char *
destination(const struct task *task, struct error *err)
{
	struct ssh_target target;
	struct json *args;
	char *place = NULL;

	if (!json_parse_secret(task->args, task->args_len, &args, err))
		return NULL;
	if (read_target(args, &target, err))
		place = target.port != 0
		            ? xasprintf("ssh://%s:%lld", target.host,
		                  (long long)target.port)
		            : xasprintf("ssh://%s", target.host);
	json_free_secret(args);
	return place;
}

static bool
check_args(struct run *run, struct error *err)
{
	bool command = command_of(run) != NULL;
	bool script = json_string(json_get(run->args, "script")) != NULL;

	if (!read_target(run->args, &run->target, err))
		return false;
	if (command == script)
		return wrong(err, "either command or script must be given");
	if (json_get(run->args, "stdin") != NULL &&
	    (script || !json_string(json_get(run->args, "stdin"))))
		return wrong(
		    err, "stdin must be a string, and goes with command only");
	return true;
}

/* What comes back ---------------------------------------------------------- */

static void
go(struct run *run)
{
	const char *script = json_string(json_get(run->args, "script"));
	const struct json *input =
	    json_get(run->args, script != NULL ? "script" : "stdin");
	struct buf text;

	run->went = true;
	ssh_pool_begun(&run->seat);
	buf_init_secret(&text, 0);
	ssh_wrapper_go(&text, run->env.data,
	    input != NULL ? json_string(input) : "",
	    input != NULL ? json_string_length(input) : 0);
	ssh_session_write(run->session, text.data, text.len);
	buf_release(&text);
}

/* Whether both streams have the last record. */
static bool
is_over(const struct run *run)
{
	return run->out.ended && run->err.ended;
}

/*
 * The command is over, or has not begun.  Processes that it has left on the host
 * may hold the streams open for ever, so the session is ended.
 */
static void
end_session(struct run *run, enum ending_cause cause)
{
	ending_set(&run->ending, cause, ssh_session_end(run->session));
}

static void
on_output(void *arg, enum pipe_stream which, const char *data, size_t len)
{
	struct run *run = arg;
	bool was_over = is_over(run);

	ssh_stream_add(which == PIPE_OUT ? &run->out : &run->err, run->nonce,
	    data, len, run->task->output, which);
	if (run->out.begun && run->err.begun && !run->went &&
	    run->ending.cause == ENDING_NONE)
		go(run);
	if (is_over(run) && !was_over)
		end_session(run, run->ending.cause);
}

/* The outcome -------------------------------------------------------------- */

/* Why the session has ended; the caller frees it. */
static char *
reason_of(const struct run *run, const char *reason)
{
	return reason != NULL ? xstrdup(reason)
	                      : ssh_client_last_line(&run->err.text.kept);
}

/* The session has ended by itself. */
static void
explain_loss(
    struct run *run, int code, const char *reason, struct outcome *outcome)
{
	char *said = reason_of(run, reason);

	if (run->went)
		outcome_error(outcome, "lost", NULL,
		    "ssh %s: the connection was lost while the command ran%s%s",
		    run->target.host, *said != '\0' ? ": " : "", said);
	else if (*said != '\0')
		outcome_error(
		    outcome, "ssh", NULL, "ssh %s: %s", run->target.host, said);
	else
		outcome_error(outcome, "ssh", NULL,
		    "ssh %s: %s before the command began", run->target.host,
		    code == SSH_SESSION_KILLED ? "the client was killed"
		                               : "the session ended");
	free(said);
}

static void
explain(struct run *run, int code, const char *reason, struct outcome *outcome)
{
	char *what = xasprintf("ssh %s", run->target.host);

	if (!ending_explain(&run->ending, outcome, what,
	        run->went && !is_over(run)
	            ? ", and the host has not said that the command has ended"
	            : ""))
		explain_loss(run, code, reason, outcome);
	free(what);
}

/*
 * Whether the run waits for another seat: it got no session, and a command that
 * has not begun may be begun again.
 */
static bool
asks_again(struct run *run, int code, const char *reason)
{
	char *said;
	bool again;

	if (run->went || run->ending.cause != ENDING_NONE ||
	    code != SSH_SESSION_REFUSED)
		return false;
	said = reason_of(run, reason);
	again = ssh_pool_refused(
	    &run->seat, strstr(said, "refused by peer") != NULL, said);
	free(said);
	if (!again)
		return false;
	ssh_session_free(run->session);
	run->session = NULL;
	ending_begin(&run->ending);
	ssh_stream_reset(&run->out);
	ssh_stream_reset(&run->err);
	return true;
}

static void
on_ended(void *arg, int code, const char *reason)
{
	struct run *run = arg;
	struct outcome outcome;

	if (asks_again(run, code, reason))
		return;
	outcome_init(&outcome);
	if (is_over(run) && run->ending.cause == ENDING_NONE)
		outcome_exited(&outcome, run->err.exit_code, &run->out.text,
		    &run->err.text);
	else
		explain(run, code, reason, &outcome);
	run->done(run->arg, &outcome);
}

static const struct ssh_session_events events = {
	.output = on_output,
	.ended = on_ended,
};

/* Stopping ----------------------------------------------------------------- */

/*
 * Stop the run.  When its input ends, the wrapper ends the command on the host.
 */
static void
stop(struct run *run, enum ending_cause cause)
{
	int64_t kill_ms = run->ssh->config->ssh.kill_after_ms;

	if (run->ending.cause != ENDING_NONE || is_over(run))
		return;
	if (!run->went) {
		end_session(run, cause);
		return;
	}
	ssh_session_close_input(run->session);
	ending_set(&run->ending, cause, kill_ms + ENDING_MS);
}

/* Beginning ---------------------------------------------------------------- */

static void
fail(struct run *run, const char *kind, const char *message)
{
	struct outcome outcome;

	outcome_init(&outcome);
	outcome_error(
	    &outcome, kind, NULL, "ssh %s: %s", run->target.host, message);
	run->done(run->arg, &outcome);
}

/* A command that waits for its turn keeps its whole time limit. */
static void
on_limit(void *arg)
{
	struct run *run = arg;

	if (run->session != NULL) {
		stop(run, ENDING_TIMEOUT);
	} else if (ssh_pool_awaits_host(&run->seat)) {
		ssh_pool_leave(&run->seat);
		fail(run, "timeout", "the host was not reached in time");
	}
}

static void
on_kill(void *arg)
{
	struct run *run = arg;

	ssh_session_kill(run->session);
}

static void
on_failed(void *arg, const char *reason)
{
	fail(arg, "ssh", reason);
}

/* A client of its own; whether it shares is for ssh_config, if we do not share. */
static struct ssh_session *
begin_alone(struct run *run, struct error *err)
{
	static const char *const alone[] = { "ControlMaster=no",
		"ControlPath=none", NULL };
	const struct config *config = run->ssh->config;
	struct words words = { 0 };
	struct ssh_session *session;

	ssh_client_options(
	    &words, config, config->ssh.sessions > 0 ? alone : alone + 2);
	ssh_client_target(&words, &run->target);
	words_add(&words, run->command.data);
	session = ssh_session_alone(run->ssh->loop, &words, &events, run, err);
	words_release(&words);
	return session;
}

static void
on_granted(void *arg, const char *socket)
{
	struct run *run = arg;
	struct error err = { 0 };

	if (socket != NULL)
		run->session = ssh_session_share(run->ssh->loop, socket,
		    run->command.data, &events, run, &err);
	else
		run->session = begin_alone(run, &err);
	if (run->session == NULL)
		fail(run, "ssh", err.message);
	else
		ending_begin(&run->ending);
	error_release(&err);
}

static void
on_withdrawn(void *arg)
{
	fail(arg, "cancelled", "cancelled before it began");
}

/* The transport ------------------------------------------------------------ */

static void
ssh_cancel(struct run *run)
{
	if (run->session != NULL) {
		stop(run, ENDING_CANCELLED);
		return;
	}
	ssh_pool_leave(&run->seat);
	ending_forget(&run->ending);
	loop_later(run->ssh->loop, &run->withdraw_call);
}

static void
ssh_free(struct run *run)
{
	if (run == NULL)
		return;
	ending_release(&run->ending);
	loop_cancel(run->ssh->loop, &run->withdraw_call);
	ssh_session_free(run->session);
	ssh_pool_leave(&run->seat);
	buf_release(&run->command);
	ssh_stream_release(&run->out);
	ssh_stream_release(&run->err);
	json_free_secret(run->args);
	buf_release(&run->env);
	free(run);
}

static bool
prepare(struct run *run, struct error *err)
{
	random_nonce(run->nonce);
	return json_parse_secret(
	           run->task->args, run->task->args_len, &run->args, err) &&
	       check_args(run, err) &&
	       ssh_wrapper_command(&run->command,
	           &(struct ssh_wrapper){
	               .nonce = run->nonce,
	               .command = command_of(run),
	               .grace_ms = run->ssh->config->ssh.kill_after_ms,
	           },
	           err) &&
	       ssh_wrapper_env(&run->env, json_get(run->args, "env"), err);
}

static void
init(struct run *run)
{
	size_t limit = (size_t)run->ssh->config->ssh.max_output;

	ssh_stream_init(&run->out, limit);
	ssh_stream_init(&run->err, limit);
	buf_init(&run->command, 0);
	buf_init_secret(&run->env, 0);
	run->withdraw_call.fn = on_withdrawn;
	run->withdraw_call.arg = run;
	run->seat.granted = on_granted;
	run->seat.failed = on_failed;
	run->seat.arg = run;
}

static struct run *
ssh_start(void *state, const struct task *task, transport_done_fn *done,
    void *arg, struct error *err)
{
	struct ssh *ssh = state;
	struct run *run = xcalloc(1, sizeof(*run));

	run->ssh = ssh;
	run->task = task;
	run->done = done;
	run->arg = arg;
	ending_init(&run->ending, ssh->loop,
	    task->timeout_ms > 0 ? task->timeout_ms
	                         : ssh->config->ssh.timeout_ms,
	    on_limit, on_kill, run);
	init(run);
	if (!prepare(run, err)) {
		ssh_free(run);
		return NULL;
	}
	ssh_pool_ask(ssh->pool, &run->seat, &run->target);
	ending_begin(&run->ending);
	return run;
}

static bool
ssh_open(struct loop *loop, const struct config *config, void **state,
    struct error *err)
{
	struct ssh *ssh = xmalloc(sizeof(*ssh));

	(void)err;
	ssh->loop = loop;
	ssh->config = config;
	ssh->pool = ssh_pool_new(loop, config);
	*state = ssh;
	return true;
}

static void
ssh_commit(void *state, void *prepared)
{
	struct ssh *ssh = state;

	(void)prepared;
	ssh_pool_renew(ssh->pool);
}

static void
ssh_close(void *state)
{
	struct ssh *ssh = state;

	ssh_pool_free(ssh->pool);
	free(ssh);
}

const struct transport transport_ssh = {
	.name = "ssh",
	.open = ssh_open,
	.destination = destination,
	.start = ssh_start,
	.cancel = ssh_cancel,
	.free = ssh_free,
	.commit = ssh_commit,
	.close = ssh_close,
};
