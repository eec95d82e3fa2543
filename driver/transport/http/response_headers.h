/*
 * response_headers.h - the header of a response, as libcurl has read it.
 */
#ifndef DRIVER_TRANSPORT_HTTP_RESPONSE_HEADERS_H
#define DRIVER_TRANSPORT_HTTP_RESPONSE_HEADERS_H

#include <curl/curl.h>
#include <stddef.h>

/* Strings are owned. */
struct http_header {
	char *name;  /* lower case */
	char *value; /* several of one name are joined by ", " */
};

/* Starts zeroed. */
struct http_headers {
	struct http_header *items;
	size_t count;
};

/*
 * Take the headers of the response that the server sent to `easy`, without
 * those of interim responses or of a proxy.  `location` is made absolute, seen
 * from `base`.
 */
void http_headers_take(
    struct http_headers *headers, CURL *easy, const char *base);

void http_headers_release(struct http_headers *headers);

#endif
