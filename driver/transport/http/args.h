/*
 * args.h - the arguments of a request over HTTP, as its task gives them,
 * read.  Tasks that say the same share them.
 */
#ifndef DRIVER_TRANSPORT_HTTP_ARGS_H
#define DRIVER_TRANSPORT_HTTP_ARGS_H

#include <stdbool.h>

struct error;
struct http_args;
struct http_request;
struct task;

/*
 * Those of a task.  `*last` are those that were read before, NULL at first: if
 * they say the same they are given once more.  It is the caller's to free in the
 * end; what holds secrets, or is long, does not become the last.
 * NULL with `err` set: they are wrong.
 */
struct http_args *http_args_new(
    const struct task *task, struct http_args **last, struct error *err);

/*
 * Where the task's arguments lead, as in secret_grant.h; for the caller to
 * free().  NULL with `err` set: they are wrong.
 */
char *http_args_place(const struct task *task, struct error *err);

/* Done with them.  NULL is allowed. */
void http_args_free(struct http_args *args);

/* What goes out; it lives as long as the arguments. */
void http_args_fill(const struct http_args *args, struct http_request *request);

/* Whether they have this header. */
bool http_args_have_header(const struct http_args *args, const char *name);

/* Whether an answer with this status is one. */
bool http_args_accept(const struct http_args *args, long status);

/* "GET http://host/path", for messages; it lives as long as the arguments. */
const char *http_args_name(struct http_args *args);

#endif
