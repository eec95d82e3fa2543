/*
 * guard.h - where requests may go.
 *
 * A URL is looked at before anything is begun, and each address right before
 * it is connected to: whatever name or spelling led there, and be it by a
 * redirect.
 */
#ifndef DRIVER_GUARD_H
#define DRIVER_GUARD_H

#include <stdbool.h>

struct config_list;
struct error;
struct guard;
struct sockaddr;

/* The protocols that libcurl may use, also after a redirect. */
#define GUARD_SCHEMES "http,https"

/* Whether `url` is one that a workflow may ask for. */
bool guard_url(const char *url, struct error *err);

/*
 * Elements are networks ("10.0.0.0/8", "::1"), names of hosts, or ".domain"
 * for the names below it.  NULL, with `err` set, if one is neither.
 */
struct guard *guard_new(const struct config_list *allow,
    const struct config_list *deny, struct error *err);

/* NULL is allowed. */
void guard_free(struct guard *guard);

/*
 * Whether `address` may be connected to for a URL that names `host`.  Of the
 * networks that hold the address the smallest decides, among them those that
 * are denied unasked: all that is not public (loopback, private, link-local,
 * multicast, ...), and metadata.  An entry in `allow` has to name it, too.
 */
bool guard_check(const struct guard *guard, const char *host,
    const struct sockaddr *address, struct error *err);

/* As guard_check, for an address as text. */
bool guard_check_text(const struct guard *guard, const char *host,
    const char *address, struct error *err);

#endif
