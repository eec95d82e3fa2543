/*
 * http_url.h - URLs, read and written as libcurl does it: what is judged is
 * what is then asked for.
 */
#ifndef DRIVER_HTTP_URL_H
#define DRIVER_HTTP_URL_H

#include <stdbool.h>

struct error;

/*
 * `text` as an absolute URL without user and password, seen from `base` (NULL
 * if it stands for itself); for the caller to free().  "" if it is none.
 */
char *http_url(const char *base, const char *text);

/*
 * Add key=value to the query of `*url`, encoded.  `*url` is free()d and
 * replaced.
 */
bool http_url_add(
    char **url, const char *key, const char *value, struct error *err);

/* Its host, without user and port; for the caller to free().  "": none. */
char *http_url_host(const char *text);

#endif
