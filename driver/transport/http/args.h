/*
 * args.h - the arguments of a task over HTTP, after reading.  Tasks with the
 * same arguments share them.
 */
#ifndef DRIVER_TRANSPORT_HTTP_ARGS_H
#define DRIVER_TRANSPORT_HTTP_ARGS_H

#include <stdbool.h>

struct error;
struct http_args;
struct http_request;
struct task;

/*
 * The arguments of a task.  `*last` are the arguments that were read before,
 * NULL at first.  If they are the same, they are given once more.  The caller
 * must free `*last` in the end.  Arguments that hold secrets, or are long, do
 * not become the last.  NULL with `err` set: the arguments are wrong.
 */
struct http_args *http_args_new(
    const struct task *task, struct http_args **last, struct error *err);

/*
 * The destination of the task's arguments, as in secret/grant.h; for the caller
 * to free().  NULL with `err` set: they are wrong.
 */
char *http_args_place(const struct task *task, struct error *err);

/* End the use of them.  NULL is allowed. */
void http_args_free(struct http_args *args);

/* Set the fields of the request; they live as long as the arguments. */
void http_args_fill(const struct http_args *args, struct http_request *request);

/* Whether the arguments have this header. */
bool http_args_have_header(const struct http_args *args, const char *name);

/* Whether the arguments accept this status as an answer. */
bool http_args_accept(const struct http_args *args, long status);

/* "GET http://host/path", for messages; it lives as long as the arguments. */
const char *http_args_name(struct http_args *args);

#endif
