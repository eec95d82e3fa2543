#include "driver/transport/http/guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "common/error.h"
#include "common/mem.h"
#include "driver/config/config.h"

enum {
	BYTES = 16,
	BITS = 128,
	V4_AT = 12, /* where an IPv4 address begins in a mapped one */
	NO_NETWORK = -1,
};

/*
 * An IPv4 address is stored as ::ffff:a.b.c.d of IPv6, so both spellings are
 * one address.
 */
struct address {
	unsigned char bytes[BYTES];
};

struct network {
	struct address first;
	int prefix;       /* of 128 */
	char *text;       /* as it was written */
	const char *what; /* its kind, if it is denied unasked */
};

struct rules {
	struct network *networks;
	size_t network_count;
	char **names;
	size_t name_count;
};

struct guard {
	struct rules allow, deny, unasked;
	struct rules direct; /* those called without a proxy */
};

/*
 * Networks that are denied unless http.allow names them.  First come all that
 * are not globally reachable, by IANA's registries of special-purpose addresses
 * (RFC 6890); the comment has the RFC that defines the network.  Then come, one
 * by one, the addresses at which clouds hand out credentials.  A rule that
 * allows the network around such an address does not allow the address.
 */
static const struct {
	const char *network, *what;
} denied_unasked[] = {
	{ "0.0.0.0/8", "this host" },              /* RFC 791 */
	{ "10.0.0.0/8", "private" },               /* RFC 1918 */
	{ "100.64.0.0/10", "shared" },             /* RFC 6598 */
	{ "127.0.0.0/8", "loopback" },             /* RFC 1122 */
	{ "169.254.0.0/16", "link-local" },        /* RFC 3927 */
	{ "172.16.0.0/12", "private" },            /* RFC 1918 */
	{ "192.0.0.0/24", "protocols" },           /* RFC 6890 */
	{ "192.0.2.0/24", "documentation" },       /* RFC 5737 */
	{ "192.88.99.0/24", "6to4 relays" },       /* RFC 7526 */
	{ "192.168.0.0/16", "private" },           /* RFC 1918 */
	{ "198.18.0.0/15", "benchmarks" },         /* RFC 2544 */
	{ "198.51.100.0/24", "documentation" },    /* RFC 5737 */
	{ "203.0.113.0/24", "documentation" },     /* RFC 5737 */
	{ "224.0.0.0/4", "multicast" },            /* RFC 5771 */
	{ "240.0.0.0/4", "reserved" },             /* RFC 1112 */
	{ "::/96", "this host, IPv4-compatible" }, /* RFC 4291 */
	{ "::1/128", "loopback" },                 /* RFC 4291 */
	{ "::ffff:0:0:0/96", "IPv4-translated" },  /* RFC 2765 */
	{ "64:ff9b:1::/48", "local translation" }, /* RFC 8215 */
	{ "100::/64", "discarded" },               /* RFC 6666 */
	{ "2001::/23", "protocols, Teredo" },      /* RFC 2928, 4380 */
	{ "2001:db8::/32", "documentation" },      /* RFC 3849 */
	{ "3fff::/20", "documentation" },          /* RFC 9637 */
	{ "5f00::/16", "segment routing" },        /* RFC 9602 */
	{ "fc00::/7", "private" },                 /* RFC 4193 */
	{ "fe80::/10", "link-local" },             /* RFC 4291 */
	{ "fec0::/10", "site-local" },             /* RFC 3879 */
	{ "ff00::/8", "multicast" },               /* RFC 4291 */
	/* AWS, Azure, Google, Oracle, OpenStack, DigitalOcean, Hetzner, ... */
	{ "169.254.169.254/32", "metadata" },
	/* AWS, "Amazon ECS task metadata endpoint" */
	{ "169.254.170.2/32", "credentials of containers" },
	/* AWS, "Amazon EKS Pod Identity Agent" */
	{ "169.254.170.23/32", "credentials of pods" },
	{ "fd00:ec2::23/128", "credentials of pods" },
	/* AWS, "Access instance metadata for an EC2 instance" */
	{ "fd00:ec2::254/128", "metadata" },
	/* Azure, "What is IP address 168.63.129.16?": WireServer; it is public */
	{ "168.63.129.16/32", "metadata" },
	/* Google, "View and query VM metadata", of VMs with IPv6 only */
	{ "fd20:ce::254/128", "metadata" },
	/* Oracle Cloud Infrastructure Classic, "Instance Metadata" */
	{ "192.0.0.192/32", "metadata" },
	/* Oracle Cloud Infrastructure, "Instance Metadata", over IPv6 */
	{ "fd00:c1::a9fe:a9fe/128", "metadata" },
	/* Alibaba Cloud, "View instance metadata"; and over IPv6 */
	{ "100.100.100.200/32", "metadata" },
	{ "fd00:100::100:200/128", "metadata" },
	/* Tencent Cloud, metadata.tencentyun.com */
	{ "169.254.0.23/32", "metadata" },
	/* Scaleway, by cloud-init's datasource */
	{ "169.254.42.42/32", "metadata" },
	{ "fd00:42::42/128", "metadata" },
	/* Akamai (Linode), by cloud-init's datasource */
	{ "fd00:a9fe:a9fe::1/128", "metadata" },
	/* OpenStack and Akamai, over the link */
	{ "fe80::a9fe:a9fe/128", "metadata" },
};

