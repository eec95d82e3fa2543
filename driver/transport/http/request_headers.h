/*
 * request_headers.h - headers that tell one request over HTTP from all others.
 * They are sent besides the headers of its arguments.
 */
#ifndef DRIVER_TRANSPORT_HTTP_REQUEST_HEADERS_H
#define DRIVER_TRANSPORT_HTTP_REQUEST_HEADERS_H

struct http_args;
struct task;

/* "Name: value", NULL behind the last. */
struct http_names {
	char *lines[3];
};

/* Make the headers that the arguments do not have. */
void http_names_init(struct http_names *names, const struct task *task,
    const struct http_args *args);
void http_names_release(struct http_names *names);

#endif
