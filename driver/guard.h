/*
 * guard.h - where requests may go.
 */
#ifndef DRIVER_GUARD_H
#define DRIVER_GUARD_H

#include <stdbool.h>

struct error;

/* What libcurl may speak, redirects included. */
#define GUARD_SCHEMES "http,https"

/* Whether `url` is one that a workflow may ask for. */
bool guard_url(const char *url, struct error *err);

#endif
