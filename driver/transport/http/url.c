#include "driver/transport/http/url.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"
#include "common/http.h"
#include "common/log.h"
#include "common/mem.h"

/* Other code that gives it to libcurl casts it, too. */
static CURLU *
to_curl(const struct http_url *url)
{
	return (CURLU *)url;
}

static CURLU *
new_handle(void)
{
	CURLU *handle = curl_url();

	if (handle == NULL)
		fatalx("cannot allocate a URL");
	return handle;
}

/* "" if it has no such part; for the caller to free(). */
static char *
get_part(CURLU *handle, CURLUPart part, unsigned flags)
{
	char *text = NULL, *copy;

	curl_url_get(handle, part, &text, flags);
	copy = xstrdup(text != NULL ? text : "");
	curl_free(text);
	return copy;
}

/* `handle` if `code` is good; otherwise NULL with `err` set. */
static struct http_url *
made(CURLU *handle, CURLUcode code, struct error *err)
{
	if (code == CURLUE_OK)
		return (struct http_url *)handle;
	curl_url_cleanup(handle);
	if (code == CURLUE_USER_NOT_ALLOWED)
		http_url_refuse_user(err);
	else
		error_set(err, "url: %s", curl_url_strerror(code));
	return NULL;
}

struct http_url *
http_url_new(const char *text, struct error *err)
{
	CURLU *handle = new_handle();

	return made(handle,
	    curl_url_set(handle, CURLUPART_URL, text, CURLU_DISALLOW_USER),
	    err);
}

/* Some servers do not encode locations, and write blanks, say. */
struct http_url *
http_url_follow(const char *base, const char *location, struct error *err)
{
	CURLU *handle = new_handle();
	CURLUcode code = curl_url_set(handle, CURLUPART_URL, base, 0);

	if (code == CURLUE_OK)
		code = curl_url_set(handle, CURLUPART_URL, location,
		    CURLU_DISALLOW_USER | CURLU_URLENCODE | CURLU_ALLOW_SPACE |
		        CURLU_NON_SUPPORT_SCHEME);
	return made(handle, code, err);
}

/* Without a port libcurl would take 1080, which nobody expects. */
bool
http_url_is_proxy(const char *text, struct error *err)
{
	CURLU *handle = new_handle();
	char *port = NULL, *path = NULL, *query = NULL;
	bool is_http = strncasecmp(text, "http://", 7) == 0 ||
	               strncasecmp(text, "https://", 8) == 0;
	bool ok = is_http &&
	          curl_url_set(handle, CURLUPART_URL, text,
	              CURLU_DISALLOW_USER) == CURLUE_OK &&
	          curl_url_get(handle, CURLUPART_PORT, &port, 0) == CURLUE_OK &&
	          curl_url_get(handle, CURLUPART_PATH, &path, 0) == CURLUE_OK &&
	          strcmp(path, "/") == 0 &&
	          curl_url_get(handle, CURLUPART_QUERY, &query, 0) != CURLUE_OK;

	curl_free(query);
	curl_free(path);
	curl_free(port);
	curl_url_cleanup(handle);
	if (ok)
		return true;
	error_set(err,
	    "http.proxy must be http://HOST:PORT or https://HOST:PORT, not "
	    "\"%s\"",
	    text);
	error_hint(err, "A user and a password are not supported.");
	return false;
}

void
http_url_refuse_user(struct error *err)
{
	error_set(err, "url must not have a user or password before its host");
	error_hint(err, HTTP_USER_HINT);
}

void
http_url_free(struct http_url *url)
{
	curl_url_cleanup(to_curl(url));
}

bool
http_url_add(
    struct http_url *url, const char *key, const char *value, struct error *err)
{
	char *pair = xasprintf("%s=%s", key, value);
	CURLUcode code = curl_url_set(to_curl(url), CURLUPART_QUERY, pair,
	    CURLU_APPENDQUERY | CURLU_URLENCODE);

	if (code != CURLUE_OK)
		error_set(err, "query: %s: %s", key, curl_url_strerror(code));
	free(pair);
	return code == CURLUE_OK;
}

char *
http_url_text(const struct http_url *url)
{
	return get_part(to_curl(url), CURLUPART_URL, 0);
}

char *
http_url_host(const struct http_url *url)
{
	return get_part(to_curl(url), CURLUPART_HOST, 0);
}

char *
http_url_place(const struct http_url *url)
{
	char *scheme = get_part(to_curl(url), CURLUPART_SCHEME, 0);
	char *host = http_url_host(url);
	char *port =
	    get_part(to_curl(url), CURLUPART_PORT, CURLU_NO_DEFAULT_PORT);
	char *place = xasprintf(
	    "%s://%s%s%s", scheme, host, *port != '\0' ? ":" : "", port);

	free(port);
	free(host);
	free(scheme);
	return place;
}

char *
http_url_seen(const char *base, const char *text)
{
	CURLU *handle = new_handle();
	char *seen;

	if (base != NULL)
		curl_url_set(handle, CURLUPART_URL, base, 0);
	curl_url_set(handle, CURLUPART_URL, text, 0);
	curl_url_set(handle, CURLUPART_USER, NULL, 0);
	curl_url_set(handle, CURLUPART_PASSWORD, NULL, 0);
	seen = get_part(handle, CURLUPART_URL, 0);
	curl_url_cleanup(handle);
	return seen;
}
