#include "driver/transport/http/args.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/http.h"
#include "common/json.h"
#include "common/mem.h"
#include "driver/transport/http/exchange.h"
#include "driver/transport/http/form.h"
#include "driver/transport/http/guard.h"
#include "driver/transport/http/url.h"
#include "driver/transport/transport.h"

enum {
	KEPT_TEXT = 4096, /* longer arguments hardly ever come twice */
};

struct http_args {
	size_t users;
	char *text; /* the source; NULL: for one request only */
	size_t len;
	char *method;
	struct http_url *url;
	char *name; /* see http_args_name() */
	char **headers;
	size_t header_count;
	char *body;
	size_t body_len;
	bool follow;
	bool is_keyed;
	int64_t *accept;
	size_t accept_count;
};

static bool
wrong(struct error *err, const char *what)
{
	error_set(err, "%s", what);
	return false;
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
read_method(struct http_args *args, const struct json *json, struct error *err)
{
	const struct json *method = json_get(json, "method");

	if (method != NULL && !is_token(json_string(method)))
		return wrong(err, "method must be a word, such as GET or POST");
	if (method != NULL && http_method_is_reserved(json_string(method))) {
		error_set(err, "method must not be %s", json_string(method));
		error_hint(err, HTTP_METHOD_HINT);
		return false;
	}
	args->method = xstrdup(method != NULL ? json_string(method) : "GET");
	return true;
}

static bool
add_query_value(struct http_args *args, const char *key,
    const struct json *value, struct error *err)
{
	char *text = http_form_scalar(value);
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
read_query(struct http_args *args, const struct json *json, struct error *err)
{
	const struct json *value, *query = json_get(json, "query");
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

/* NULL with `err` set: there is no URL that a workflow may ask for. */
static struct http_url *
url_of(const struct json *json, struct error *err)
{
	const char *text = json_string(json_get(json, "url"));

	if (text == NULL) {
		error_set(err, "url must be a string");
		return NULL;
	}
	return guard_url(text, err) ? http_url_new(text, err) : NULL;
}

static bool
read_url(struct http_args *args, const struct json *json, struct error *err)
{
	args->url = url_of(json, err);
	return args->url != NULL && read_query(args, json, err);
}

/* `args` takes `line` over. */
static void
put_header(struct http_args *args, char *line)
{
	args->headers = xreallocarray(
	    args->headers, args->header_count + 2, sizeof(args->headers[0]));
	args->headers[args->header_count++] = line;
	args->headers[args->header_count] = NULL;
}

/* The text behind the name, or NULL. */
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

/*
 * Whether the text is one line: no byte begins another line or ends it early.
 */
static bool
is_line(const char *text)
{
	for (; *text != '\0'; text++)
		if (((unsigned char)*text < ' ' && *text != '\t') ||
		    *text == 0x7f)
			return false;
	return true;
}

/* Without xasprintf, which leaves copies. */
static char *
make_header(const char *name, const char *text)
{
	struct buf line;

	buf_init_secret(&line, 0);
	buf_adds(&line, name);
	buf_adds(&line, ": ");
	buf_adds(&line, text);
	return buf_take(&line);
}

static bool
read_header(struct http_args *args, const char *name, const struct json *value,
    struct error *err)
{
	char *text = http_form_scalar(value);
	bool ok = false;

	if (text == NULL || !is_token(name) || !is_line(text) ||
	    (json_type(value) == JSON_STRING &&
	        strlen(text) != json_string_length(value))) {
		error_set(err, "headers: %s is not a header of one line", name);
	} else if (http_header_is_reserved(name)) {
		error_set(err, "headers must not have %s", name);
		error_hint(err, HTTP_HEADER_HINT);
	} else {
		/*
		 * to libcurl, "Name:" removes a header and "Name;" gives it no
		 * value
		 */
		put_header(args, *text != '\0' ? make_header(name, text)
		                               : xasprintf("%s;", name));
		ok = true;
	}
	free_wiped(text);
	return ok;
}

static bool
read_headers(struct http_args *args, const struct json *json, struct error *err)
{
	const struct json *value, *headers = json_get(json, "headers");
	size_t i;

	if (headers != NULL && json_type(headers) != JSON_OBJECT)
		return wrong(err, "headers must be an object");
	for (i = 0; i < json_length(headers); i++) {
		value = json_value_at(headers, i);
		if (value != NULL &&
		    !read_header(args, json_key_at(headers, i), value, err))
			return false;
	}
	return true;
}

static void
read_body(struct http_args *args, const struct json *json)
{
	const struct json *body = json_get(json, "body");
	const char *type = "application/json";
	struct buf text;

	if (body == NULL)
		return;
	buf_init_secret(&text, 0);
	if (json_type(body) == JSON_STRING) {
		type = "text/plain; charset=utf-8";
		buf_add(&text, json_string(body), json_string_length(body));
	} else {
		json_add(&text, body);
	}
	args->body_len = text.len;
	args->body = buf_take(&text);
	if (find_header(args, "Content-Type") == NULL)
		put_header(args, xasprintf("Content-Type: %s", type));
}

static bool
read_keyed(struct http_args *args, const struct json *json, struct error *err)
{
	const struct json *keyed = json_get(json, "keyed");

	if (keyed != NULL && json_type(keyed) != JSON_BOOL)
		return wrong(err, "keyed must be true or false");
	args->is_keyed = keyed != NULL && json_bool(keyed);
	return true;
}

static bool
read_form(struct http_args *args, const struct json *form, struct error *err)
{
	struct http_form made;

	if (find_header(args, "Content-Type") != NULL) {
		error_set(
		    err, "headers must not have Content-Type beside form");
		error_hint(err, "It follows from the form.");
		return false;
	}
	if (!http_form_make(&made, form, err))
		return false;
	args->body = made.body;
	args->body_len = made.len;
	put_header(args, xasprintf("Content-Type: %s", made.type));
	free(made.type);
	return true;
}

/* Redirects are followed unless `accept` says that one is an answer. */
static bool
read_accept(struct http_args *args, const struct json *json, struct error *err)
{
	const struct json *accept = json_get(json, "accept");
	size_t i, count = json_length(accept);

	if (accept != NULL && json_type(accept) != JSON_LIST)
		return wrong(err, "accept must be a list of status codes");
	args->accept = xcalloc(count, sizeof(args->accept[0]));
	for (i = 0; i < count; i++) {
		if (json_type(json_at(accept, i)) != JSON_INT)
			return wrong(
			    err, "accept must be a list of status codes");
		args->accept[i] = json_int(json_at(accept, i));
		if (args->accept[i] / 100 == 3)
			args->follow = false;
	}
	args->accept_count = count;
	return true;
}

static bool
read_all(struct http_args *args, const struct json *json, struct error *err)
{
	const struct json *form = json_get(json, "form");

	if (!read_method(args, json, err) || !read_url(args, json, err) ||
	    !read_accept(args, json, err) || !read_headers(args, json, err) ||
	    !read_keyed(args, json, err))
		return false;
	if (form != NULL && json_get(json, "body") != NULL)
		return wrong(err, "body and form must not both be given");
	if (form != NULL)
		return read_form(args, form, err);
	read_body(args, json);
	return true;
}

static bool
parse(const struct task *task, struct json **json, struct error *err)
{
	return task->secrets != NULL
	           ? json_parse_secret(task->args, task->args_len, json, err)
	           : json_parse(task->args, task->args_len, json, err);
}

static struct http_args *
read_args(const struct task *task, struct error *err)
{
	struct http_args *args;
	struct json *json;
	bool ok;

	if (!parse(task, &json, err))
		return NULL;
	args = xcalloc(1, sizeof(*args));
	args->users = 1;
	/* secrets are for one server: it must not send them on to another */
	args->follow = task->secrets == NULL;
	ok = read_all(args, json, err);
	json_free_secret(json);
	if (ok)
		return args;
	http_args_free(args);
	return NULL;
}

/* Whether another task may have the same arguments. */
static bool
is_common(const struct task *task)
{
	return task->secrets == NULL && task->args_len <= KEPT_TEXT;
}

static bool
is_same(const struct http_args *args, const struct task *task)
{
	return args != NULL && args->len == task->args_len &&
	       memcmp(args->text, task->args, args->len) == 0;
}

struct http_args *
http_args_new(
    const struct task *task, struct http_args **last, struct error *err)
{
	struct http_args *args = *last;

	if (is_common(task) && is_same(args, task)) {
		args->users++;
		return args;
	}
	args = read_args(task, err);
	if (args == NULL || !is_common(task))
		return args;
	args->text = xstrndup(task->args, task->args_len);
	args->len = task->args_len;
	args->users++;
	http_args_free(*last);
	*last = args;
	return args;
}

char *
http_args_place(const struct task *task, struct error *err)
{
	struct http_url *url = NULL;
	struct json *json;
	char *place;

	if (parse(task, &json, err)) {
		url = url_of(json, err);
		json_free_secret(json);
	}
	place = url != NULL ? http_url_place(url) : NULL;
	http_url_free(url);
	return place;
}

void
http_args_free(struct http_args *args)
{
	if (args == NULL || --args->users > 0)
		return;
	/* headers and body may hold secrets */
	while (args->header_count > 0)
		free_wiped(args->headers[--args->header_count]);
	free_wiped(args->body);
	free(args->headers);
	free(args->accept);
	free(args->method);
	free(args->name);
	free(args->text);
	http_url_free(args->url);
	free(args);
}

void
http_args_fill(const struct http_args *args, struct http_request *request)
{
	request->method = args->method;
	request->url = args->url;
	request->headers = args->headers;
	request->body = args->body;
	request->body_len = args->body_len;
	request->encodings = find_header(args, "Accept-Encoding");
	request->follow = args->follow;
	request->is_keyed = args->is_keyed;
}

bool
http_args_have_header(const struct http_args *args, const char *name)
{
	return find_header(args, name) != NULL;
}

bool
http_args_accept(const struct http_args *args, long status)
{
	size_t i;

	if (args->accept_count == 0)
		return status / 100 == 2;
	for (i = 0; i < args->accept_count; i++)
		if (args->accept[i] == status)
			return true;
	return false;
}

/* Make it on demand: most requests succeed. */
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