static const unsigned char mapped[V4_AT] = { [10] = 0xff, [11] = 0xff };

/* URLs --------------------------------------------------------------------- */

bool
guard_url(const char *url, struct error *err)
{
	const unsigned char *c;

	for (c = (const unsigned char *)url; *c != '\0'; c++)
		if (*c <= ' ' || *c == 0x7f) {
			error_set(
			    err, "url holds a space or control character");
			error_hint(err, "Encode it: url_encode().");
			return false;
		}
	if (strncasecmp(url, "http://", 7) == 0 ||
	    strncasecmp(url, "https://", 8) == 0)
		return true;
	error_set(err, "url must begin with http:// or https://");
	return false;
}

/* Addresses ---------------------------------------------------------------- */

static struct address
from_v4(const void *four)
{
	struct address address;

	memcpy(address.bytes, mapped, V4_AT);
	memcpy(address.bytes + V4_AT, four, BYTES - V4_AT);
	return address;
}

static bool
is_v4(const struct address *address)
{
	return memcmp(address->bytes, mapped, V4_AT) == 0;
}

/* Read an address from text.  A zone ("%eth0") does not count. */
static bool
read_address(const char *text, struct address *address)
{
	char copy[INET6_ADDRSTRLEN];
	size_t len = strcspn(text, "%");
	unsigned char four[4];

	if (len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (inet_pton(AF_INET6, copy, address->bytes) == 1)
		return true;
	if (inet_pton(AF_INET, copy, four) != 1)
		return false;
	*address = from_v4(four);
	return true;
}

static bool
take_address(const struct sockaddr *socket, struct address *address)
{
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	if (socket->sa_family == AF_INET6) {
		memcpy(&six, socket, sizeof(six));
		memcpy(address->bytes, &six.sin6_addr, BYTES);
		return true;
	}
	if (socket->sa_family != AF_INET)
		return false;
	memcpy(&four, socket, sizeof(four));
	*address = from_v4(&four.sin_addr);
	return true;
}

/*
 * IPv6 addresses that carry an IPv4 address, which a translator or tunnel takes
 * out.  They have these bytes from `from` to `to`.
 */
static const struct carrier {
	unsigned char bytes[BYTES];
	size_t from, to;
	size_t v4_at;
} carriers[] = {
	/* NAT64, 64:ff9b::/96, RFC 6052 */
	{ { 0x00, 0x64, 0xff, 0x9b }, 0, V4_AT, V4_AT },
	/* 6to4, 2002::/16, RFC 3056 */
	{ { 0x20, 0x02 }, 0, 2, 2 },
	/* ISATAP, RFC 5214, of a private address and of a public one */
	{ { [10] = 0x5e, [11] = 0xfe }, 8, V4_AT, V4_AT },
	{ { [8] = 0x02, [10] = 0x5e, [11] = 0xfe }, 8, V4_AT, V4_AT },
};

static bool
carries(const struct address *address, struct address *inner)
{
	const struct carrier *carrier;
	size_t i;

	for (i = 0; i < sizeof(carriers) / sizeof(carriers[0]); i++) {
		carrier = &carriers[i];
		if (memcmp(address->bytes + carrier->from,
		        carrier->bytes + carrier->from,
		        carrier->to - carrier->from) != 0)
			continue;
		*inner = from_v4(address->bytes + carrier->v4_at);
		return true;
	}
	return false;
}

static void
write_address(const struct address *address, char text[INET6_ADDRSTRLEN])
{
	if (is_v4(address))
		inet_ntop(
		    AF_INET, address->bytes + V4_AT, text, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, address->bytes, text, INET6_ADDRSTRLEN);
}

/* Networks ----------------------------------------------------------------- */

static bool
read_network(const char *text, struct network *network)
{
	const char *slash = strchr(text, '/');
	char *address = xstrndup(text, strcspn(text, "/")), *end;
	bool ok = read_address(address, &network->first);
	bool four = ok && strchr(address, ':') == NULL;
	long most = four ? BITS - V4_AT * 8 : BITS, prefix = most;

	free(address);
	if (slash != NULL) {
		prefix = strtol(slash + 1, &end, 10);
		ok = ok && slash[1] >= '0' && slash[1] <= '9' && *end == '\0' &&
		     prefix <= most;
	}
	if (ok)
		network->prefix = (int)prefix + (four ? V4_AT * 8 : 0);
	return ok;
}

/* ::/0 is all of IPv6, and says nothing about IPv4. */
static bool
holds(const struct network *network, const struct address *address)
{
	size_t whole = (size_t)network->prefix / 8;
	unsigned mask = 0xffu << (8 - network->prefix % 8);

	if (is_v4(&network->first) != is_v4(address) ||
	    memcmp(network->first.bytes, address->bytes, whole) != 0)
		return false;
	return network->prefix % 8 == 0 ||
	       ((network->first.bytes[whole] ^ address->bytes[whole]) & mask &
	           0xffu) == 0;
}

/* The smallest network that holds the address; NULL if none does. */
static const struct network *
smallest(const struct rules *rules, const struct address *address)
{
	const struct network *network, *found = NULL;
	size_t i;

	for (i = 0; i < rules->network_count; i++) {
		network = &rules->networks[i];
		if ((found == NULL || network->prefix > found->prefix) &&
		    holds(network, address))
			found = network;
	}
	return found;
}

/* Names -------------------------------------------------------------------- */

/* If the last label is digits, the text is some spelling of an address. */
static bool
is_name(const char *text)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
	                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                              "0123456789-_.";
	const char *label = strrchr(text, '.');

	label = label != NULL ? label + 1 : text;
	return *label != '\0' && text[strspn(text, allowed)] == '\0' &&
	       strstr(text, "..") == NULL && strspn(label, "0123456789") == 0;
}

