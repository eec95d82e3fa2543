/*
 * follow.c - wait for an instance's end, and print what happens meanwhile.
 */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mono.h"
#include "common/pg.h"
#include "common/pg_params.h"
#include "console/cell.h"
#include "console/console.h"
#include "console/start.h"
#include "console/text.h"

#define SHORTEST_WAIT_MS 10
#define LONGEST_WAIT_MS 500
#define SILENCE_MS 1500 /* then the reasons of the wait are printed */
#define NUMBER_WIDTH 5  /* labels do not line up beyond 99,999 */
#define LABEL_WIDTH 32  /* states do not line up further right */

/* The query that is repeated; $1 is the instance. */
static const char state_sql[] =
    "select is_over, waits_for_operator, has_only_failures, failed"
    "  from wf.instance_v where instance_id = $1::bigint";
static const char
    bare_state_sql[] = /* for a login that may not read the views */
    "select r.result is not null, r.state = 'SUSPENDED', false, 0"
    "  from wf.result($1::bigint) r";
static const char events_sql[] = /* $2: the last event seen */
    "select e.seq, e.at, e.process_id, e.label, e.state,"
    "       coalesce(e.reason, e.detail ->> 'message', case when e.state = "
    "'END'"
    "           then (select p.input ->> 'msg' from wf.process_v p"
    "                  where p.instance_id = e.instance_id"
    "                    and p.process_id = e.process_id"
    "                    and p.task_type = 'lb.Log') end)"
    "  from wf.event_v e"
    " where e.instance_id = $1::bigint and e.seq > $2::bigint"
    " order by e.seq";
static const char reasons_sql[] =
    "select label, detail from wf.explain($1::bigint)"
    " where reason <> 'children'"
    "   and (reason <> 'suspended' or process_id is null) limit 5";
static const char person_sql[] =
    "select distinct on (reason) label, detail from wf.explain($1::bigint)"
    " where reason in ('failed', 'suspended', 'paused')"
    " order by reason, process_id nulls first";
static const char result_sql[] =
    "select instance_id, workflow, state, result, output, error"
    "  from wf.instance_v where instance_id = $1::bigint";
static const char bare_result_sql[] =
    "select $1::bigint as instance_id, null::text as workflow, r.state,"
    "       r.result, r.output, r.error"
    "  from wf.result($1::bigint) r";
static const char outset_sql[] = /* how long to wait; is a viewer */
    "select ceil(extract(epoch from :timeout::interval) * 1000)::bigint,"
    "       has_table_privilege('wf.instance_v', 'select')";

struct follower {
	const struct console *console;
	enum follow how;
	char instance[24];
	char seq[24];      /* of the last event seen */
	struct mono since; /* the last event, or the start */
	bool is_explained;
	bool has_ended;
	bool is_viewer;
	bool needs_person; /* for a quiet wait */
	struct mono needed_since;
	bool is_unattended; /* then it stops waiting, with needs_person */
	bool is_limited;    /* by --timeout */
	bool is_over;       /* it stops waiting */
	struct mono start;
	int64_t limit_ms;
	int wait_ms;
	int signals; /* descriptor: an interrupt has come */
};

/* With the instance as $1 and, unless it is NULL, `seq` as $2. */
static struct pg_result *
ask(const struct follower *follower, const char *sql, const char *seq,
    struct error *err)
{
	struct pg_params params;
	struct pg_result *result;

	pg_params_init(&params);
	pg_params_add(&params, follower->instance);
	if (seq != NULL)
		pg_params_add(&params, seq);
	result = console_query_params(follower->console, sql, &params, err);
	pg_params_release(&params);
	return result;
}

/* A move of the process with the number `process`; "": of the instance. */
static void
print_move(const struct follower *follower, const char *at, const char *process,
    const char *label, const char *state, const char *why)
{
	static const struct column time = { "at", VALUE_TIME };
	const struct terminal *terminal = &follower->console->terminal;
	enum style style = terminal_state_style(state);
	struct buf line, safe;

	buf_init(&line, 0);
	buf_init(&safe, 0);
	cell_add(&safe, &time, at);
	buf_addf(&line, "%-12.12s %*s  %s%s%s ",
	    safe.data + strcspn(safe.data, " ") + 1, NUMBER_WIDTH, process,
	    terminal_begin(terminal, style),
	    terminal_state_mark(terminal, state),
	    terminal_end(terminal, style));
	buf_truncate(&safe, 0);
	text_add_safe(&safe, label, "");
	buf_adds(&line, safe.data);
	if (text_width(safe.data) < LABEL_WIDTH)
		buf_addf(&line, "%*s",
		    (int)(LABEL_WIDTH - text_width(safe.data)), "");
	buf_addf(&line, "  %s%s%s", terminal_begin(terminal, style), state,
	    terminal_end(terminal, style));
	if (why[0] != '\0') {
		buf_adds(&line, ": ");
		text_add_safe(&line, why, "");
	}
	fprintf(follower->console->out, "%s\n", line.data);
	buf_release(&safe);
	buf_release(&line);
}

