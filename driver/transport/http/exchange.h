/*
 * exchange.h - exchanges over HTTP, on the loop.
 *
 * libcurl carries them out; only this folder uses it.  Sizes are counted as
 * bytes come in, after decompression: libcurl's own limit stops neither a
 * chunked body nor a gzip bomb.
 */
#ifndef DRIVER_TRANSPORT_HTTP_EXCHANGE_H
#define DRIVER_TRANSPORT_HTTP_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

struct config;
struct error;
struct guard;
struct http;
struct http_exchange;
struct http_url;
struct loop;

/* A request to send.  Borrowed until the exchange is freed. */
struct http_request {
	const char *method;
	const struct http_url *url;
	/* "Name: value", NULL behind the last; NULL: none */
	char *const *headers;
	char *const *names; /* more headers, which name this very request */
	const char *body;   /* NULL: none */
	size_t body_len;
	/*
	 * encodings to ask for and to undo; NULL: none.  If a body in one of
	 * them is cut off, nobody can tell it from a whole one.
	 */
	const char *encodings;
	int64_t timeout_ms;
	/* GET and HEAD follow every redirect, other methods only a 303 */
	bool follow;
	/*
	 * the server does nothing twice under one Idempotency-Key, so the
	 * request may be sent again if nobody knows whether it was carried out
	 */
	bool is_keyed;
};

struct http_header; /* response_headers.h */

enum http_end {
	HTTP_ANSWERED,
	HTTP_FAILED,
	HTTP_REJECTED, /* by the guard, before any byte was sent */
	HTTP_TIMEOUT,
	HTTP_BODY_TOO_BIG,
	HTTP_HEADER_TOO_BIG,
};

/* How an exchange ended.  It is valid during the callback only. */
struct http_response {
	enum http_end end;
	const char *reason;           /* if it FAILED */
	const struct error *rejected; /* if it was REJECTED: why */
	long status;                  /* the rest: if it was ANSWERED */
	const char *url; /* the one that answered, absolute, without user */
	const struct http_header *headers; /* location made absolute */
	size_t header_count;
	struct buf body;
	size_t max_headers,
	    max_body; /* in bytes; one was exceeded if it is TOO_BIG */
};

typedef void http_done_fn(void *arg, const struct http_response *response);

/*
 * The arguments are borrowed until http_free().  NULL with `err` set if libcurl
 * is too old.
 */
struct http *http_new(struct loop *loop, const struct config *config,
    const struct guard *guard, struct error *err);

/* NULL is allowed. */
void http_free(struct http *http);

/*
 * Use this guard from now on.  It also judges open connections, before each
 * request.
 */
void http_set_guard(struct http *http, const struct guard *guard);

/* Begin.  The loop calls `done` once, as the last act of the exchange. */
struct http_exchange *http_exchange_new(struct http *http,
    const struct http_request *request, http_done_fn *done, void *arg);

/* Abort it if it still goes on: `done` does not come.  NULL is allowed. */
void http_exchange_free(struct http_exchange *exchange);

#endif
