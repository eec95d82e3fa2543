/*
 * url.h - URLs, read and written as libcurl does it, so that the URL that we
 * judge is the URL that libcurl asks for.
 */
#ifndef DRIVER_TRANSPORT_HTTP_URL_H
#define DRIVER_TRANSPORT_HTTP_URL_H

#include <stdbool.h>

struct error;

/* An absolute URL, read once: libcurl's handle under our name. */
struct http_url;

/*
 * NULL with `err` set if `text` is not a URL, or has a user or password.  NULL
 * may be freed.
 */
struct http_url *http_url_new(const char *text, struct error *err);
void http_url_free(struct http_url *url);

/* Add key=value to the query, encoded. */
bool http_url_add(struct http_url *url, const char *key, const char *value,
    struct error *err);

/*
 * The URL of a redirect: `location`, seen from `base`.  NULL with `err` set if
 * that is not a URL, or has a user or password.
 */
struct http_url *http_url_follow(
    const char *base, const char *location, struct error *err);

/* Whether `text` is http://HOST:PORT or https://HOST:PORT, for http.proxy. */
bool http_url_is_proxy(const char *text, struct error *err);

/* Set `err`: a URL has a user or password, which belongs in a secret. */
void http_url_refuse_user(struct error *err);

/* The whole URL; for the caller to free(). */
char *http_url_text(const struct http_url *url);

/* Its scheme, host and port as in secret/grant.h; for the caller to free(). */
char *http_url_place(const struct http_url *url);

/* Its host, without port; for the caller to free().  "": none. */
char *http_url_host(const struct http_url *url);

/*
 * `text` as an absolute URL without user and password, seen from `base` (NULL:
 * `text` is absolute).  For the caller to free().  "" if it is no URL.
 */
char *http_url_seen(const char *base, const char *text);

#endif