static const char *
text_or_empty(const char *text)
{
	return text != NULL ? text : "";
}

/* Print the events since the last look; true if there were any. */
static bool
see_events(struct follower *follower, bool *is_news, struct error *err)
{
	struct pg_result *events =
	    ask(follower, events_sql, follower->seq, err);
	int row;

	if (events == NULL)
		return false;
	*is_news = pg_rows(events) > 0;
	for (row = 0; row < pg_rows(events); row++) {
		if (!console_is_script(follower->console))
			print_move(follower, pg_value(events, row, 1),
			    text_or_empty(pg_value(events, row, 2)),
			    text_or_empty(pg_value(events, row, 3)),
			    text_or_empty(pg_value(events, row, 4)),
			    text_or_empty(pg_value(events, row, 5)));
		snprintf(follower->seq, sizeof(follower->seq), "%s",
		    pg_value(events, row, 0));
	}
	fflush(follower->console->out);
	pg_result_free(events);
	return true;
}

/* Print the reasons that the query `sql` gives. */
static bool
say_what_is_waited_for(
    const struct follower *follower, const char *sql, struct error *err)
{
	struct pg_result *reasons = ask(follower, sql, NULL, err);
	int row;

	if (reasons == NULL)
		return false;
	for (row = 0; row < pg_rows(reasons); row++)
		console_note(follower->console, "waiting: %s: %s",
		    text_or_empty(pg_value(reasons, row, 0)),
		    text_or_empty(pg_value(reasons, row, 1)));
	pg_result_free(reasons);
	return true;
}

/* Nothing is under way any more, and something has failed. */
static bool
set_stuck(
    const struct follower *follower, const char *failed, struct error *err)
{
	error_set(err, "instance %s waits for an operator: %s failed",
	    follower->instance, failed);
	error_hint(err,
	    "`wf-console tree %s` shows where; then `wf-console retry %s`, "
	    "or ignore, resolve, raise, abort.",
	    follower->instance, follower->instance);
	return false;
}

/* A quiet wait reports once, each time that a person is needed. */
static bool
mention_person(struct follower *follower, bool is_needed, struct error *err)
{
	bool is_news = is_needed && !follower->is_explained;

	follower->is_explained = is_needed;
	if (!is_news)
		return true;
	follower->needed_since = mono_now();
	console_note(follower->console, "instance %s waits for an operator",
	    follower->instance);
	return !follower->is_viewer ||
	       say_what_is_waited_for(follower, person_sql, err);
}

/* Once after a silence: explain it.  False if only an operator can help. */
static bool
explain_silence(
    struct follower *follower, const struct pg_result *state, struct error *err)
{
	if (follower->is_explained ||
	    mono_diff_ms(mono_now(), follower->since) < SILENCE_MS)
		return true;
	follower->is_explained = true;
	if (pg_value_bool(state, 0, 2))
		return set_stuck(follower, pg_value(state, 0, 3), err);
	return say_what_is_waited_for(follower, reasons_sql, err);
}

static bool
see_state(struct follower *follower, struct error *err)
{
	struct pg_result *state = ask(follower,
	    follower->is_viewer ? state_sql : bare_state_sql, NULL, err);
	bool ok = true;

	if (state == NULL)
		return false;
	follower->has_ended = pg_rows(state) == 0 || pg_value_bool(state, 0, 0);
	if (follower->has_ended)
		;
	else if (follower->how == FOLLOW_QUIETLY) {
		follower->needs_person = pg_value_bool(state, 0, 1);
		ok = mention_person(follower, follower->needs_person, err);
	} else {
		ok = explain_silence(follower, state, err);
	}
	pg_result_free(state);
	return ok;
}

static void
hint_at_instance(const struct follower *follower, struct error *err)
{
	error_hint(err,
	    "`wf-console tree %s` shows it, `wf-console abort %s` stops it.",
	    follower->instance, follower->instance);
}

enum exit_code
start_exit_code(const char *result)
{
	static const struct {
		const char *result;
		enum exit_code code;
	} codes[] = {
		{ "aborted", EXIT_ABORTED },
		{ "error", EXIT_ERROR },
		{ "success", EXIT_DONE },
		{ "warning", EXIT_WARNING },
	};
	size_t i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (result != NULL && strcmp(result, codes[i].result) == 0)
			return codes[i].code;
	return EXIT_FAILED;
}

static enum exit_code
print_result(const struct follower *follower, struct error *err)
{
	struct pg_result *result = ask(follower,
	    follower->is_viewer ? result_sql : bare_result_sql, NULL, err);
	enum exit_code code = EXIT_FAILED;

	if (result == NULL)
		return EXIT_FAILED;
	if (!console_flag(follower->console, "quiet"))
		console_print(follower->console, result);
	if (pg_rows(result) > 0) {
		code = start_exit_code(pg_value(result, 0, 3));
	} else {
		error_set(
		    err, "instance %s has been purged", follower->instance);
		error_hint(err, "Its key stays known: start with another one.");
	}
	pg_result_free(result);
	return code;
}

