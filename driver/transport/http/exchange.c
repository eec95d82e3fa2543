#include "driver/transport/http/exchange.h"

#include <curl/curl.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "driver/config/certificate.h"
#include "driver/config/config.h"
#include "driver/secret/grant.h"
#include "driver/transport/http/guard.h"
#include "driver/transport/http/multi.h"
#include "driver/transport/http/response_headers.h"
#include "driver/transport/http/url.h"
#include "runtime/loop.h"

enum {
	OLDEST_VERSION = 0x075700, /* 7.87.0 */

	/* Each line of a header counts for so much more than its bytes, as
	 * RFC 7541, 4.1 counts it: many short lines cost memory, too. */
	LINE_COST = 32,
};

struct http {
	struct loop *loop;
	const struct config *config;
	const struct guard *guard;
	struct http_multi *multi;
};

/*
 * An exchange is one hop, or several if servers send it elsewhere.  libcurl
 * would follow redirects by itself, but with the proxy, the certificate and the
 * headers that were meant for the first server.
 */
struct http_exchange {
	struct http *http;
	const struct http_request *request;
	http_done_fn *done;
	void *arg;
	CURL *easy;
	struct timer deadline;
	size_t max_headers;    /* as it was when the exchange began */
	enum http_end too_big; /* HTTP_ANSWERED: it is not */
	struct error rejected; /* by the guard, why */
	CURLcode refused;      /* by libcurl, before it began */
	struct loop_call refused_call;

	/* what redirects have made of the request */
	int64_t redirects;
	struct http_url *moved_to; /* NULL: there was none */
	bool as_get;               /* it has become one */
	bool without_body;
	bool is_foreign; /* to another server than it was meant for */

	/* this hop */
	char *host;      /* as the URL has it */
	bool is_proxied; /* through the proxy of the configuration */
	bool was_sent;
	bool was_stopped; /* before it was sent again */
	struct curl_slist *headers;
	size_t header_bytes;
	struct buf body;
	char reason[CURL_ERROR_SIZE];
	struct http_headers got; /* of the answer */
};

static const struct http_url *
current_url(const struct http_exchange *exchange)
{
	return exchange->moved_to != NULL ? exchange->moved_to
	                                  : exchange->request->url;
}

/* The guard ---------------------------------------------------------------- */

/*
 * libcurl is about to connect: no packet goes where it must not.  The proxy is
 * the operator's own choice.  What it is asked for is judged before it is asked.
 */
static curl_socket_t
open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct http_exchange *exchange = arg;
	const struct guard *guard = exchange->http->guard;
	bool ok = exchange->is_proxied
	              ? guard_check_proxied(
	                    guard, exchange->host, &exchange->rejected)
	              : guard_check(guard, exchange->host, &address->addr,
	                    &exchange->rejected);

	(void)purpose;
	if (!ok)
		return CURL_SOCKET_BAD;
	return socket(address->family, address->socktype | SOCK_CLOEXEC,
	    address->protocol);
}

static bool may_come_twice(const struct http_exchange *exchange);

/*
 * It is about to send, perhaps on a connection that was open already.  libcurl
 * also comes here before it sends a request once more.
 */
