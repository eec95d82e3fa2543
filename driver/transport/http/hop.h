/*
 * hop.h - one hop of an exchange: the request as libcurl is asked for it, and what
 * a redirect makes of it for the next hop.
 */
#ifndef DRIVER_TRANSPORT_HTTP_HOP_H
#define DRIVER_TRANSPORT_HTTP_HOP_H

#include <curl/curl.h>
#include <stdbool.h>

struct config;
struct guard;
struct http_request;
struct http_url;

/* Read the fields; change them only through the functions. */
struct http_hop {
	const struct config *config;
	const struct http_request *request;
	CURL *easy;
	CURLcode refused; /* by libcurl, before it began; or CURLE_OK */
	char *host;       /* as the URL has it */
	bool is_proxied;  /* through the proxy of the configuration */

	/* what redirects have made of the request */
	struct http_url *moved_to; /* NULL: there was none */
	bool as_get;               /* it has become one */
	bool without_body;
	bool is_foreign; /* to another server than it was meant for */

	struct curl_slist *headers;
};

/* The first hop; all that it is given is borrowed. */
void http_hop_init(struct http_hop *hop, const struct config *config,
    const struct http_request *request, CURL *easy);
void http_hop_release(struct http_hop *hop);

/* Set all options of libcurl but those for what comes back. */
void http_hop_prepare(struct http_hop *hop, const struct guard *guard);

/*
 * Without one of the options it would be another request, or go where it must
 * not: it is refused if libcurl does not take it.
 */
void http_hop_need(struct http_hop *hop, CURLcode code);
#define HTTP_HOP_SET(hop, option, value) \
	http_hop_need( \
	    hop, curl_easy_setopt((hop)->easy, CURLOPT_##option, value))

const struct http_url *http_hop_url(const struct http_hop *hop);

/* Whether it may reach the server twice. */
bool http_hop_may_come_twice(const struct http_hop *hop);

/* Whether an answer with this status may send it elsewhere. */
bool http_hop_may_move(const struct http_hop *hop, long status);

/*
 * The next hop: it goes to `url`, which becomes its own.  A method that is not
 * read-only becomes a GET: its 303 says where the answer is.  Otherwise a body is
 * repeated only by 307 and 308.
 */
void http_hop_move(struct http_hop *hop, struct http_url *url, long status);

#endif
