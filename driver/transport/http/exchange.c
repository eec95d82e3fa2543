#include "driver/transport/http/exchange.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "driver/config/config.h"
#include "driver/transport/http/guard.h"
#include "driver/transport/http/hop.h"
#include "driver/transport/http/multi.h"
#include "driver/transport/http/response_headers.h"
#include "driver/transport/http/url.h"
#include "runtime/loop.h"

enum {
	OLDEST_VERSION = 0x075700, /* 7.87.0 */

	/*
	 * Each line of a header counts for this much more than its bytes, as in
	 * RFC 7541, 4.1: many short lines cost memory, too.
	 */
	LINE_COST = 32,
};

struct http {
	struct loop *loop;
	const struct config *config;
	const struct guard *guard;
	struct http_multi *multi;
};

/*
 * An exchange is one hop, or several if servers redirect it.  libcurl could
 * follow redirects by itself, but would use the proxy, the certificate and the
 * headers that were meant for the first server.
 */
struct http_exchange {
	struct http *http;
	http_done_fn *done;
	void *arg;
	struct http_hop hop; /* the current one */
	struct timer deadline;
	size_t max_headers;    /* as it was when the exchange began */
	enum http_end too_big; /* HTTP_ANSWERED: nothing is */
	struct error rejected; /* by the guard, why */
	struct loop_call refused_call;
	int64_t redirects;

	/* this hop */
	bool was_sent;
	bool was_stopped; /* before it was sent again */
	size_t header_bytes;
	struct buf body;
	char reason[CURL_ERROR_SIZE];
	struct http_headers got; /* of the answer */
};

/* The guard ---------------------------------------------------------------- */

/*
 * libcurl is about to connect: the guard stops it before any packet is sent.
 * The proxy is the operator's own choice, so the guard judges the host instead
 * that the proxy is asked for.
 */
static curl_socket_t
open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct http_exchange *exchange = arg;
	const struct guard *guard = exchange->http->guard;
	bool ok = exchange->hop.is_proxied
	              ? guard_check_proxied(
	                    guard, exchange->hop.host, &exchange->rejected)
	              : guard_check(guard, exchange->hop.host, &address->addr,
	                    &exchange->rejected);

	(void)purpose;
	if (!ok)
		return CURL_SOCKET_BAD;
	return socket(address->family, address->socktype | SOCK_CLOEXEC,
	    address->protocol);
}

/*
 * libcurl is about to send, perhaps on a connection that was open already.  It
 * also calls this before it sends a request once more.
 */
