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
	char *value; /* of several headers of that name, joined by ", " */
};

/* Starts zeroed. */
struct http_headers {
	struct http_header *items;
	size_t count;
};

/*
 * Those of the response that `easy` has had from the server: not of interim
 * ones, nor of a proxy.  `location` is made absolute, seen from `base`.
 */
void http_headers_take(
    struct http_headers *headers, CURL *easy, const char *base);

void http_headers_release(struct http_headers *headers);

#endif
