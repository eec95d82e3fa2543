/*
 * transport_http.c - requests over HTTP: from their arguments, to the
 * response as workflows see it.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "driver/config.h"
#include "driver/guard.h"
#include "driver/http.h"
#include "driver/http_outcome.h"
#include "driver/http_url.h"
#include "driver/loop.h"
#include "driver/outcome.h"
#include "driver/random.h"
#include "driver/transport.h"

enum {
	TRACE_DIGITS = 32, /* of a uuid, without its dashes */
};

struct http_transport {
	struct loop *loop;
	const struct config *config;
	struct guard *guard;
	struct http *http;
};

struct run {
	struct http_transport *transport;
	const struct task *task;
	transport_done_fn *done;
	void *arg;
	struct loop_call cancel_call;
	struct json *args;
	struct http_request request; /* it points to what follows */
	char *method;
	char *url;
	char *name; /* "GET http://host/path", for messages */
	char **headers;
	size_t header_count;
	char *json_body; /* a body that is not a string */
	struct http_exchange *exchange;
};

/* Arguments ---------------------------------------------------------------- */

static bool
wrong(struct error *err, const char *what)
{
	error_set(err, "%s", what);
	return false;
}

/* A scalar as text, for the caller to free(); NULL if it is none. */
static char *
scalar_text(const struct json *value)
{
	switch (json_type(value)) {
	case JSON_STRING:
		return xstrdup(json_string(value));
	case JSON_BOOL:
	case JSON_INT:
	case JSON_NUMBER:
		return json_text(value);
	default:
		return NULL;
	}
}

static bool
is_token(const char *text)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
	                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                              "0123456789!#$%&'*+-.^_`|~";

	return text != NULL && *text != '\0' &&
	       text[strspn(text, allowed)] == '\0';
}

static bool
read_method(struct run *run, struct error *err)
{
	const struct json *method = json_get(run->args, "method");

	if (method != NULL && !is_token(json_string(method)))
		return wrong(err, "method must be a word, such as GET or POST");
	run->method = xstrdup(method != NULL ? json_string(method) : "GET");
	return true;
}

static bool
add_query_value(struct run *run, const char *key, const struct json *value,
    struct error *err)
{
	char *text = scalar_text(value);
	bool ok;

	if (text == NULL) {
		error_set(err, "query: %s must be a scalar or a list", key);
		return false;
	}
	ok = http_url_add(&run->url, key, text, err);
	free(text);
	return ok;
}

/* A list gives its key several times; a null is left out. */
static bool
read_query(struct run *run, struct error *err)
{
	const struct json *value, *query = json_get(run->args, "query");
	const char *key;
	size_t i, k;
	bool ok = true;

	if (query != NULL && json_type(query) != JSON_OBJECT)
		return wrong(err, "query must be an object");
	for (i = 0; ok && i < json_length(query); i++) {
		key = json_key_at(query, i);
		value = json_value_at(query, i);
		if (json_type(value) != JSON_LIST && value != NULL)
			ok = add_query_value(run, key, value, err);
		for (k = 0; ok && json_type(value) == JSON_LIST &&
		            k < json_length(value);
		     k++)
			ok = add_query_value(run, key, json_at(value, k), err);
	}
	return ok;
}

static bool
read_url(struct run *run, struct error *err)
{
	const char *text = json_string(json_get(run->args, "url"));
	char *shown;

	if (text == NULL)
		return wrong(err, "url must be a string");
	if (!guard_url(text, err))
		return false;
	run->url = xstrdup(text);
	if (!read_query(run, err))
		return false;
	shown = http_url(NULL, run->url);
	run->name = xasprintf("%s %s", run->method, shown);
	if (*shown == '\0')
		error_set(err, "url is not one");
	free(shown);
	return run->name[strlen(run->method) + 1] != '\0';
}

/* `line` becomes the run's. */
static void
put_header(struct run *run, char *line)
{
	run->headers = xreallocarray(
	    run->headers, run->header_count + 2, sizeof(run->headers[0]));
	run->headers[run->header_count++] = line;
	run->headers[run->header_count] = NULL;
}