static int
/* NOLINTNEXTLINE(readability-non-const-parameter): libcurl has it so */
before_sending(void *arg, char *address, char *local, int port, int local_port)
{
	struct http_exchange *exchange = arg;
	const struct guard *guard = exchange->http->guard;
	bool ok = exchange->hop.is_proxied
	              ? guard_check_proxied(
	                    guard, exchange->hop.host, &exchange->rejected)
	              : guard_check_text(guard, exchange->hop.host, address,
	                    &exchange->rejected);

	(void)local;
	(void)port;
	(void)local_port;
	if (ok && exchange->was_sent &&
	    !http_hop_may_come_twice(&exchange->hop)) {
		exchange->was_stopped = true;
		ok = false;
	}
	exchange->was_sent = true;
	return ok ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

/* Redirects ---------------------------------------------------------------- */

/* The location of a redirect that we follow: borrowed.  Otherwise NULL. */
static const char *
next_location(const struct http_exchange *exchange)
{
	CURL *easy = exchange->hop.easy;
	struct curl_header *location;
	long status = 0;

	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	if (!http_hop_may_move(&exchange->hop, status) ||
	    curl_easy_header(
	        easy, "Location", 0, CURLH_HEADER, -1, &location) != CURLHE_OK)
		return NULL;
	return location->value[0] != '\0' ? location->value : NULL;
}

/* What comes in ------------------------------------------------------------ */

/* Add to the body.  The body of a redirect is dropped. */
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

/*
 * All header lines of a hop count: also those of interim answers, of the proxy,
 * and behind the body.
 */
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

/* Exchanges ---------------------------------------------------------------- */

static void
on_deadline(void *arg)
{
	struct http_exchange *exchange = arg;
	struct http_response response = { .end = HTTP_TIMEOUT };

	http_multi_abort(exchange->http->multi, exchange->hop.easy);
	exchange->done(exchange->arg, &response);
}

static void on_done(void *arg, CURLcode code);

static void
on_refused(void *arg)
{
	struct http_exchange *exchange = arg;

	on_done(exchange, exchange->hop.refused);
}

/* Have libcurl call us for all that comes back. */
static void
listen_to(struct http_exchange *exchange)
{
	struct http_hop *hop = &exchange->hop;

	HTTP_HOP_SET(hop, OPENSOCKETFUNCTION, open_socket);
	HTTP_HOP_SET(hop, OPENSOCKETDATA, exchange);
	HTTP_HOP_SET(hop, PREREQFUNCTION, before_sending);
	HTTP_HOP_SET(hop, PREREQDATA, exchange);
	HTTP_HOP_SET(hop, WRITEFUNCTION, on_body);
	HTTP_HOP_SET(hop, WRITEDATA, exchange);
	HTTP_HOP_SET(hop, HEADERFUNCTION, on_header);
	HTTP_HOP_SET(hop, HEADERDATA, exchange);
	HTTP_HOP_SET(hop, ERRORBUFFER, exchange->reason);
}

/* Begin a hop. */
static void
begin(struct http_exchange *exchange)
{
	struct http_hop *hop = &exchange->hop;

	exchange->header_bytes = 0;
	exchange->was_sent = false;
	exchange->reason[0] = '\0';
	http_hop_prepare(hop, exchange->http->guard);
	listen_to(exchange);
	if (hop->refused == CURLE_OK &&
	    !http_multi_begin(exchange->http->multi, hop->easy, exchange))
		hop->refused = CURLE_FAILED_INIT;
	if (hop->refused != CURLE_OK)
		loop_later(exchange->http->loop, &exchange->refused_call);
}

struct http_exchange *
http_exchange_new(struct http *http, const struct http_request *request,
    http_done_fn *done, void *arg)
{
	struct http_exchange *exchange = xcalloc(1, sizeof(*exchange));

	exchange->http = http;
	exchange->done = done;
	exchange->arg = arg;
	/*
	 * not libcurl's limit, which it forgets when another of its timers is
	 * due in the same ms
	 */
	exchange->deadline.fn = on_deadline;
	exchange->deadline.arg = exchange;
	loop_timer_set(http->loop, &exchange->deadline, request->timeout_ms);
	buf_init(&exchange->body, (size_t)http->config->http.max_body);
	exchange->max_headers = (size_t)http->config->http.max_headers;
	http_hop_init(&exchange->hop, http->config, request,
	    http_multi_take(http->multi));
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
	http_multi_give(exchange->http->multi, exchange->hop.easy);
	http_hop_release(&exchange->hop);
	http_headers_release(&exchange->got);
	buf_release(&exchange->body);
	error_release(&exchange->rejected);
	free(exchange);
}

/*
 * Go on at `location`.  False: the exchange has failed, and `response` is set;
 * only the callback is left to do.
 */
static bool
follow(struct http_exchange *exchange, const char *location, long status,
    struct http_response *response)
{
	int64_t most = exchange->http->config->http.max_redirects;
	struct http_url *next;
	char *base;

	if (exchange->redirects >= most) {
		snprintf(exchange->reason, sizeof(exchange->reason),
		    "more than %lld redirects", (long long)most);
		return false;
	}
	base = http_url_text(http_hop_url(&exchange->hop));
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
	http_hop_move(&exchange->hop, next, status);
	buf_truncate(&exchange->body, 0);
	begin(exchange);
	return true;
}

static void
answer(struct http_exchange *exchange, struct http_response *response)
{
	const char *base = "";

	curl_easy_getinfo(exchange->hop.easy, CURLINFO_EFFECTIVE_URL, &base);
	http_headers_take(&exchange->got, exchange->hop.easy, base);
	response->end = HTTP_ANSWERED;
	response->url = base;
	response->headers = exchange->got.items;
	response->header_count = exchange->got.count;
	response->body = exchange->body;
	exchange->done(exchange->arg, response);
}

/* How the exchange has failed, by libcurl's code. */
static enum http_end
end_of_failure(struct http_exchange *exchange, CURLcode code)
{
	if (code == CURLE_LOGIN_DENIED) /* http://user@host/ */
		http_url_refuse_user(&exchange->rejected);
	if (exchange->too_big != HTTP_ANSWERED)
		return exchange->too_big;
	if (code == CURLE_OUT_OF_MEMORY) /* a line too long for libcurl */
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
	    exchange->hop.easy, CURLINFO_RESPONSE_CODE, &response.status);
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

/* Check the running libcurl, which may differ from the one of the build. */
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
	/*
	 * some code of libcurl does not check for failed allocations; and the
	 * memory that it frees may hold secrets: headers, bodies, URLs
	 */
	if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, xmalloc, free_wiped,
	        realloc_wiped, xstrdup, xcalloc) != CURLE_OK)
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
