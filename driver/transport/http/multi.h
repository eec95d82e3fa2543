/*
 * multi.h - libcurl's transfers, on the loop.
 *
 * libcurl says which sockets and which moment it waits for, and the loop waits
 * for them.  Handles and connections are kept for the next transfer.
 */
#ifndef DRIVER_TRANSPORT_HTTP_MULTI_H
#define DRIVER_TRANSPORT_HTTP_MULTI_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

struct http_multi;
struct loop;

/* A transfer has ended.  Its handle may begin another one, or be given back. */
typedef void http_multi_done_fn(void *arg, CURLcode code);

/* The multi keeps up to `most` handles, and as many connections. */
struct http_multi *http_multi_new(
    struct loop *loop, size_t most, http_multi_done_fn *done);

/* All handles must have been given back.  NULL is allowed. */
void http_multi_free(struct http_multi *multi);

/* A handle on which nothing is set. */
CURL *http_multi_take(struct http_multi *multi);

/*
 * Begin the transfer that is set on `easy`.  The loop calls `done` with `arg` at its
 * end.  False if libcurl refuses the transfer.
 */
bool http_multi_begin(struct http_multi *multi, CURL *easy, void *arg);

/* End the transfer if it still goes on: `done` does not come. */
void http_multi_abort(struct http_multi *multi, CURL *easy);

/* Abort a transfer that goes on, and give the handle back to the multi. */
void http_multi_give(struct http_multi *multi, CURL *easy);

#endif
