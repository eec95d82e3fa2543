#include "driver/runner.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "driver/metrics.h"
#include "driver/secret/redact.h"
#include "driver/secret/secret.h"
#include "driver/transport/outcome.h"
#include "driver/workspace.h"

void
runner_init(struct runner *runner, const struct transports *transports,
    const char *label, struct metrics *metrics, void (*changed)(void *arg),
    void *arg)
{
	*runner = (struct runner){
		.transports = transports,
		.metrics = metrics,
		.changed = changed,
		.arg = arg,
	};
	request_table_init(&runner->table, label);
	request_list_init(&runner->reports);
	request_list_init(&runner->deferred);
}

void
runner_release(struct runner *runner)
{
	request_table_release(&runner->table);
}

static void
report(struct runner *runner, struct request *request, const char *event)
{
	request->event = event;
	if (request->list == NULL)
		request_list_add(&runner->reports, request);
	runner->changed(runner->arg);
}

/* The request has ended in the way `end`; count that. */
static void
set_over(struct runner *runner, struct request *request, enum metrics_end end)
{
	int64_t ms = -1;

	if (request->state == REQUEST_RUNNING)
		ms = mono_diff_ms(mono_now(), request->begun);
	metrics_end(runner->metrics, request->transport, end, ms);
	request_set_state(&runner->table, request, REQUEST_OVER);
}

/* The request ends with `outcome`, and takes over its body. */
static void
end(struct runner *runner, struct request *request, struct outcome *outcome)
{
	set_over(runner, request,
	    outcome->event == OUTCOME_ERROR ? METRICS_ERROR : METRICS_RESPONSE);
	redact_json(&outcome->body);
	if (outcome->body.len > OUTCOME_MAX_BYTES)
		outcome_too_large(outcome, outcome->body.len);
	request_set_body(request, &outcome->body);
	report(runner, request,
	    outcome->event == OUTCOME_ERROR ? "error" : "response");
}

static void
on_done(void *arg, struct outcome *outcome)
{
	struct request *request = arg;
	struct runner *runner = request->owner;

	request->transport->free(request->run);
	request->run = NULL;
	if (outcome->event != OUTCOME_RECORDED) {
		end(runner, request, outcome);
		return;
	}
	outcome_release(outcome);
	set_over(runner, request, METRICS_RECORDED);
	request_free(&runner->table, request);
	runner->changed(runner->arg);
}

static void
end_unbegun(struct runner *runner, struct request *request, const char *kind,
    const struct error *err)
{
	struct outcome outcome;

	outcome_init(&outcome);
	if (err->hint != NULL)
		outcome_error(
		    &outcome, kind, NULL, "%s (%s)", err->message, err->hint);
	else
		outcome_error(&outcome, kind, NULL, "%s", err->message);
	end(runner, request, &outcome);
}

static void
end_cancelled(struct runner *runner, struct request *request)
{
	struct error err = { 0 };

	error_set(&err, "cancelled before it began");
	end_unbegun(runner, request, "cancelled", &err);
	error_release(&err);
}

/* Where the arguments lead.  They have their secrets by now. */
static char *
destination_of(const struct request *request, struct error *err)
{
	const struct transport *transport = request->transport;

	return transport->destination != NULL
	           ? transport->destination(&request->task, err)
	           : xasprintf("%s://", transport->name);
}

/*
 * Fill in the secrets, at the last moment.  The destination is read from the
 * arguments as they will be sent, and from nowhere else.
 */
static bool
fill(struct runner *runner, struct request *request)
{
	const struct secrets *secrets = transports_secrets(runner->transports);
	const char *kind = "secret";
	char *destination = NULL;
	struct error err = { 0 };
	bool ok = secrets_fill(secrets, &request->task, &request->filled, &err);

	request->task.args = request->filled.args.data;
	request->task.args_len = request->filled.args.len;
	if (ok) {
		destination = destination_of(request, &err);
		if (destination == NULL)
			kind = "input";
		ok = destination != NULL &&
		     secrets_may_go(secrets, &request->task, &request->filled,
		         destination, &err);
	}
	if (!ok)
		end_unbegun(runner, request, kind, &err);
	free(destination);
	error_release(&err);
	return ok;
}

static void
on_fresh(void *arg)
{
	struct runner *runner = arg;

	if (runner->fresh)
		return;
	runner->fresh = true;
	runner->changed(runner->arg);
}

/*
 * The workspace gets the output, unless the request only starts, asks or ends:
 * then its type reads it.
 */
static void
listen(struct runner *runner, struct request *request)
{
	if (request->needs_ack || strcmp(request->task.request, "start") != 0)
		return;
	output_release(&request->output);
	output_init(&request->output, on_fresh, runner);
	request->task.output = &request->output;
}

