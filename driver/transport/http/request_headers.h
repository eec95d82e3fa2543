/*
 * request_headers.h - what tells one request over HTTP from all others: headers that
 * it has besides those of its arguments.
 */
#ifndef DRIVER_TRANSPORT_HTTP_REQUEST_HEADERS_H
#define DRIVER_TRANSPORT_HTTP_REQUEST_HEADERS_H

struct http_args;
struct task;

/* "Name: value", NULL behind the last. */
struct http_names {
	char *lines[3];
};

/* Those that the author of the arguments does not give. */
void http_names_init(struct http_names *names, const struct task *task,
    const struct http_args *args);
void http_names_release(struct http_names *names);

#endif