/* When the wait ends early, tell a script the state of the instance. */
static void
print_state(const struct follower *follower)
{
	struct error ignored = { 0 };

	if (console_is_script(follower->console))
		print_result(follower, &ignored);
	error_release(&ignored);
}

/* What is left of the time that --timeout gives; 0: nothing. */
static int64_t
left_ms(const struct follower *follower)
{
	int64_t left =
	    follower->limit_ms - mono_diff_ms(mono_now(), follower->start);

	return left > 0 ? left : 0;
}

static bool
set_over(struct follower *follower, struct error *err)
{
	follower->is_over = true;
	error_set(err, "instance %s has not ended in time%s",
	    follower->instance,
	    follower->needs_person ? ": it waits for an operator" : "");
	error_hint(
	    err, "`wf-console wait %s` waits again.", follower->instance);
	return false;
}

/*
 * Whether it needs a person and nobody is there.  The workflow may still handle
 * a failure, so this has to last for a moment.
 */
static bool
is_left_alone(const struct follower *follower)
{
	return follower->is_unattended && follower->needs_person &&
	       mono_diff_ms(mono_now(), follower->needed_since) >= SILENCE_MS;
}

static bool
set_left(struct follower *follower, struct error *err)
{
	follower->is_over = true;
	error_set(err, "instance %s waits for an operator", follower->instance);
	error_hint(err,
	    "`wf-console explain %s` says why, `wf-console wait %s` waits "
	    "again.",
	    follower->instance, follower->instance);
	return false;
}

static void
set_interrupted(const struct follower *follower, struct error *err)
{
	error_release(err); /* it may say that a query was interrupted */
	error_set(err, "interrupted; instance %s goes on", follower->instance);
	hint_at_instance(follower, err);
}

/* Pause; false if a signal has come. */
static bool
rest(struct follower *follower, bool is_news, struct error *err)
{
	struct pollfd signals = { .fd = follower->signals, .events = POLLIN };
	struct signalfd_siginfo signal;

	follower->wait_ms = is_news ? SHORTEST_WAIT_MS : 2 * follower->wait_ms;
	if (follower->wait_ms > LONGEST_WAIT_MS)
		follower->wait_ms = LONGEST_WAIT_MS;
	if (follower->is_limited && follower->wait_ms > left_ms(follower))
		follower->wait_ms = (int)left_ms(follower);
	if (poll(&signals, 1, follower->wait_ms) <= 0 ||
	    read(signals.fd, &signal, sizeof(signal)) <= 0)
		return true;
	console_set_interrupted(signal.ssi_signo == SIGINT);
	set_interrupted(follower, err);
	return false;
}

static bool
follow(struct follower *follower, struct error *err)
{
	bool is_news = false;

	while (!follower->has_ended) {
		if (!see_state(follower, err) ||
		    (follower->how == FOLLOW_ALOUD &&
		        !see_events(follower, &is_news, err)))
			return false;
		if (is_news) {
			follower->since = mono_now();
			follower->is_explained = false;
		}
		if (follower->has_ended)
			break;
		if (is_left_alone(follower))
			return set_left(follower, err);
		if (follower->is_limited && left_ms(follower) == 0)
			return set_over(follower, err);
		if (!rest(follower, is_news, err))
			return false;
	}
	return true;
}

/* Read how to wait from the command line and the rights of the login. */
static bool
set_out(struct follower *follower, struct error *err)
{
	struct pg_result *outset =
	    console_query(follower->console, outset_sql, err);

	if (outset == NULL)
		return false;
	follower->is_limited = pg_value(outset, 0, 0) != NULL;
	if (follower->is_limited)
		follower->limit_ms = pg_value_bigint(outset, 0, 0);
	follower->is_viewer = pg_value_bool(outset, 0, 1);
	pg_result_free(outset);
	return true;
}

enum exit_code
follow_instance(struct console *console, int64_t instance, enum follow how,
    struct error *err)
{
	struct follower follower = {
		.console = console,
		.how = how,
		.is_unattended = console_flag(console, "unattended"),
		.seq = "0",
		.is_viewer = true,
		.since = mono_now(),
		.start = mono_now(),
		.wait_ms = SHORTEST_WAIT_MS,
	};
	enum exit_code code = EXIT_FAILED;
	sigset_t interrupts, before;

	snprintf(
	    follower.instance, sizeof(follower.instance), "%" PRId64, instance);
	sigemptyset(&interrupts);
	sigaddset(&interrupts, SIGINT);
	sigaddset(&interrupts, SIGTERM);
	sigprocmask(SIG_BLOCK, &interrupts, &before);
	follower.signals = signalfd(-1, &interrupts, SFD_CLOEXEC);
	console->is_record = true;
	if ((how == FOLLOW_ALOUD || set_out(&follower, err)) &&
	    follow(&follower, err))
		code = print_result(&follower, err);
	else if (console_is_interrupted())
		set_interrupted(&follower, err);
	else if (pg_is_alive(console->pg))
		print_state(&follower);
	else
		hint_at_instance(&follower, err);
	if (follower.is_over)
		code = follower.needs_person ? EXIT_PERSON : EXIT_UNDER_WAY;
	close(follower.signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return code;
}
