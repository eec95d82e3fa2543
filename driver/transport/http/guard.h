/*
 * guard.h - where requests may go.
 *
 * The guard judges a URL before anything is begun.  It judges each address
 * right before the connection, whatever name, spelling or redirect led there.
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

/* Whether a workflow may ask for `url`. */
bool guard_url(const char *url, struct error *err);

/*
 * Elements are networks ("10.0.0.0/8", "::1"), names of hosts, or ".domain" for
 * the names below it.  NULL, with `err` set, if an element is none of these.
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
 * Whether the driver may connect to `address` for a URL that names `host`.  The
 * smallest network that holds the address decides.  Among the networks are
 * those that are denied unasked: all that is not public (loopback, private,
 * link-local, multicast, ...), and metadata.  An entry in `allow` has to name
 * the address, too.
 */
bool guard_check(const struct guard *guard, const char *host,
    const struct sockaddr *address, struct error *err);

/* As guard_check, for an address as text. */
bool guard_check_text(const struct guard *guard, const char *host,
    const char *address, struct error *err);

/* Whether `host`, as it stands in a URL, is called without a proxy. */
bool guard_passes_proxy(const struct guard *guard, const char *host);

/*
 * Whether the driver may ask a proxy for `host`.  The proxy looks a name up, so
 * the driver never sees its address: http.allow has to name the host itself.
 * An address in the URL is judged as in guard_check.
 */
bool guard_check_proxied(
    const struct guard *guard, const char *host, struct error *err);

#endif
