/*
 * http_args.h - the arguments of a request over HTTP, as its task gives them,
 * read into the request that goes out.
 */
#ifndef DRIVER_HTTP_ARGS_H
#define DRIVER_HTTP_ARGS_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct http_args;
struct http_request;
struct task;

/*
 * `task` is borrowed; without a time limit of its own it has `timeout_ms`.
 * NULL with `err` set: its arguments are wrong.
 */
struct http_args *http_args_new(
    const struct task *task, int64_t timeout_ms, struct error *err);
void http_args_free(struct http_args *args);

/* It lives as long as the arguments. */
const struct http_request *http_args_request(const struct http_args *args);

/* Whether an answer with this status is one. */
bool http_args_accept(const struct http_args *args, long status);

/* "GET http://host/path", for messages; it lives as long as the arguments. */
const char *http_args_name(struct http_args *args);

#endif
