/*
 * guard.h - where requests may go.
 *
 * A URL is looked at before anything is begun, and each address right before
 * it is connected to: whatever name or spelling led there, and be it by a
 * redirect.
 */
#ifndef DRIVER_TRANSPORT_HTTP_GUARD_H
#define DRIVER_TRANSPORT_HTTP_GUARD_H

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

/*
 * The hosts and networks of `list` are called without a proxy.  False, with
 * `err` set, if an element is neither.
 */
bool guard_pass_proxy(
    struct guard *guard, const struct config_list *list, struct error *err);

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

/* Whether `host`, as it stands in a URL, is called without a proxy. */
bool guard_passes_proxy(const struct guard *guard, const char *host);

/*
 * Whether a proxy may be asked for `host`.  The proxy looks a name up, and the
 * driver never sees the address: http.allow has to name the host itself.  An
 * address in the URL is judged as in guard_check.
 */
bool guard_check_proxied(
    const struct guard *guard, const char *host, struct error *err);

#endif