static void
start(struct runner *runner, struct request *request)
{
	struct error err = { 0 };

	request->event = NULL;
	listen(runner, request);
	request_set_state(&runner->table, request, REQUEST_RUNNING);
	request->begun = mono_now();
	if (request->task.secrets != NULL && !fill(runner, request))
		return;
	request->run = request->transport->start(
	    request->transport_state, &request->task, on_done, request, &err);
	if (request->run == NULL) {
		end_unbegun(runner, request, "input", &err);
		error_release(&err);
	}
}

static void
hand_back(struct runner *runner, struct request *request)
{
	set_over(runner, request, METRICS_RELEASED);
	report(runner, request, "release");
}

bool
runner_take(struct runner *runner, const struct workspace_row *row)
{
	struct request *request;
	struct error err = { 0 };
	bool holds_slot;

	if (request_find(&runner->table, row->token) != NULL)
		return false;
	request = request_new(&runner->table, row, runner->transports);
	holds_slot = request_holds_slot(request);
	request->owner = runner;
	metrics_add(runner->metrics, METRIC_REQUESTS_TAKEN);
	if (runner->draining) {
		hand_back(runner, request);
	} else if (request->transport == NULL) {
		error_set(
		    &err, "this driver has no transport %s", row->transport);
		end_unbegun(runner, request, "driver", &err);
		error_release(&err);
	} else if (request->needs_ack) {
		request_set_state(&runner->table, request, REQUEST_ACK);
		report(runner, request, "ack");
	} else {
		start(runner, request);
	}
	return holds_slot;
}

/* Whether a turn may have carried the report to the workspace. */
static bool
is_on_its_way(const struct request *request)
{
	return request->list != NULL && request->list->on_its_way;
}

void
runner_stop(struct runner *runner, const char *token)
{
	struct request *request = request_find(&runner->table, token);

	if (request == NULL || request->stopped)
		return;
	request->stopped = true;
	metrics_add(runner->metrics, METRIC_REQUESTS_STOPPED);
	if (request->state == REQUEST_RUNNING)
		request->transport->cancel(request->run);
	else if (request->state == REQUEST_ACK && !is_on_its_way(request))
		end_cancelled(runner, request);
}

static void
acknowledged(struct runner *runner, struct request *request)
{
	if (request->stopped)
		end_cancelled(runner, request);
	else
		start(runner, request);
}

/* The report was not applied: somebody else holds its instance. */
static void
keep(struct runner *runner, struct request *request)
{
	request->busy++;
	request->failures = 0;
	LOG_TASK(LOG_LEVEL_DEBUG, &request->task, "%s to %s is answered: busy",
	    request->event, request->task.request);
	if (request->stopped && request->state == REQUEST_ACK)
		end_cancelled(runner, request);
	request_list_remove(request);
	request->again = (struct mono){ 0 };
	request_list_add(&runner->deferred, request);
}

static void
log_answer(const struct request *request, const char *answer, bool good)
{
	if (good)
		LOG_TASK(LOG_LEVEL_DEBUG, &request->task,
		    "%s to %s is answered: %s", request->event,
		    request->task.request, answer);
	else
		LOG_TASK(LOG_LEVEL_INFO, &request->task, "%s came too late: %s",
		    request->event, answer);
}

void
runner_answer(struct runner *runner, const char *token, const char *answer)
{
	struct request *request = request_find(&runner->table, token);
	/* "already": an earlier turn's answer was lost on its way to us */
	bool good =
	    strcmp(answer, "done") == 0 || strcmp(answer, "already") == 0;

	if (request == NULL)
		return;
	if (strcmp(answer, "busy") == 0) {
		keep(runner, request);
		return;
	}
	request_list_remove(request);
	log_answer(request, answer, good);
	if (good && request->state == REQUEST_ACK)
		acknowledged(runner, request);
	else
		request_free(&runner->table, request);
}

static void
drain_one(struct request *request, void *arg)
{
	struct runner *runner = arg;

	if (request->state == REQUEST_ACK && !is_on_its_way(request))
		hand_back(runner, request);
}

void
runner_drain(struct runner *runner)
{
	runner->draining = true;
	request_each(&runner->table, drain_one, runner);
}

static void
collect_unfinished(struct request *request, void *arg)
{
	if (request->state != REQUEST_OVER) {
		request_list_remove(request);
		request_list_add(arg, request);
	}
}

void
runner_abandon(struct runner *runner)
{
	struct request_list list;
	struct request *request;

	request_list_init(&list);
	request_each(&runner->table, collect_unfinished, &list);
	while ((request = request_list_take(&list)) != NULL) {
		LOG_TASK(LOG_LEVEL_WARN, &request->task, "abandoned");
		request_free(&runner->table, request);
	}
}