/* The length without a dot at the end. */
static size_t
name_length(const char *host)
{
	size_t len = strlen(host);

	return len > 0 && host[len - 1] == '.' ? len - 1 : len;
}

static bool
names(const struct rules *rules, const char *host)
{
	size_t i, name_len, len = name_length(host);
	const char *name;

	for (i = 0; i < rules->name_count; i++) {
		name = rules->names[i];
		name_len = strlen(name);
		if (*name == '.' ? len > name_len : len == name_len)
			if (strncasecmp(
			        host + len - name_len, name, name_len) == 0)
				return true;
	}
	return false;
}

static bool
is_ascii(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text >= 0x80)
			return false;
	return true;
}

/* Rules -------------------------------------------------------------------- */

static bool
add_rule(struct rules *rules, const char *text, const char *what)
{
	struct network network = { .what = what };

	if (read_network(text, &network)) {
		network.text = xstrdup(text);
		rules->networks = xreallocarray(
		    rules->networks, rules->network_count + 1, sizeof(network));
		rules->networks[rules->network_count++] = network;
		return true;
	}
	if (!is_name(text))
		return false;
	rules->names = xreallocarray(
	    rules->names, rules->name_count + 1, sizeof(rules->names[0]));
	rules->names[rules->name_count++] = xstrdup(text);
	return true;
}

static bool
add_rules(struct rules *rules, const struct config_list *list, const char *key,
    struct error *err)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (!add_rule(rules, list->items[i], NULL)) {
			error_set(err, "%s: \"%s\" is not a host or network",
			    key, list->items[i]);
			error_hint(err,
			    "Write host.example.com, .example.com for all "
			    "below it, 10.0.0.0/8 or fd00::/8; other letters "
			    "than ASCII as xn--...");
			return false;
		}
	return true;
}

static void
release_rules(struct rules *rules)
{
	while (rules->name_count > 0)
		free(rules->names[--rules->name_count]);
	free(rules->names);
	while (rules->network_count > 0)
		free(rules->networks[--rules->network_count].text);
	free(rules->networks);
}

struct guard *
guard_new(const struct config_list *allow, const struct config_list *deny,
    struct error *err)
{
	struct guard *guard = xcalloc(1, sizeof(*guard));
	size_t i;

	for (i = 0; i < sizeof(denied_unasked) / sizeof(denied_unasked[0]); i++)
		add_rule(&guard->unasked, denied_unasked[i].network,
		    denied_unasked[i].what);
	if (add_rules(&guard->allow, allow, "http.allow", err) &&
	    add_rules(&guard->deny, deny, "http.deny", err))
		return guard;
	guard_free(guard);
	return NULL;
}

bool
guard_pass_proxy(
    struct guard *guard, const struct config_list *list, struct error *err)
{
	return add_rules(&guard->direct, list, "http.no_proxy", err);
}

