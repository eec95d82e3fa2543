/*
 * http.c - requests over HTTP: from their arguments (args.c) to the
 * response as workflows see it (outcome.c).
 */
#include <stdlib.h>

#include "common/mem.h"
#include "driver/config/config.h"
#include "driver/transport/http/args.h"
#include "driver/transport/http/exchange.h"
#include "driver/transport/http/guard.h"
#include "driver/transport/http/outcome.h"
#include "driver/transport/http/request_headers.h"
#include "driver/transport/http/url.h"
#include "driver/transport/outcome.h"
#include "driver/transport/transport.h"
#include "runtime/loop.h"

struct http_transport {
	struct loop *loop;
	const struct config *config;
	struct guard *guard;
	struct http *http;
	struct http_args *last; /* the last ones read */
};

struct run {
	struct http_transport *transport;
	transport_done_fn *done;
	void *arg;
	struct loop_call cancel_call;
	struct http_args *args;
	struct http_names names;
	struct http_request request;
	struct http_exchange *exchange;
};

/* The outcome -------------------------------------------------------------- */

static void
set_answer(struct run *run, const struct http_response *response,
    struct outcome *outcome)
{
	if (!http_args_accept(run->args, response->status))
		http_outcome_refused(
		    outcome, http_args_name(run->args), response);
	else if (!http_outcome_response(outcome, response))
		outcome_error(outcome, "output", NULL,
		    "%s answered with a body that is not UTF-8 text",
		    http_args_name(run->args));
}

static void
set_failure(struct run *run, const struct http_response *response,
    struct outcome *outcome)
{
	const char *name = http_args_name(run->args);

	switch (response->end) {
	case HTTP_ANSWERED:
		break;
	case HTTP_FAILED:
		outcome_error(
		    outcome, "http", NULL, "%s: %s", name, response->reason);
		break;
	case HTTP_REJECTED:
		http_outcome_rejected(outcome, name, response->rejected);
		break;
	case HTTP_TIMEOUT:
		outcome_error(outcome, "timeout", NULL,
		    "%s did not end within %lld ms", name,
		    (long long)run->request.timeout_ms);
		break;
	case HTTP_BODY_TOO_BIG:
		outcome_error(outcome, "output", NULL,
		    "%s answered with a body of more than %zu bytes", name,
		    response->max_body);
		break;
	case HTTP_HEADER_TOO_BIG:
		outcome_error(outcome, "output", NULL,
		    "%s answered with a header of more than %zu bytes", name,
		    response->max_headers);
		break;
	}
}

static void
on_response(void *arg, const struct http_response *response)
{
	struct run *run = arg;
	struct outcome outcome;

	outcome_init(&outcome);
	if (response->end == HTTP_ANSWERED)
		set_answer(run, response, &outcome);
	else
		set_failure(run, response, &outcome);
	run->done(run->arg, &outcome);
}

/* The transport ------------------------------------------------------------ */

static void
on_cancelled(void *arg)
{
	struct run *run = arg;
	struct outcome outcome;

	outcome_init(&outcome);
	outcome_error(&outcome, "cancelled", NULL, "%s was cancelled",
	    http_args_name(run->args));
	run->done(run->arg, &outcome);
}

static void
cancel(struct run *run)
{
	http_exchange_free(run->exchange);
	run->exchange = NULL;
	loop_later(run->transport->loop, &run->cancel_call);
}

static void
release(struct run *run)
{
	http_exchange_free(run->exchange);
	loop_cancel(run->transport->loop, &run->cancel_call);
	http_names_release(&run->names);
	http_args_free(run->args);
	free(run);
}

static void
fill(struct run *run, const struct task *task)
{
	struct http_request *request = &run->request;

	http_names_init(&run->names, task, run->args);
	http_args_fill(run->args, request);
	request->names = run->names.lines;
	request->timeout_ms = task->timeout_ms > 0
	                          ? task->timeout_ms
	                          : run->transport->config->http.timeout_ms;
}

static struct run *
start(void *state, const struct task *task, transport_done_fn *done, void *arg,
    struct error *err)
{
	struct http_transport *transport = state;
	struct http_args *args = http_args_new(task, &transport->last, err);
	struct run *run;

	if (args == NULL)
		return NULL;
	run = xcalloc(1, sizeof(*run));
	run->transport = transport;
	run->args = args;
	run->done = done;
	run->arg = arg;
	run->cancel_call.fn = on_cancelled;
	run->cancel_call.arg = run;
	fill(run, task);
	run->exchange =
	    http_exchange_new(transport->http, &run->request, on_response, run);
	return run;
}

/* Make the guard of a configuration; NULL with `err` set if that is wrong. */
static struct guard *
make_guard(const struct config *config, struct error *err)
{
	const char *proxy = config->http.proxy;
	struct guard *guard;

	if (proxy[0] != '\0' && !http_url_is_proxy(proxy, err))
		return NULL;
	guard = guard_new(&config->http.allow, &config->http.deny, err);
	if (guard == NULL ||
	    guard_pass_proxy(guard, &config->http.no_proxy, err))
		return guard;
	guard_free(guard);
	return NULL;
}

static bool
set_up(struct loop *loop, const struct config *config, void **state,
    struct error *err)
{
	struct http_transport *transport;
	struct guard *guard = make_guard(config, err);

	if (guard == NULL)
		return false;
	transport = xcalloc(1, sizeof(*transport));
	transport->loop = loop;
	transport->config = config;
	transport->guard = guard;
	transport->http = http_new(loop, config, guard, err);
	*state = transport;
	if (transport->http != NULL)
		return true;
	guard_free(guard);
	free(transport);
	return false;
}

/* `*prepared` is a guard. */
static bool
prepare(
    void *state, const struct config *fresh, void **prepared, struct error *err)
{
	(void)state;
	*prepared = make_guard(fresh, err);
	return *prepared != NULL;
}

static void
commit(void *state, void *prepared)
{
	struct http_transport *transport = state;

	http_set_guard(transport->http, prepared);
	guard_free(transport->guard);
	transport->guard = prepared;
}

static void
discard(void *prepared)
{
	guard_free(prepared);
}

static void
tear_down(void *state)
{
	struct http_transport *transport = state;

	http_free(transport->http);
	guard_free(transport->guard);
	http_args_free(transport->last);
	free(transport);
}

const struct transport transport_http = {
	.name = "http",
	.open = set_up,
	.destination = http_args_place,
	.start = start,
	.cancel = cancel,
	.free = release,
	.prepare = prepare,
	.commit = commit,
	.discard = discard,
	.close = tear_down,
};
