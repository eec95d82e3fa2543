/*
 * transport_ssh.c - commands on other hosts, through OpenSSH's client.
 *
 * Whether the command ran and how it ended is told only by the records of the
 * wrapper around it (ssh_wrapper.h).
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "driver/child.h"
#include "driver/config.h"
#include "driver/loop.h"
#include "driver/outcome.h"
#include "driver/random.h"
#include "driver/ssh_wrapper.h"
#include "driver/tail.h"
#include "driver/transport.h"

struct ssh {
	struct loop *loop;
	const struct config *config;
};

/* One of the two streams that come back. */
struct stream {
	struct tail text; /* between the records, once they are seen */
	bool begun;
	bool ended;
};

struct run {
	struct ssh *ssh;
	const struct task *task;
	transport_done_fn *done;
	void *arg;
	struct json *args;
	const char *host; /* in args */
	char nonce[RANDOM_NONCE];
	struct child *child;
	struct stream out, err;
	bool went; /* the command may have begun */
	int exit_code;
	int64_t timeout_ms;
	struct timer limit_timer, kill_timer;
	const char *stopped; /* "timeout" or "cancelled"; NULL: nobody did */
};

/* The command -------------------------------------------------------------- */

static bool
wrong(struct error *err, const char *what)
{
	error_set(err, "%s", what);
	return false;
}

/* Whether `text` is a name that nothing on its way could misunderstand. */
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

/* The list of words; an empty one stands for none. */
static const struct json *
command_of(const struct run *run)
{
	const struct json *command = json_get(run->args, "command");

	if (json_type(command) == JSON_LIST && json_length(command) == 0)
		return NULL;
	return command;
}

static bool
check_args(struct run *run, struct error *err)
{
	const struct json *user = json_get(run->args, "user");
	const struct json *port = json_get(run->args, "port");
	bool command = command_of(run) != NULL;
	bool script = json_string(json_get(run->args, "script")) != NULL;

	run->host = json_string(json_get(run->args, "host"));
	if (!is_name(run->host, "._-:"))
		return wrong(err, "host must be the name of a host");
	if (user != NULL && !is_name(json_string(user), "._-"))
		return wrong(err, "user must be the name of a user");
	if (port != NULL && (json_type(port) != JSON_INT ||
	                        json_int(port) < 1 || json_int(port) > 65535))
		return wrong(err, "port must be from 1 to 65535");
	if (command == script)
		return wrong(err, "either command or script must be given");
	if (json_get(run->args, "stdin") != NULL &&
	    (script || !json_string(json_get(run->args, "stdin"))))
		return wrong(
		    err, "stdin must be a string, and goes with command only");
	return true;
}

/* A list of arguments in the making. */
struct words {
	char *list[256];
	size_t count;
};

static void
add_word(struct words *words, const char *text)
{
	if (words->count + 1 < sizeof(words->list) / sizeof(words->list[0]))
		words->list[words->count++] = xstrdup(text);
}

static void
add_option(struct words *words, const char *option)
{
	add_word(words, "-o");
	add_word(words, option);
}

/* ssh takes the first value that it is given for an option. */
static void
add_options(struct words *words, const struct config *config)
{
	size_t i;

	add_word(words, config->ssh.program);
	if (config->ssh.config_file[0] != '\0') {
		add_word(words, "-F");
		add_word(words, config->ssh.config_file);
	}
	add_word(words, "-T");
	add_option(words, "BatchMode=yes");
	add_option(words, "ClearAllForwardings=yes");
	add_option(words, "ForwardAgent=no");
	add_option(words, "PermitLocalCommand=no");
	for (i = 0; i < config->ssh.options.count; i++)
		add_option(words, config->ssh.options.items[i]);
}