void
guard_free(struct guard *guard)
{
	if (guard == NULL)
		return;
	release_rules(&guard->allow);
	release_rules(&guard->deny);
	release_rules(&guard->unasked);
	release_rules(&guard->direct);
	free(guard);
}

/* The verdict -------------------------------------------------------------- */

/*
 * Why the networks deny an address, for the caller to free(); NULL if they do
 * not.  The smallest network decides.  Among networks of one size an option
 * comes before the built-in list, and http.deny before http.allow.
 */
static char *
denial(const struct guard *guard, const struct address *address)
{
	const struct network *allow = smallest(&guard->allow, address),
	                     *deny = smallest(&guard->deny, address),
	                     *unasked = smallest(&guard->unasked, address);
	int allowed = allow != NULL ? allow->prefix : NO_NETWORK;
	bool denied = deny != NULL && deny->prefix >= allowed;
	char text[INET6_ADDRSTRLEN];

	if (!denied && (unasked == NULL || unasked->prefix <= allowed))
		return NULL;
	write_address(address, text);
	if (denied)
		return xasprintf(
		    "%s is in %s, which http.deny names", text, deny->text);
	return xasprintf("%s is in %s (%s), which is denied unless "
	                 "http.allow names it",
	    text, unasked->text, unasked->what);
}

/*
 * Why we may not connect to the address, for the caller to free(); NULL: we
 * may.
 */
static char *
refusal(
    const struct guard *guard, const char *host, const struct address *address)
{
	struct address inner = *address;
	bool carrier = carries(address, &inner);
	char *why;

	if (names(&guard->deny, host))
		return xstrdup("http.deny names this host");
	why = denial(guard, address);
	if (why == NULL && carrier)
		why = denial(guard, &inner);
	if (why != NULL)
		return why;
	/* the driver does not convert such a name to ASCII */
	if (!is_ascii(host) && guard->allow.name_count + guard->deny.name_count)
		return xstrdup("a name that is not ASCII is compared with none "
		               "of http.allow and http.deny; write xn--...");
	if (names(&guard->allow, host) ||
	    smallest(&guard->allow, address) != NULL ||
	    smallest(&guard->allow, &inner) != NULL)
		return NULL;
	return xstrdup("http.allow names neither this host nor this address");
}

static bool
check(const struct guard *guard, const char *host,
    const struct address *address, struct error *err)
{
	char *why = refusal(guard, host, address);
	char text[INET6_ADDRSTRLEN];

	if (why == NULL)
		return true;
	write_address(address, text);
	error_set(
	    err, "this driver may not connect to %s (%s): %s", host, text, why);
	error_hint(
	    err, "See http.allow and http.deny in the driver's configuration.");
	free(why);
	return false;
}

bool
guard_check(const struct guard *guard, const char *host,
    const struct sockaddr *address, struct error *err)
{
	struct address taken;

	if (take_address(address, &taken))
		return check(guard, host, &taken, err);
	error_set(err, "this driver connects by IPv4 and IPv6 only");
	return false;
}

bool
guard_check_text(const struct guard *guard, const char *host,
    const char *address, struct error *err)
{
	struct address taken;

	if (read_address(address, &taken))
		return check(guard, host, &taken, err);
	error_set(err, "%s is not an address", address);
	return false;
}

/* Proxies ------------------------------------------------------------------ */

/* Read the address of a host as in URLs, where IPv6 stands in brackets. */
static bool
read_host(const char *host, struct address *address)
{
	size_t len = strlen(host);
	char *inner;
	bool ok;

	if (len < 2 || host[0] != '[' || host[len - 1] != ']')
		return read_address(host, address);
	inner = xstrndup(host + 1, len - 2);
	ok = read_address(inner, address);
	free(inner);
	return ok;
}

bool
guard_passes_proxy(const struct guard *guard, const char *host)
{
	struct address address;

	return names(&guard->direct, host) ||
	       (read_host(host, &address) &&
	           smallest(&guard->direct, &address) != NULL);
}

bool
guard_check_proxied(
    const struct guard *guard, const char *host, struct error *err)
{
	struct address address;
	const char *why = NULL;

	if (read_host(host, &address))
		return check(guard, host, &address, err);
	if (names(&guard->deny, host))
		why = "http.deny names this host";
	else if (!names(&guard->allow, host))
		why = "the proxy would look its address up, so http.allow must "
		      "name this host";
	if (why == NULL)
		return true;
	error_set(
	    err, "this driver may not ask its proxy for %s: %s", host, why);
	error_hint(err,
	    "See http.allow, http.deny and http.proxy in the driver's "
	    "configuration.");
	return false;
}