static int
/* NOLINTNEXTLINE(readability-non-const-parameter): libcurl has it so */
before_sending(void *arg, char *address, char *local, int port, int local_port)
{
	struct http_exchange *exchange = arg;
	const struct guard *guard = exchange->http->guard;
	bool ok = exchange->is_proxied
	              ? guard_check_proxied(
	                    guard, exchange->host, &exchange->rejected)
	              : guard_check_text(guard, exchange->host, address,
	                    &exchange->rejected);

	(void)local;
	(void)port;
	(void)local_port;
	if (ok && exchange->was_sent && !may_come_twice(exchange)) {
		exchange->was_stopped = true;
		ok = false;
	}
	exchange->was_sent = true;
	return ok ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

/* Redirects ---------------------------------------------------------------- */

static bool
is_read_only(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

/* Where the answer sends us, if we follow: borrowed.  Otherwise NULL. */
static const char *
next_location(const struct http_exchange *exchange)
{
	const struct http_request *request = exchange->request;
	struct curl_header *location;
	long status = 0;

	curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status / 100 != 3 || !request->follow ||
	    exchange->http->config->http.max_redirects == 0 ||
	    (status != 303 && !exchange->as_get &&
	        !is_read_only(request->method)) ||
	    curl_easy_header(exchange->easy, "Location", 0, CURLH_HEADER, -1,
	        &location) != CURLHE_OK)
		return NULL;
	return location->value[0] != '\0' ? location->value : NULL;
}

/* What comes in ------------------------------------------------------------ */

/* The body of a redirect is for nobody. */
static size_t
on_body(char *data, size_t size, size_t count, void *arg)
{
	struct http_exchange *exchange = arg;

	if (next_location(exchange) != NULL ||
	    buf_add(&exchange->body, data, size * count))
		return size * count;
	exchange->too_big = HTTP_BODY_TOO_BIG;
	return 0;
}

/* All lines of a hop count: of interim answers, of the proxy, behind the body. */
static size_t
/* NOLINTNEXTLINE(readability-non-const-parameter): libcurl has it so */
on_header(char *line, size_t size, size_t count, void *arg)
{
	struct http_exchange *exchange = arg;

	(void)line;
	exchange->header_bytes += size * count + LINE_COST;
	if (exchange->header_bytes <= exchange->max_headers)
		return size * count;
	exchange->too_big = HTTP_HEADER_TOO_BIG;
	return 0;
}

/* What goes out ------------------------------------------------------------ */

/*
 * RFC 9110, 9.2.2; stdlib/http.wf has the same list.  By itself libcurl sends
 * again what it sent on an open connection that was closed before an answer:
 * other methods get a connection of their own, unless the server knows the key.
 */
static bool
may_come_twice(const struct http_exchange *exchange)
{
	static const char *const idempotent[] = { "GET", "HEAD", "OPTIONS",
		"PUT", "DELETE" };
	size_t i;

	for (i = 0; i < sizeof(idempotent) / sizeof(idempotent[0]); i++)
		if (strcmp(exchange->request->method, idempotent[i]) == 0)
			return true;
	return exchange->request->is_keyed || exchange->as_get;
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

static bool
is_named(const char *line, const char *name)
{
	size_t len = strlen(name);

	return strncasecmp(line, name, len) == 0 &&
	       (line[len] == ':' || line[len] == ';');
}

/* Whether this hop has the line: redirects take some away. */
static bool
is_sent(const struct http_exchange *exchange, const char *line)
{
	if (exchange->is_foreign &&
	    (is_named(line, "Authorization") || is_named(line, "Cookie")))
		return false;
	return !exchange->without_body || !is_named(line, "Content-Type");
}

/* Those of `lines` that are sent to `*list`, which moves on behind them. */
static void
put_lines(const struct http_exchange *exchange, struct curl_slist **list,
    char *const *lines)
{
	for (; lines != NULL && *lines != NULL; lines++)
		if (is_sent(exchange, *lines)) {
			(*list)->data = *lines;
			(*list)->next = *list + 1;
			(*list)++;
		}
}

/* As libcurl wants them: a list, here in one piece, of what is borrowed. */
static struct curl_slist *
list_headers(const struct http_exchange *exchange)
{
	const struct http_request *request = exchange->request;
	size_t count =
	    count_lines(request->headers) + count_lines(request->names);
	struct curl_slist *list = xcalloc(count + 1, sizeof(*list)),
	                  *end = list;

	put_lines(exchange, &end, request->headers);
	put_lines(exchange, &end, request->names);
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
	const char *method = exchange->as_get ? "GET" : request->method;
	const char *body = exchange->without_body ? NULL : request->body;

	if (strcmp(method, "HEAD") == 0) {
		SET(exchange, NOBODY, 1L);
		return;
	}
	if (body != NULL || wants_body(method)) {
		SET(exchange, POSTFIELDSIZE_LARGE,
		    (curl_off_t)(body != NULL ? request->body_len : 0));
		SET(exchange, POSTFIELDS, body != NULL ? body : "");
	}
	if (body != NULL || strcmp(method, "GET") != 0)
		SET(exchange, CUSTOMREQUEST, method);
}

/* The proxy is that of the configuration or none: the environment has no say. */
static void
set_proxy(struct http_exchange *exchange)
{
	const struct config *config = exchange->http->config;

	exchange->is_proxied =
	    config->http.proxy[0] != '\0' &&
	    !guard_passes_proxy(exchange->http->guard, exchange->host);
	SET(exchange, PROXY, exchange->is_proxied ? config->http.proxy : "");
	SET(exchange, NOPROXY, "");
}

/* The first line of http.certificates that is for this server. */
static void
set_certificate(struct http_exchange *exchange)
{
	const struct config_list *lines =
	    &exchange->http->config->http.certificates;
	char *place = http_url_place(current_url(exchange));
	struct certificate certificate;
	struct error err = { 0 };
	bool found = false;
	size_t i;

	for (i = 0; !found && i < lines->count; i++) {
		if (!certificate_read(&certificate, lines->items[i], &err))
			continue;
		found = secret_destination_holds(certificate.destination,
		    strlen(certificate.destination), place);
		if (found) {
			SET(exchange, SSLCERT, certificate.certificate);
			SET(exchange, SSLKEY, certificate.key);
			/* or OpenSSL asks a terminal for it, and waits */
			SET(exchange, KEYPASSWD, "");
		}
		certificate_release(&certificate);
	}
	error_release(&err);
	free(place);
}

static void
set_tls(struct http_exchange *exchange)
{
	const struct config *config = exchange->http->config;
	bool is_newest = strcmp(config->http.tls_min, "1.3") == 0;
	long version =
	    is_newest ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2;

	SET(exchange, SSLVERSION, version);
	SET(exchange, PROXY_SSLVERSION, version);
	if (config->http.ca_file[0] != '\0') {
		SET(exchange, CAINFO, config->http.ca_file);
		SET(exchange, PROXY_CAINFO, config->http.ca_file);
	}
	if (config->http.certificates.count > 0)
		set_certificate(exchange);
}

static void
set_limits(struct http_exchange *exchange)
{
	const struct config *config = exchange->http->config;

	/* none, where the deadline comes first */
	SET(exchange, CONNECTTIMEOUT_MS,
	    config->http.connect_timeout_ms < exchange->request->timeout_ms
	        ? (long)config->http.connect_timeout_ms
	        : LONG_MAX);
	SET(exchange, FOLLOWLOCATION, 0L);
	SET(exchange, PROTOCOLS_STR, GUARD_SCHEMES);
	SET(exchange, REDIR_PROTOCOLS_STR, GUARD_SCHEMES);
	SET(exchange, DISALLOW_USERNAME_IN_URL, 1L);
	SET(exchange, OPENSOCKETFUNCTION, open_socket);
	SET(exchange, OPENSOCKETDATA, exchange);
	SET(exchange, PREREQFUNCTION, before_sending);
	SET(exchange, PREREQDATA, exchange);
}

static void
set_options(struct http_exchange *exchange)
{
	SET(exchange, NOSIGNAL, 1L);
	/* a thread that looks a name up is not waited for: that takes as long
	 * as the name server does not answer */
	SET(exchange, QUICK_EXIT, 1L);
	SET(exchange, CURLU, (CURLU *)current_url(exchange));
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
	set_proxy(exchange);
	set_tls(exchange);
	set_method(exchange);
	if (!may_come_twice(exchange)) {
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

/* A hop. */
static void
begin(struct http_exchange *exchange)
{
	free(exchange->host);
	exchange->host = http_url_host(current_url(exchange));
	free(exchange->headers);
	exchange->headers = list_headers(exchange);
	exchange->header_bytes = 0;
	exchange->was_sent = false;
	exchange->reason[0] = '\0';
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
	exchange->max_headers = (size_t)http->config->http.max_headers;
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
	free(exchange->host);
	http_headers_release(&exchange->got);
	buf_release(&exchange->body);
	error_release(&exchange->rejected);
	http_url_free(exchange->moved_to);
	free(exchange);
}

static bool
is_same_server(const struct http_url *one, const struct http_url *other)
{
	char *place = http_url_place(one), *place_2 = http_url_place(other);
	bool same = strcasecmp(place, place_2) == 0;

	free(place);
	free(place_2);
	return same;
}

/*
 * Go on at `location`.  A method that is not read-only becomes a GET: its 303
 * says where the answer is.  Otherwise a body is repeated only by 307 and 308.
 * False: the exchange has failed, with `response` set but for the callback.
 */
static bool
follow(struct http_exchange *exchange, const char *location, long status,
    struct http_response *response)
{
	const struct http_request *request = exchange->request;
	int64_t most = exchange->http->config->http.max_redirects;
	struct http_url *next;
	char *base;

	if (exchange->redirects >= most) {
		snprintf(exchange->reason, sizeof(exchange->reason),
		    "more than %lld redirects", (long long)most);
		return false;
	}
	base = http_url_text(current_url(exchange));
	next = http_url_follow(base, location, &exchange->rejected);
	free(base);
	if (next == NULL) {
		if (exchange->rejected.hint != NULL) /* it has a user */
			response->end = HTTP_REJECTED;
		snprintf(exchange->reason, sizeof(exchange->reason),
		    "the redirect leads to no URL: %s",
		    exchange->rejected.message);
		return false;
	}
	exchange->redirects++;
	exchange->is_foreign |= !is_same_server(request->url, next);
	if (!is_read_only(request->method))
		exchange->as_get = true;
	if (status != 307 && status != 308)
		exchange->without_body = true;
	http_url_free(exchange->moved_to);
	exchange->moved_to = next;
	buf_truncate(&exchange->body, 0);
	curl_easy_reset(exchange->easy);
	begin(exchange);
	return true;
}

static void
answer(struct http_exchange *exchange, struct http_response *response)
{
	const char *base = "";

	curl_easy_getinfo(exchange->easy, CURLINFO_EFFECTIVE_URL, &base);
	http_headers_take(&exchange->got, exchange->easy, base);
	response->end = HTTP_ANSWERED;
	response->url = base;
	response->headers = exchange->got.items;
	response->header_count = exchange->got.count;
	response->body = exchange->body;
	exchange->done(exchange->arg, response);
}

/* How it has failed, by what libcurl says. */
static enum http_end
end_of_failure(struct http_exchange *exchange, CURLcode code)
{
	if (code == CURLE_LOGIN_DENIED) /* http://user@host/ */
		http_url_refuse_user(&exchange->rejected);
	if (exchange->too_big != HTTP_ANSWERED)
		return exchange->too_big;
	if (code == CURLE_OUT_OF_MEMORY) /* a line beyond what it takes */
		return HTTP_HEADER_TOO_BIG;
	if (exchange->rejected.message != NULL &&
	    (code == CURLE_COULDNT_CONNECT ||
	        code == CURLE_ABORTED_BY_CALLBACK ||
	        code == CURLE_LOGIN_DENIED))
		return HTTP_REJECTED;
	return HTTP_FAILED;
}

static const char *
reason_of_failure(const struct http_exchange *exchange, CURLcode code)
{
	if (exchange->was_stopped)
		return "the server closed the connection before it answered; "
		       "the request may have reached it, so it was not sent "
		       "again";
	return exchange->reason[0] != '\0' ? exchange->reason
	                                   : curl_easy_strerror(code);
}

static void
on_done(void *arg, CURLcode code)
{
	struct http_exchange *exchange = arg;
	struct http_response response = {
		.end = HTTP_FAILED,
		.max_headers = exchange->max_headers,
		.max_body = exchange->body.limit,
	};
	const char *location =
	    code == CURLE_OK ? next_location(exchange) : NULL;

	curl_easy_getinfo(
	    exchange->easy, CURLINFO_RESPONSE_CODE, &response.status);
	if (location != NULL &&
	    follow(exchange, location, response.status, &response))
		return;
	loop_timer_stop(exchange->http->loop, &exchange->deadline);
	if (code == CURLE_OK && location == NULL) {
		answer(exchange, &response);
		return;
	}
	if (code != CURLE_OK)
		response.end = end_of_failure(exchange, code);
	response.rejected = &exchange->rejected;
	response.reason = reason_of_failure(exchange, code);
	exchange->done(exchange->arg, &response);
}

/* Life --------------------------------------------------------------------- */

/* What libcurl gives back may hold secrets: headers, bodies, URLs. */
static void
wipe(void *memory)
{
	if (memory != NULL)
		explicit_bzero(memory, malloc_usable_size(memory));
	free(memory);
}

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
	if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, xmalloc, wipe, resize,
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