/* What stands behind the name, or NULL. */
static const char *
find_header(const struct run *run, const char *name)
{
	size_t i, len = strlen(name);

	for (i = 0; i < run->header_count; i++)
		if (strncasecmp(run->headers[i], name, len) == 0 &&
		    strchr(":;", run->headers[i][len]) != NULL)
			return run->headers[i] + len + 1;
	return NULL;
}

static bool
read_header(struct run *run, const char *name, const struct json *value,
    struct error *err)
{
	char *text = scalar_text(value);
	bool ok = text != NULL && is_token(name) &&
	          strpbrk(text, "\r\n") == NULL &&
	          (json_type(value) != JSON_STRING ||
	              strlen(text) == json_string_length(value));

	/* libcurl takes "Name:" for removal and "Name;" for an empty value */
	if (ok)
		put_header(run, *text != '\0' ? xasprintf("%s: %s", name, text)
		                              : xasprintf("%s;", name));
	else
		error_set(err, "headers: %s is no header of one line", name);
	free(text);
	return ok;
}

/* The same for every attempt, another one for each kind of request. */
static char *
idempotency_key(const struct task *task)
{
	bool start = strcmp(task->request, "start") == 0;

	return xasprintf("Idempotency-Key: %s-%lld%s%s", task->trace_id,
	    (long long)task->process_id, start ? "" : "-",
	    start ? "" : task->request);
}

/*
 * https://www.w3.org/TR/trace-context/: the trace is the instance, the span
 * this very request.
 */
static char *
traceparent(const struct task *task)
{
	char trace[TRACE_DIGITS + 1] = "", span[RANDOM_NONCE];
	const char *digit;
	size_t count = 0;

	for (digit = task->trace_id; *digit != '\0'; digit++)
		if (*digit != '-' && count < TRACE_DIGITS)
			trace[count++] = *digit;
	random_nonce(span);
	return xasprintf("traceparent: 00-%s-%.16s-01", trace, span);
}

/* What names the request, unless its author does. */
static void
add_names(struct run *run)
{
	if (find_header(run, "Idempotency-Key") == NULL)
		put_header(run, idempotency_key(run->task));
	if (find_header(run, "traceparent") == NULL)
		put_header(run, traceparent(run->task));
}

static bool
read_headers(struct run *run, struct error *err)
{
	const struct json *value, *headers = json_get(run->args, "headers");
	size_t i;

	if (headers != NULL && json_type(headers) != JSON_OBJECT)
		return wrong(err, "headers must be an object");
	for (i = 0; i < json_length(headers); i++) {
		value = json_value_at(headers, i);
		if (value != NULL &&
		    !read_header(run, json_key_at(headers, i), value, err))
			return false;
	}
	add_names(run);
	run->request.encodings = find_header(run, "Accept-Encoding");
	return true;
}

static void
read_body(struct run *run)
{
	const struct json *body = json_get(run->args, "body");
	const char *type = "application/json";

	if (body == NULL)
		return;
	if (json_type(body) == JSON_STRING) {
		type = "text/plain; charset=utf-8";
		run->request.body = json_string(body);
		run->request.body_len = json_string_length(body);
	} else {
		run->json_body = json_text(body);
		run->request.body = run->json_body;
		run->request.body_len = strlen(run->json_body);
	}
	if (find_header(run, "Content-Type") == NULL)
		put_header(run, xasprintf("Content-Type: %s", type));
}

/*
 * Redirects are followed unless `accept` says that one is an answer.  Secrets
 * are meant for one server: where to go on with them is not its to say.
 */
static bool
read_accept(struct run *run, struct error *err)
{
	const struct json *accept = json_get(run->args, "accept");
	size_t i;

	if (accept != NULL && json_type(accept) != JSON_LIST)
		return wrong(err, "accept must be a list of status codes");
	run->request.follow = run->task->secrets == NULL;
	for (i = 0; i < json_length(accept); i++) {
		if (json_type(json_at(accept, i)) != JSON_INT)
			return wrong(
			    err, "accept must be a list of status codes");
		if (json_int(json_at(accept, i)) / 100 == 3)
			run->request.follow = false;
	}
	return true;
}

static bool
read_args(struct run *run, struct error *err)
{
	const struct task *task = run->task;

	if (!json_parse(task->args, task->args_len, &run->args, err) ||
	    !read_method(run, err) || !read_url(run, err) ||
	    !read_accept(run, err) || !read_headers(run, err))
		return false;
	read_body(run);
	run->request.method = run->method;
	run->request.url = run->url;
	run->request.headers = run->headers;
	run->request.timeout_ms = task->timeout_ms > 0
	                              ? task->timeout_ms
	                              : run->transport->config->http.timeout_ms;
	return true;
}

