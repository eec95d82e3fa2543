/*
 * http_headers.h - the header of a response, as it comes in.
 */
#ifndef DRIVER_HTTP_HEADERS_H
#define DRIVER_HTTP_HEADERS_H

#include <stdbool.h>
#include <stddef.h>

struct http_header {
	char *name;  /* lower case; owned, with the value behind it */
	char *value; /* of several headers of that name, joined by ", " */
};

/* Starts zeroed. */
struct http_headers {
	struct http_header *items;
	size_t count;
	size_t bytes; /* that came in */
};

/*
 * Add a line, "Name: value\r\n".  A status line begins anew: of several
 * responses (100, redirects) the last one counts.  False if that makes more
 * than `limit` bytes.
 */
bool http_headers_add(
    struct http_headers *headers, const char *line, size_t len, size_t limit);

/* The header called `name`, in lower case; NULL if there is none. */
struct http_header *http_headers_find(
    const struct http_headers *headers, const char *name);

/* Another value for it. */
void http_header_set(struct http_header *header, const char *value);

void http_headers_release(struct http_headers *headers);

#endif