static void
add_target(struct words *words, const struct run *run)
{
	const struct json *user = json_get(run->args, "user");
	const struct json *port = json_get(run->args, "port");
	char *text;

	if (user != NULL) {
		add_word(words, "-l");
		add_word(words, json_string(user));
	}
	if (port != NULL) {
		text = json_text(port);
		add_word(words, "-p");
		add_word(words, text);
		free(text);
	}
	add_word(words, "--");
	add_word(words, run->host);
}

/* What comes back ---------------------------------------------------------- */

static void
go(struct run *run)
{
	const char *script = json_string(json_get(run->args, "script"));
	const struct json *input =
	    json_get(run->args, script != NULL ? "script" : "stdin");

	run->went = true;
	child_write(run->child, SSH_WRAPPER_GO, strlen(SSH_WRAPPER_GO));
	if (input != NULL)
		child_write(
		    run->child, json_string(input), json_string_length(input));
	child_close_input(run->child);
}

static void
add_output(struct run *run, struct stream *stream, const char *data, size_t len)
{
	struct tail *text = &stream->text;
	struct ssh_record_found found;
	size_t fresh = len + SSH_RECORD_MAX; /* half a record may wait there */

	if (stream->ended)
		return;
	tail_add(text, data, len);
	found = ssh_wrapper_find(text->kept.data, text->kept.len,
	    text->kept.len > fresh ? text->kept.len - fresh : 0, run->nonce);
	if (found.record == SSH_RECORD_BEGUN && !stream->begun) {
		stream->begun = true;
		tail_skip(text, found.at + found.length);
		text->cut = 0;
		found = ssh_wrapper_find(
		    text->kept.data, text->kept.len, 0, run->nonce);
	}
	if (found.record == SSH_RECORD_EXIT && stream->begun) {
		stream->ended = true;
		run->exit_code = found.exit_code;
		buf_truncate(&text->kept, found.at);
	}
}

static void
on_output(void *arg, enum child_stream which, const char *data, size_t len)
{
	struct run *run = arg;

	add_output(run, which == CHILD_OUT ? &run->out : &run->err, data, len);
	if (run->out.begun && run->err.begun && !run->went)
		go(run);
	/* what was left behind on the host may hold the streams for ever */
	if (run->out.ended && run->err.ended)
		child_signal(run->child, SIGTERM);
}

/* The outcome -------------------------------------------------------------- */

static void
add_stream(struct buf *json, struct stream *stream)
{
	struct buf text;

	tail_trim(&stream->text);
	if (stream->text.cut == 0) {
		outcome_add_text(
		    json, stream->text.kept.data, stream->text.kept.len);
		return;
	}
	buf_init(&text, 0);
	buf_addf(&text, "[%zu bytes cut]\n", stream->text.cut);
	buf_add(&text, stream->text.kept.data, stream->text.kept.len);
	outcome_add_text(json, text.data, text.len);
	buf_release(&text);
}

static void
respond(struct run *run, struct outcome *outcome)
{
	struct buf *json = &outcome->body;

	buf_addf(json, "{\"exit_code\":%d,\"stdout\":", run->exit_code);
	add_stream(json, &run->out);
	buf_adds(json, ",\"stderr\":");
	add_stream(json, &run->err);
	buf_addc(json, '}');
}

/* The last line of what ssh itself said, for the caller to free(). */
static char *
last_line(const struct buf *text)
{
	size_t end = text->len, start;

	while (end > 0 && (unsigned char)text->data[end - 1] <= ' ')
		end--;
	for (start = end; start > 0 && text->data[start - 1] != '\n'; start--)
		;
	return xstrndup(text->data + start, end - start);
}

static void
explain(struct run *run, int status, struct outcome *outcome)
{
	char *said = last_line(&run->err.text.kept);

	if (run->stopped != NULL && strcmp(run->stopped, "timeout") == 0)
		outcome_error(outcome, "timeout", NULL,
		    "ssh %s did not end within %lld ms", run->host,
		    (long long)run->timeout_ms);
	else if (run->stopped != NULL)
		outcome_error(outcome, "cancelled", NULL,
		    "ssh %s was cancelled", run->host);
	else if (run->went)
		outcome_error(outcome, "lost", NULL,
		    "ssh %s: the connection was lost while the command ran%s%s",
		    run->host, *said != '\0' ? ": " : "", said);
	else if (*said != '\0')
		outcome_error(
		    outcome, "ssh", NULL, "ssh %s: %s", run->host, said);
	else
		outcome_error(outcome, "ssh", NULL,
		    "ssh %s: ended with %d before the command began", run->host,
		    WIFEXITED(status) ? WEXITSTATUS(status) : 255);
	free(said);
}

