#include "driver/transport/http/hop.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"
#include "common/mem.h"
#include "driver/config/certificate.h"
#include "driver/config/config.h"
#include "driver/secret/grant.h"
#include "driver/transport/http/exchange.h"
#include "driver/transport/http/guard.h"
#include "driver/transport/http/url.h"

void
http_hop_init(struct http_hop *hop, const struct config *config,
    const struct http_request *request, CURL *easy)
{
	*hop = (struct http_hop){
		.config = config,
		.request = request,
		.easy = easy,
	};
}

void
http_hop_release(struct http_hop *hop)
{
	free(hop->headers);
	free(hop->host);
	http_url_free(hop->moved_to);
}

const struct http_url *
http_hop_url(const struct http_hop *hop)
{
	return hop->moved_to != NULL ? hop->moved_to : hop->request->url;
}

/* What goes out ------------------------------------------------------------ */

void
http_hop_need(struct http_hop *hop, CURLcode code)
{
	if (hop->refused == CURLE_OK)
		hop->refused = code;
}

/*
 * RFC 9110, 9.2.2; stdlib/http.wf has the same list.  If an open connection is
 * closed before an answer, libcurl by itself sends the request again.  So other
 * methods get a connection of their own, unless the server knows the key.
 */
bool
http_hop_may_come_twice(const struct http_hop *hop)
{
	static const char *const idempotent[] = { "GET", "HEAD", "OPTIONS",
		"PUT", "DELETE" };
	size_t i;

	for (i = 0; i < sizeof(idempotent) / sizeof(idempotent[0]); i++)
		if (strcmp(hop->request->method, idempotent[i]) == 0)
			return true;
	return hop->request->is_keyed || hop->as_get;
}

static bool
wants_body(const char *method)
{
	return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 ||
	       strcmp(method, "PATCH") == 0;
}

static size_t
count_lines(char *const *lines)
{
	size_t count = 0;

	while (lines != NULL && lines[count] != NULL)
		count++;
	return count;
}

static bool
is_named(const char *line, const char *name)
{
	size_t len = strlen(name);

	return strncasecmp(line, name, len) == 0 &&
	       (line[len] == ':' || line[len] == ';');
}

/* Whether this hop sends the line: redirects take some lines away. */
static bool
is_sent(const struct http_hop *hop, const char *line)
{
	if (hop->is_foreign &&
	    (is_named(line, "Authorization") || is_named(line, "Cookie")))
		return false;
	return !hop->without_body || !is_named(line, "Content-Type");
}

/*
 * Put those of `lines` that are sent into `*list`, which moves on behind them.
 */
static void
put_lines(
    const struct http_hop *hop, struct curl_slist **list, char *const *lines)
{
	for (; lines != NULL && *lines != NULL; lines++)
		if (is_sent(hop, *lines)) {
			(*list)->data = *lines;
			(*list)->next = *list + 1;
			(*list)++;
		}
}

/*
 * The headers as a list of libcurl's.  It is one piece of memory, with borrowed
 * lines.
 */
static struct curl_slist *
list_headers(const struct http_hop *hop)
{
	const struct http_request *request = hop->request;
	size_t count =
	    count_lines(request->headers) + count_lines(request->names);
	struct curl_slist *list = xcalloc(count + 1, sizeof(*list)),
	                  *end = list;

	put_lines(hop, &end, request->headers);
	put_lines(hop, &end, request->names);
	/* do not wait for permission to send a body */
	end->data = (char *)"Expect:";
	return list;
}

static void
set_method(struct http_hop *hop)
{
	const struct http_request *request = hop->request;
	const char *method = hop->as_get ? "GET" : request->method;
	const char *body = hop->without_body ? NULL : request->body;

	if (strcmp(method, "HEAD") == 0) {
		HTTP_HOP_SET(hop, NOBODY, 1L);
		return;
	}
	if (body != NULL || wants_body(method)) {
		HTTP_HOP_SET(hop, POSTFIELDSIZE_LARGE,
		    (curl_off_t)(body != NULL ? request->body_len : 0));
		HTTP_HOP_SET(hop, POSTFIELDS, body != NULL ? body : "");
	}
	if (body != NULL || strcmp(method, "GET") != 0)
		HTTP_HOP_SET(hop, CUSTOMREQUEST, method);
}

/* Only the configuration can give a proxy; the environment is ignored. */
static void
set_proxy(struct http_hop *hop, const struct guard *guard)
{
	const struct config *config = hop->config;

	hop->is_proxied = config->http.proxy[0] != '\0' &&
	                  !guard_passes_proxy(guard, hop->host);
	HTTP_HOP_SET(hop, PROXY, hop->is_proxied ? config->http.proxy : "");
	HTTP_HOP_SET(hop, NOPROXY, "");
}

