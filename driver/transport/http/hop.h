/*
 * hop.h - one hop of an exchange: the request as libcurl gets it, and the
 * changes that a redirect makes for the next hop.
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
	CURLcode refused; /* why libcurl refused the hop, or CURLE_OK */
	char *host;       /* as the URL has it */
	bool is_proxied;  /* through the proxy of the configuration */

	/* how redirects have changed the request */
	struct http_url *moved_to; /* NULL: there was none */
	bool as_get;               /* it has become a GET */
	bool without_body;
	bool is_foreign; /* it goes to another server than at first */

	struct curl_slist *headers;
};

/* Begin with the first hop; all arguments are borrowed. */
void http_hop_init(struct http_hop *hop, const struct config *config,
    const struct http_request *request, CURL *easy);
void http_hop_release(struct http_hop *hop);

/* Set all options of libcurl except those for what comes back. */
void http_hop_prepare(struct http_hop *hop, const struct guard *guard);

/*
 * Without one of the options the hop would be another request, or go where it
 * must not.  So refuse the hop if libcurl does not take an option.
 */
void http_hop_need(struct http_hop *hop, CURLcode code);
#define HTTP_HOP_SET(hop, option, value) \
	http_hop_need( \
	    hop, curl_easy_setopt((hop)->easy, CURLOPT_##option, value))

const struct http_url *http_hop_url(const struct http_hop *hop);

/* Whether the request may reach the server twice. */
bool http_hop_may_come_twice(const struct http_hop *hop);

/* Whether an answer with this status may redirect the request. */
bool http_hop_may_move(const struct http_hop *hop, long status);

/*
 * Make the next hop: it goes to `url`, and takes it over.  A method that is not
 * read-only becomes a GET: its 303 says where the answer is.  Otherwise only
 * 307 and 308 repeat a body.
 */
void http_hop_move(struct http_hop *hop, struct http_url *url, long status);

#endif