static void
on_ended(void *arg, int status)
{
	struct run *run = arg;
	struct outcome outcome;

	outcome_init(&outcome);
	if (run->err.ended)
		respond(run, &outcome);
	else
		explain(run, status, &outcome);
	run->done(run->arg, &outcome);
}

static const struct child_events events = {
	.output = on_output,
	.ended = on_ended,
};

/* Stopping ----------------------------------------------------------------- */

static void
on_kill(void *arg)
{
	struct run *run = arg;

	child_signal(run->child, SIGKILL);
}

static void
stop(struct run *run, const char *why)
{
	if (run->stopped != NULL)
		return;
	run->stopped = why;
	child_signal(run->child, SIGTERM);
	loop_timer_set(run->ssh->loop, &run->kill_timer,
	    run->ssh->config->ssh.kill_after_ms);
}

static void
on_limit(void *arg)
{
	stop(arg, "timeout");
}

/* The transport ------------------------------------------------------------ */

static void
ssh_cancel(struct run *run)
{
	stop(run, "cancelled");
}

static void
ssh_free(struct run *run)
{
	if (run == NULL)
		return;
	loop_timer_stop(run->ssh->loop, &run->limit_timer);
	loop_timer_stop(run->ssh->loop, &run->kill_timer);
	child_free(run->child);
	tail_release(&run->out.text);
	tail_release(&run->err.text);
	json_free(run->args);
	free(run);
}

static bool
begin(struct run *run, struct error *err)
{
	struct words words = { 0 };
	struct buf command;
	bool ok;

	buf_init(&command, 0);
	random_nonce(run->nonce);
	ok =
	    json_parse(run->task->args, run->task->args_len, &run->args, err) &&
	    check_args(run, err) &&
	    ssh_wrapper_command(&command, run->nonce, command_of(run),
	        json_get(run->args, "env"), err);
	if (ok) {
		add_options(&words, run->ssh->config);
		add_target(&words, run);
		add_word(&words, command.data);
		run->child =
		    child_start(run->ssh->loop, words.list, &events, run, err);
	}
	while (words.count > 0)
		free(words.list[--words.count]);
	buf_release(&command);
	return run->child != NULL;
}

static struct run *
ssh_start(void *state, const struct task *task, transport_done_fn *done,
    void *arg, struct error *err)
{
	struct ssh *ssh = state;
	size_t limit = (size_t)ssh->config->ssh.max_output;
	struct run *run = xcalloc(1, sizeof(*run));

	run->ssh = ssh;
	run->task = task;
	run->done = done;
	run->arg = arg;
	tail_init(&run->out.text, limit);
	tail_init(&run->err.text, limit);
	run->limit_timer.fn = on_limit;
	run->limit_timer.arg = run;
	run->kill_timer.fn = on_kill;
	run->kill_timer.arg = run;
	if (!begin(run, err)) {
		ssh_free(run);
		return NULL;
	}
	run->timeout_ms = task->timeout_ms > 0 ? task->timeout_ms
	                                       : ssh->config->ssh.timeout_ms;
	if (run->timeout_ms > 0)
		loop_timer_set(ssh->loop, &run->limit_timer, run->timeout_ms);
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
	*state = ssh;
	return true;
}

const struct transport transport_ssh = {
	.name = "ssh",
	.open = ssh_open,
	.start = ssh_start,
	.cancel = ssh_cancel,
	.free = ssh_free,
	.close = free,
};