/* The first line of http.certificates that is for this server. */
static void
set_certificate(struct http_hop *hop)
{
	const struct config_list *lines = &hop->config->http.certificates;
	char *place = http_url_place(http_hop_url(hop));
	struct certificate certificate;
	struct error err = { 0 };
	bool found = false;
	size_t i;

	for (i = 0; !found && i < lines->count; i++) {
		if (!certificate_read(&certificate, lines->items[i], &err))
			continue;
		found = secret_destination_holds(certificate.destination,
		    strlen(certificate.destination), place);
		if (found) {
			HTTP_HOP_SET(hop, SSLCERT, certificate.certificate);
			HTTP_HOP_SET(hop, SSLKEY, certificate.key);
			/*
			 * otherwise OpenSSL asks a terminal for it, and waits
			 */
			HTTP_HOP_SET(hop, KEYPASSWD, "");
		}
		certificate_release(&certificate);
	}
	error_release(&err);
	free(place);
}

static void
set_tls(struct http_hop *hop)
{
	const struct config *config = hop->config;
	bool is_newest = strcmp(config->http.tls_min, "1.3") == 0;
	long version =
	    is_newest ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2;

	HTTP_HOP_SET(hop, SSLVERSION, version);
	HTTP_HOP_SET(hop, PROXY_SSLVERSION, version);
	if (config->http.ca_file[0] != '\0') {
		HTTP_HOP_SET(hop, CAINFO, config->http.ca_file);
		HTTP_HOP_SET(hop, PROXY_CAINFO, config->http.ca_file);
	}
	if (config->http.certificates.count > 0)
		set_certificate(hop);
}

static void
set_limits(struct http_hop *hop)
{
	const struct config *config = hop->config;

	/* no limit if the deadline comes first */
	HTTP_HOP_SET(hop, CONNECTTIMEOUT_MS,
	    config->http.connect_timeout_ms < hop->request->timeout_ms
	        ? (long)config->http.connect_timeout_ms
	        : LONG_MAX);
	HTTP_HOP_SET(hop, FOLLOWLOCATION, 0L);
	HTTP_HOP_SET(hop, PROTOCOLS_STR, GUARD_SCHEMES);
	HTTP_HOP_SET(hop, REDIR_PROTOCOLS_STR, GUARD_SCHEMES);
	HTTP_HOP_SET(hop, DISALLOW_USERNAME_IN_URL, 1L);
}

static void
set_connection(struct http_hop *hop)
{
	HTTP_HOP_SET(hop, NOSIGNAL, 1L);
	/*
	 * do not wait for a thread that looks a name up: that could take as
	 * long as the name server does not answer
	 */
	HTTP_HOP_SET(hop, QUICK_EXIT, 1L);
	/* a libcurl without HTTP/2 goes on with HTTP/1.1 */
	(void)curl_easy_setopt(
	    hop->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
	if (!http_hop_may_come_twice(hop)) {
		HTTP_HOP_SET(hop, FRESH_CONNECT, 1L);
		HTTP_HOP_SET(hop, FORBID_REUSE, 1L);
	}
}

void
http_hop_prepare(struct http_hop *hop, const struct guard *guard)
{
	free(hop->host);
	hop->host = http_url_host(http_hop_url(hop));
	free(hop->headers);
	hop->headers = list_headers(hop);
	HTTP_HOP_SET(hop, CURLU, (CURLU *)http_hop_url(hop));
	HTTP_HOP_SET(hop, USERAGENT, "pgwf");
	HTTP_HOP_SET(hop, HTTPHEADER, hop->headers);
	HTTP_HOP_SET(hop, ACCEPT_ENCODING, hop->request->encodings);
	set_connection(hop);
	set_limits(hop);
	set_proxy(hop, guard);
	set_tls(hop);
	set_method(hop);
}

/* Redirects ---------------------------------------------------------------- */

static bool
is_read_only(const char *method)
{
	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

bool
http_hop_may_move(const struct http_hop *hop, long status)
{
	return status / 100 == 3 && hop->request->follow &&
	       hop->config->http.max_redirects > 0 &&
	       (status == 303 || hop->as_get ||
	           is_read_only(hop->request->method));
}

static bool
is_same_server(const struct http_url *one, const struct http_url *other)
{
	char *place = http_url_place(one), *place_2 = http_url_place(other);
	bool same = strcasecmp(place, place_2) == 0;

	free(place);
	free(place_2);
	return same;
}

void
http_hop_move(struct http_hop *hop, struct http_url *url, long status)
{
	hop->is_foreign |= !is_same_server(hop->request->url, url);
	if (!is_read_only(hop->request->method))
		hop->as_get = true;
	if (status != 307 && status != 308)
		hop->without_body = true;
	http_url_free(hop->moved_to);
	hop->moved_to = url;
	curl_easy_reset(hop->easy);
}
