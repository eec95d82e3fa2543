#include "driver/http.h"

#include <curl/curl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "driver/config.h"
#include "driver/guard.h"
#include "driver/http_headers.h"
#include "driver/http_multi.h"
#include "driver/http_url.h"
#include "driver/loop.h"

enum {
	OLDEST_VERSION = 0x075700, /* 7.87.0 */
};

struct http {
	struct loop *loop;
	const struct config *config;
	const struct guard *guard;
	struct http_multi *multi;
};

struct http_exchange {
	struct http *http;
	const struct http_request *request;
	http_done_fn *done;
	void *arg;
	CURL *easy;
	struct curl_slist *headers;
	char *moved_to; /* by a 303, which turned it into a GET */
	struct timer deadline;
	struct buf body;
	struct http_headers got;
	enum http_end too_big; /* HTTP_ANSWERED: it is not */
	struct error rejected; /* by the guard, why */
	CURLcode refused;      /* by libcurl, before it began */
	struct loop_call refused_call;
	char reason[CURL_ERROR_SIZE];
};

/* The guard ---------------------------------------------------------------- */

/* Whether it goes on at another URL than it was asked for. */
static bool
is_elsewhere(const struct http_exchange *exchange)
{
	long redirects = 0;

	curl_easy_getinfo(exchange->easy, CURLINFO_REDIRECT_COUNT, &redirects);
	return exchange->moved_to != NULL || redirects > 0;
}

/* Of the URL under way; for the caller to free(). */
static char *
current_host(const struct http_exchange *exchange)
{
	const char *text = "";
	struct error err = { 0 };
	struct http_url *url;
	char *host;

	if (!is_elsewhere(exchange))
		return http_url_host(exchange->request->url);
	curl_easy_getinfo(exchange->easy, CURLINFO_EFFECTIVE_URL, &text);
	url = http_url_new(text, &err);
	host = url != NULL ? http_url_host(url) : xstrdup("");
	http_url_free(url);
	error_release(&err);
	return host;
}

/* libcurl is about to connect: no packet goes where it must not. */
static curl_socket_t
open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct http_exchange *exchange = arg;
	char *host = current_host(exchange);
	bool ok = guard_check(
	    exchange->http->guard, host, &address->addr, &exchange->rejected);

	(void)purpose;
	free(host);
	if (!ok)
		return CURL_SOCKET_BAD;
	return socket(address->family, address->socktype | SOCK_CLOEXEC,
	    address->protocol);
}