/* The outcome -------------------------------------------------------------- */

static bool
is_accepted(const struct run *run, long status)
{
	const struct json *accept = json_get(run->args, "accept");
	size_t i;

	if (json_length(accept) == 0)
		return status / 100 == 2;
	for (i = 0; i < json_length(accept); i++)
		if (json_int(json_at(accept, i)) == status)
			return true;
	return false;
}

static void
on_response(void *arg, const struct http_response *response)
{
	struct run *run = arg;
	const struct config *config = run->transport->config;
	struct outcome outcome;

	outcome_init(&outcome);
	switch (response->end) {
	case HTTP_ANSWERED:
		if (is_accepted(run, response->status))
			http_outcome_response(&outcome, run->name, response);
		else
			http_outcome_refused(&outcome, run->name, response);
		break;
	case HTTP_FAILED:
		outcome_error(&outcome, "http", NULL, "%s: %s", run->name,
		    response->reason);
		break;
	case HTTP_REJECTED:
		http_outcome_rejected(&outcome, run->name, response->rejected);
		break;
	case HTTP_TIMEOUT:
		outcome_error(&outcome, "timeout", NULL,
		    "%s did not end within %lld ms", run->name,
		    (long long)run->request.timeout_ms);
		break;
	case HTTP_BODY_TOO_BIG:
		outcome_error(&outcome, "output", NULL,
		    "%s answered with a body of more than %lld bytes",
		    run->name, (long long)config->http.max_body);
		break;
	case HTTP_HEADER_TOO_BIG:
		outcome_error(&outcome, "output", NULL,
		    "%s answered with a header of more than %lld bytes",
		    run->name, (long long)config->http.max_headers);
		break;
	}
	run->done(run->arg, &outcome);
}

/* The transport ------------------------------------------------------------ */

static void
on_cancelled(void *arg)
{
	struct run *run = arg;
	struct outcome outcome;

	outcome_init(&outcome);
	outcome_error(
	    &outcome, "cancelled", NULL, "%s was cancelled", run->name);
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
	while (run->header_count > 0)
		free(run->headers[--run->header_count]);
	free(run->headers);
	free(run->json_body);
	free(run->method);
	free(run->name);
	free(run->url);
	json_free(run->args);
	free(run);
}

static struct run *
start(void *state, const struct task *task, transport_done_fn *done, void *arg,
    struct error *err)
{
	struct http_transport *transport = state;
	struct run *run = xcalloc(1, sizeof(*run));

	run->transport = transport;
	run->task = task;
	run->done = done;
	run->arg = arg;
	run->cancel_call.fn = on_cancelled;
	run->cancel_call.arg = run;
	if (!read_args(run, err)) {
		release(run);
		return NULL;
	}
	run->exchange =
	    http_exchange_new(transport->http, &run->request, on_response, run);
	return run;
}

static bool
set_up(struct loop *loop, const struct config *config, void **state,
    struct error *err)
{
	struct http_transport *transport;
	struct guard *guard =
	    guard_new(&config->http.allow, &config->http.deny, err);

	if (guard == NULL)
		return false;
	transport = xmalloc(sizeof(*transport));
	transport->loop = loop;
	transport->config = config;
	transport->guard = guard;
	transport->http = http_new(loop, config, guard);
	*state = transport;
	return true;
}

static bool
reload(void *state, const struct config *fresh, struct error *err)
{
	struct http_transport *transport = state;
	struct guard *guard =
	    guard_new(&fresh->http.allow, &fresh->http.deny, err);

	if (guard == NULL)
		return false;
	http_set_guard(transport->http, guard);
	guard_free(transport->guard);
	transport->guard = guard;
	return true;
}

static void
tear_down(void *state)
{
	struct http_transport *transport = state;

	http_free(transport->http);
	guard_free(transport->guard);
	free(transport);
}

const struct transport transport_http = {
	.name = "http",
	.open = set_up,
	.start = start,
	.cancel = cancel,
	.free = release,
	.reload = reload,
	.close = tear_down,
};
