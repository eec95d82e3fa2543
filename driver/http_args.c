#include "driver/http_args.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "driver/guard.h"
#include "driver/http.h"
#include "driver/http_url.h"
#include "driver/random.h"
#include "driver/transport.h"

enum {
	TRACE_DIGITS = 32, /* of a uuid, without its dashes */
};

struct http_args {
	const struct task *task;
	struct json *json;
	struct http_request request; /* it points to what follows */
	char *method;
	struct http_url *url;
	char *name; /* see http_args_name() */
	char **headers;
	size_t header_count;
	char *json_body; /* a body that is not a string */
};

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
read_method(struct http_args *args, struct error *err)
{
	const struct json *method = json_get(args->json, "method");

	if (method != NULL && !is_token(json_string(method)))
		return wrong(err, "method must be a word, such as GET or POST");
	args->method = xstrdup(method != NULL ? json_string(method) : "GET");
	return true;
}

static bool
add_query_value(struct http_args *args, const char *key,
    const struct json *value, struct error *err)
{
	char *text = scalar_text(value);
	bool ok;

	if (text == NULL) {
		error_set(err, "query: %s must be a scalar or a list", key);
		return false;
	}
	ok = http_url_add(args->url, key, text, err);
	free(text);
	return ok;
}

/* A list gives its key several times; a null is left out. */
static bool
read_query(struct http_args *args, struct error *err)
{
	const struct json *value, *query = json_get(args->json, "query");
	const char *key;
	size_t i, k;
	bool ok = true;

	if (query != NULL && json_type(query) != JSON_OBJECT)
		return wrong(err, "query must be an object");
	for (i = 0; ok && i < json_length(query); i++) {
		key = json_key_at(query, i);
		value = json_value_at(query, i);
		if (json_type(value) != JSON_LIST && value != NULL)
			ok = add_query_value(args, key, value, err);
		for (k = 0; ok && json_type(value) == JSON_LIST &&
		            k < json_length(value);
		     k++)
			ok = add_query_value(args, key, json_at(value, k), err);
	}
	return ok;
}

static bool
read_url(struct http_args *args, struct error *err)
{
	const char *text = json_string(json_get(args->json, "url"));
	if (text == NULL)
		return wrong(err, "url must be a string");
	if (!guard_url(text, err))
		return false;
	args->url = http_url_new(text, err);
	return args->url != NULL && read_query(args, err);
}

/* `line` becomes the args's. */
static void
put_header(struct http_args *args, char *line)
{
	args->headers = xreallocarray(
	    args->headers, args->header_count + 2, sizeof(args->headers[0]));
	args->headers[args->header_count++] = line;
	args->headers[args->header_count] = NULL;
}

/* What stands behind the name, or NULL. */
static const char *
find_header(const struct http_args *args, const char *name)
{
	size_t i, len = strlen(name);

	for (i = 0; i < args->header_count; i++)
		if (strncasecmp(args->headers[i], name, len) == 0 &&
		    strchr(":;", args->headers[i][len]) != NULL)
			return args->headers[i] + len + 1;
	return NULL;
}

static bool
read_header(struct http_args *args, const char *name, const struct json *value,
    struct error *err)
{
	char *text = scalar_text(value);
	bool ok = text != NULL && is_token(name) &&
	          strpbrk(text, "\r\n") == NULL &&
	          (json_type(value) != JSON_STRING ||
	              strlen(text) == json_string_length(value));

	/* libcurl takes "Name:" for removal and "Name;" for an empty value */
	if (ok)
		put_header(args, *text != '\0' ? xasprintf("%s: %s", name, text)
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
add_names(struct http_args *args)
{
	if (find_header(args, "Idempotency-Key") == NULL)
		put_header(args, idempotency_key(args->task));
	if (find_header(args, "traceparent") == NULL)
		put_header(args, traceparent(args->task));
}

static bool
read_headers(struct http_args *args, struct error *err)
{
	const struct json *value, *headers = json_get(args->json, "headers");
	size_t i;

	if (headers != NULL && json_type(headers) != JSON_OBJECT)
		return wrong(err, "headers must be an object");
	for (i = 0; i < json_length(headers); i++) {
		value = json_value_at(headers, i);
		if (value != NULL &&
		    !read_header(args, json_key_at(headers, i), value, err))
			return false;
	}
	add_names(args);
	args->request.encodings = find_header(args, "Accept-Encoding");
	return true;
}

static void
read_body(struct http_args *args)
{
	const struct json *body = json_get(args->json, "body");
	const char *type = "application/json";

	if (body == NULL)
		return;
	if (json_type(body) == JSON_STRING) {
		type = "text/plain; charset=utf-8";
		args->request.body = json_string(body);
		args->request.body_len = json_string_length(body);
	} else {
		args->json_body = json_text(body);
		args->request.body = args->json_body;
		args->request.body_len = strlen(args->json_body);
	}
	if (find_header(args, "Content-Type") == NULL)
		put_header(args, xasprintf("Content-Type: %s", type));
}

/*
 * Redirects are followed unless `accept` says that one is an answer.  Secrets
 * are meant for one server: where to go on with them is not its to say.
 */
static bool
read_accept(struct http_args *args, struct error *err)
{
	const struct json *accept = json_get(args->json, "accept");
	size_t i;

	if (accept != NULL && json_type(accept) != JSON_LIST)
		return wrong(err, "accept must be a list of status codes");
	args->request.follow = args->task->secrets == NULL;
	for (i = 0; i < json_length(accept); i++) {
		if (json_type(json_at(accept, i)) != JSON_INT)
			return wrong(
			    err, "accept must be a list of status codes");
		if (json_int(json_at(accept, i)) / 100 == 3)
			args->request.follow = false;
	}
	return true;
}

static bool
read_all(struct http_args *args, struct error *err)
{
	const struct task *task = args->task;

	if (!json_parse(task->args, task->args_len, &args->json, err) ||
	    !read_method(args, err) || !read_url(args, err) ||
	    !read_accept(args, err) || !read_headers(args, err))
		return false;
	read_body(args);
	args->request.method = args->method;
	args->request.url = args->url;
	args->request.headers = args->headers;
	return true;
}

struct http_args *
http_args_new(const struct task *task, int64_t timeout_ms, struct error *err)
{
	struct http_args *args = xcalloc(1, sizeof(*args));

	args->task = task;
	args->request.timeout_ms =
	    task->timeout_ms > 0 ? task->timeout_ms : timeout_ms;
	if (read_all(args, err))
		return args;
	http_args_free(args);
	return NULL;
}

void
http_args_free(struct http_args *args)
{
	while (args->header_count > 0)
		free(args->headers[--args->header_count]);
	free(args->headers);
	free(args->json_body);
	free(args->method);
	free(args->name);
	http_url_free(args->url);
	json_free(args->json);
	free(args);
}

const struct http_request *
http_args_request(const struct http_args *args)
{
	return &args->request;
}

bool
http_args_accept(const struct http_args *args, long status)
{
	const struct json *accept = json_get(args->json, "accept");
	size_t i;

	if (json_length(accept) == 0)
		return status / 100 == 2;
	for (i = 0; i < json_length(accept); i++)
		if (json_int(json_at(accept, i)) == status)
			return true;
	return false;
}

/* Most requests succeed, and need none. */
const char *
http_args_name(struct http_args *args)
{
	char *text;

	if (args->name == NULL) {
		text = http_url_text(args->url);
		args->name = xasprintf("%s %s", args->method, text);
		free(text);
	}
	return args->name;
}