/* It is about to send, perhaps on a connection that was open already. */
static int
/* NOLINTNEXTLINE(readability-non-const-parameter): libcurl has it so */
before_sending(void *arg, char *address, char *local, int port, int local_port)
{
	struct http_exchange *exchange = arg;
	char *host = current_host(exchange);
	bool ok = guard_check_text(
	    exchange->http->guard, host, address, &exchange->rejected);

	(void)local;
	(void)port;
	(void)local_port;
	free(host);
	return ok ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

/* What comes in ------------------------------------------------------------ */

static size_t
on_body(char *data, size_t size, size_t count, void *arg)
{
	struct http_exchange *exchange = arg;

	if (buf_add(&exchange->body, data, size * count))
		return size * count;
	exchange->too_big = HTTP_BODY_TOO_BIG;
	return 0;
}

static size_t
on_header(char *line, size_t size, size_t count, void *arg)
{
	struct http_exchange *exchange = arg;
	size_t limit = (size_t)exchange->http->config->http.max_headers;

	if (http_headers_add(&exchange->got, line, size * count, limit))
		return size * count;
	exchange->too_big = HTTP_HEADER_TOO_BIG;
	return 0;
}

/* What goes out ------------------------------------------------------------ */

static bool
is_read_only(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

/*
 * RFC 9110, 9.2.2; stdlib/http.wf has the same list.  By itself libcurl sends
 * again what it sent on an open connection that was closed before an answer:
 * other methods get one of their own.
 */
static bool
may_come_twice(const char *method)
{
	static const char *const idempotent[] = { "GET", "HEAD", "OPTIONS",
		"PUT", "DELETE" };
	size_t i;

	for (i = 0; i < sizeof(idempotent) / sizeof(idempotent[0]); i++)
		if (strcmp(method, idempotent[i]) == 0)
			return true;
	return false;
}

static bool
wants_body(const char *method)
{
	return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 ||
	       strcmp(method, "PATCH") == 0;
}

static size_t
count_lines(char *const *lines)
{
	size_t count = 0;

	while (lines != NULL && lines[count] != NULL)
		count++;
	return count;
}

/* `count` lines to `*list`, which moves on behind them. */
static void
put_lines(struct curl_slist **list, char *const *lines, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++, (*list)++) {
		(*list)->data = lines[i];
		(*list)->next = *list + 1;
	}
}

/* As libcurl wants them: a list, here in one piece, of what is borrowed. */
static struct curl_slist *
list_headers(const struct http_request *request)
{
	size_t headers = count_lines(request->headers),
	       names = count_lines(request->names);
	struct curl_slist *list = xcalloc(headers + names + 1, sizeof(*list)),
	                  *end = list;

	put_lines(&end, request->headers, headers);
	put_lines(&end, request->names, names);
	/* no waiting for leave to send a body */
	end->data = (char *)"Expect:";
	return list;
}

/*
 * Without one of the options it would be another request, or go where it must
 * not: it fails if libcurl does not take it.
 */
static void
need(struct http_exchange *exchange, CURLcode code)
{
	if (exchange->refused == CURLE_OK)
		exchange->refused = code;
}

#define SET(exchange, option, value) \
	need(exchange, \
	    curl_easy_setopt((exchange)->easy, CURLOPT_##option, value))

static void
set_method(struct http_exchange *exchange)
{
	const struct http_request *request = exchange->request;
	const char *body = request->body;

	if (strcmp(request->method, "HEAD") == 0) {
		SET(exchange, NOBODY, 1L);
		return;
	}
	if (body != NULL || wants_body(request->method)) {
		SET(exchange, POSTFIELDSIZE_LARGE,
		    (curl_off_t)request->body_len);
		SET(exchange, POSTFIELDS, body != NULL ? body : "");
	}
	if (body != NULL || strcmp(request->method, "GET") != 0)
		SET(exchange, CUSTOMREQUEST, request->method);
}

static void
set_limits(struct http_exchange *exchange)
{
	const struct config *config = exchange->http->config;
	bool moved = exchange->moved_to != NULL;

	/* none, where the deadline comes first */
	SET(exchange, CONNECTTIMEOUT_MS,
	    config->http.connect_timeout_ms < exchange->request->timeout_ms
	        ? (long)config->http.connect_timeout_ms
	        : LONG_MAX);
	SET(exchange, FOLLOWLOCATION,
	    (long)(exchange->request->follow &&
	           (moved || is_read_only(exchange->request->method))));
	SET(exchange, MAXREDIRS, (long)config->http.max_redirects - moved);
	SET(exchange, PROTOCOLS_STR, GUARD_SCHEMES);
	SET(exchange, REDIR_PROTOCOLS_STR, GUARD_SCHEMES);
	SET(exchange, DISALLOW_USERNAME_IN_URL, 1L);
	SET(exchange, OPENSOCKETFUNCTION, open_socket);
	SET(exchange, OPENSOCKETDATA, exchange);
	SET(exchange, PREREQFUNCTION, before_sending);
	SET(exchange, PREREQDATA, exchange);
	if (config->http.ca_file[0] != '\0')
		SET(exchange, CAINFO, config->http.ca_file);
}

static void
set_options(struct http_exchange *exchange)
{
	bool moved = exchange->moved_to != NULL;

	SET(exchange, NOSIGNAL, 1L);
	/* a thread that looks a name up is not waited for: that takes as long
	 * as the name server does not answer */
	SET(exchange, QUICK_EXIT, 1L);
	SET(exchange, PROXY, "");
	if (moved)
		SET(exchange, URL, exchange->moved_to);
	else
		SET(exchange, CURLU, (CURLU *)exchange->request->url);
	SET(exchange, USERAGENT, "pgwf");
	SET(exchange, HTTPHEADER, exchange->headers);
	SET(exchange, ACCEPT_ENCODING, exchange->request->encodings);
	/* a libcurl without it goes on with HTTP/1.1 */
	(void)curl_easy_setopt(
	    exchange->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
	SET(exchange, WRITEFUNCTION, on_body);
	SET(exchange, WRITEDATA, exchange);
	SET(exchange, HEADERFUNCTION, on_header);
	SET(exchange, HEADERDATA, exchange);
	SET(exchange, ERRORBUFFER, exchange->reason);
	set_limits(exchange);
	if (!moved)
		set_method(exchange);
	if (!moved && !may_come_twice(exchange->request->method)) {
		SET(exchange, FRESH_CONNECT, 1L);
		SET(exchange, FORBID_REUSE, 1L);
	}
}

/* Exchanges ---------------------------------------------------------------- */

static void
on_deadline(void *arg)
{
	struct http_exchange *exchange = arg;
	struct http_response response = { .end = HTTP_TIMEOUT };

	http_multi_abort(exchange->http->multi, exchange->easy);
	exchange->done(exchange->arg, &response);
}

static void on_done(void *arg, CURLcode code);

static void
on_refused(void *arg)
{
	struct http_exchange *exchange = arg;

	on_done(exchange, exchange->refused);
}

static void
begin(struct http_exchange *exchange)
{
	set_options(exchange);
	if (exchange->refused == CURLE_OK &&
	    !http_multi_begin(exchange->http->multi, exchange->easy, exchange))
		exchange->refused = CURLE_FAILED_INIT;
	if (exchange->refused != CURLE_OK)
		loop_later(exchange->http->loop, &exchange->refused_call);
}

struct http_exchange *
http_exchange_new(struct http *http, const struct http_request *request,
    http_done_fn *done, void *arg)
{
	struct http_exchange *exchange = xcalloc(1, sizeof(*exchange));

	exchange->http = http;
	exchange->request = request;
	exchange->done = done;
	exchange->arg = arg;
	/* not libcurl's: it forgets a time limit when another of its timers is
	 * due in the same ms */
	exchange->deadline.fn = on_deadline;
	exchange->deadline.arg = exchange;
	loop_timer_set(http->loop, &exchange->deadline, request->timeout_ms);
	buf_init(&exchange->body, (size_t)http->config->http.max_body);
	exchange->headers = list_headers(request);
	exchange->easy = http_multi_take(http->multi);
	exchange->refused_call.fn = on_refused;
	exchange->refused_call.arg = exchange;
	begin(exchange);
	return exchange;
}

void
http_exchange_free(struct http_exchange *exchange)
{
	if (exchange == NULL)
		return;
	loop_timer_stop(exchange->http->loop, &exchange->deadline);
	loop_cancel(exchange->http->loop, &exchange->refused_call);
	http_multi_give(exchange->http->multi, exchange->easy);
	free(exchange->headers);
	http_headers_release(&exchange->got);
	buf_release(&exchange->body);
	error_release(&exchange->rejected);
	free(exchange->moved_to);
	free(exchange);
}

/* Whether the answer sends us elsewhere with a GET, and that was begun. */
static bool
see_other(struct http_exchange *exchange, long status)
{
	const struct http_request *request = exchange->request;
	char *url = NULL;

	if (status != 303 || exchange->moved_to != NULL || !request->follow ||
	    is_read_only(request->method) ||
	    exchange->http->config->http.max_redirects == 0)
		return false;
	curl_easy_getinfo(exchange->easy, CURLINFO_REDIRECT_URL, &url);
	if (url == NULL)
		return false;
	exchange->moved_to = xstrdup(url);
	buf_truncate(&exchange->body, 0);
	curl_easy_reset(exchange->easy);
	begin(exchange);
	return true;
}

static void
answer(struct http_exchange *exchange, struct http_response *response)
{
	struct http_header *location =
	    http_headers_find(&exchange->got, "location");
	const char *base = "";
	char *absolute;

	curl_easy_getinfo(exchange->easy, CURLINFO_EFFECTIVE_URL, &base);
	if (location != NULL) {
		absolute = http_url_seen(base, location->value);
		http_header_set(location, absolute);
		free(absolute);
	}
	response->end = HTTP_ANSWERED;
	response->url = base;
	response->headers = exchange->got.items;
	response->header_count = exchange->got.count;
	response->body = exchange->body;
	exchange->done(exchange->arg, response);
}

static void
on_done(void *arg, CURLcode code)
{
	struct http_exchange *exchange = arg;
	struct http_response response = { .end = HTTP_FAILED };

	curl_easy_getinfo(
	    exchange->easy, CURLINFO_RESPONSE_CODE, &response.status);
	if (code == CURLE_OK && see_other(exchange, response.status))
		return;
	loop_timer_stop(exchange->http->loop, &exchange->deadline);
	if (code == CURLE_OK) {
		answer(exchange, &response);
		return;
	}
	if (code == CURLE_LOGIN_DENIED) /* a redirect to http://user@host/ */
		http_url_refuse_user(&exchange->rejected);
	if (exchange->too_big != HTTP_ANSWERED)
		response.end = exchange->too_big;
	else if (code == CURLE_OUT_OF_MEMORY) /* a line beyond what it takes */
		response.end = HTTP_HEADER_TOO_BIG;
	else if (exchange->rejected.message != NULL &&
	         (code == CURLE_COULDNT_CONNECT ||
	             code == CURLE_ABORTED_BY_CALLBACK ||
	             code == CURLE_LOGIN_DENIED))
		response.end = HTTP_REJECTED;
	response.rejected = &exchange->rejected;
	response.reason = exchange->reason[0] != '\0'
	                      ? exchange->reason
	                      : curl_easy_strerror(code);
	exchange->done(exchange->arg, &response);
}

/* Life --------------------------------------------------------------------- */

static void *
resize(void *old, size_t size)
{
	return xreallocarray(old, size, 1);
}

/* The one that runs, which need not be the one that this was built with. */
static bool
check_version(struct error *err)
{
	const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);

	if (info->version_num >= OLDEST_VERSION)
		return true;
	error_set(
	    err, "libcurl is %s, and must be 7.87.0 or later", info->version);
	return false;
}

struct http *
http_new(struct loop *loop, const struct config *config,
    const struct guard *guard, struct error *err)
{
	struct http *http;

	if (!check_version(err))
		return NULL;
	/* not all of libcurl looks whether it was given memory */
	if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, xmalloc, free, resize,
	        xstrdup, xcalloc) != CURLE_OK)
		fatalx("cannot start libcurl");
	http = xcalloc(1, sizeof(*http));
	http->loop = loop;
	http->config = config;
	http->guard = guard;
	http->multi = http_multi_new(loop, (size_t)config->slots, on_done);
	return http;
}

void
http_set_guard(struct http *http, const struct guard *guard)
{
	http->guard = guard;
}

void
http_free(struct http *http)
{
	if (http == NULL)
		return;
	http_multi_free(http->multi);
	free(http);
	curl_global_cleanup();
}
