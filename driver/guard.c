#include "driver/guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "common/error.h"
#include "common/mem.h"
#include "driver/config.h"

enum {
	BYTES = 16,
	BITS = 128,
	V4_AT = 12, /* the byte where an IPv4 address begins in a mapped one */
	NO_NETWORK = -1,
};

/* IPv4 is held as IPv6 does it, ::ffff:a.b.c.d: two spellings, one address. */
struct address {
	unsigned char bytes[BYTES];
};

struct network {
	struct address first;
	int prefix; /* of 128 */
};

struct rules {
	struct network *networks;
	size_t network_count;
	char **names;
	size_t name_count;
};

struct guard {
	struct rules allow, deny;
	bool allows_all; /* nothing stands in `allow` */
};

/* Nothing that a workflow should talk to is there, but secrets may be. */
static const char *const denied_unasked[] = {
	"0.0.0.0/8",          /* this host */
	"100.100.100.200/32", /* metadata */
	"169.254.0.0/16",     /* link-local, with 169.254.169.254: metadata */
	"224.0.0.0/4",        /* multicast */
	"240.0.0.0/4",        /* reserved, broadcast */
	"::/128",             /* this host */
	"fd00:ec2::254/128",  /* metadata */
	"fd20:ce::254/128",   /* metadata */
	"fe80::/10",          /* link-local */
	"ff00::/8",           /* multicast */
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

/* Of an address written as text; a zone ("%eth0") does not count. */
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
 * The IPv4 address that a translator or tunnel makes of an IPv6 one: NAT64,
 * 6to4, and the old "compatible" form.
 */
static bool
translated(const struct address *address, struct address *inner)
{
	static const unsigned char nat64[V4_AT] = { 0x00, 0x64, 0xff, 0x9b };
	static const unsigned char zero[V4_AT] = { 0 };
	const unsigned char *bytes = address->bytes;

	if (bytes[0] == 0x20 && bytes[1] == 0x02)
		*inner = from_v4(bytes + 2);
	else if (memcmp(bytes, nat64, V4_AT) == 0 ||
	         (memcmp(bytes, zero, V4_AT) == 0 &&
	             (bytes[12] | bytes[13] | bytes[14]) != 0))
		*inner = from_v4(bytes + V4_AT);
	else
		return false;
	return true;
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

/* The prefix of the smallest network that holds the address. */
static int
smallest(const struct rules *rules, const struct address *address)
{
	int found = NO_NETWORK;
	size_t i;

	for (i = 0; i < rules->network_count; i++)
		if (rules->networks[i].prefix > found &&
		    holds(&rules->networks[i], address))
			found = rules->networks[i].prefix;
	return found;
}

/* Names -------------------------------------------------------------------- */

/* A last label of digits makes an address of it, in one spelling or another. */
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

/* A name may have a dot behind it. */
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
add_rule(struct rules *rules, const char *text)
{
	struct network network;

	if (read_network(text, &network)) {
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
		if (!add_rule(rules, list->items[i])) {
			error_set(err, "%s: \"%s\" is no host or network", key,
			    list->items[i]);
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
	free(rules->networks);
}

struct guard *
guard_new(const struct config_list *allow, const struct config_list *deny,
    struct error *err)
{
	struct guard *guard = xcalloc(1, sizeof(*guard));
	size_t i;

	for (i = 0; i < sizeof(denied_unasked) / sizeof(char *); i++)
		add_rule(&guard->deny, denied_unasked[i]);
	guard->allows_all = allow->count == 0;
	if (add_rules(&guard->allow, allow, "http.allow", err) &&
	    add_rules(&guard->deny, deny, "http.deny", err))
		return guard;
	guard_free(guard);
	return NULL;
}

void
guard_free(struct guard *guard)
{
	if (guard == NULL)
		return;
	release_rules(&guard->allow);
	release_rules(&guard->deny);
	free(guard);
}

/* The verdict -------------------------------------------------------------- */

static bool
is_denied(const struct guard *guard, const struct address *address)
{
	int deny = smallest(&guard->deny, address);

	return deny != NO_NETWORK && deny >= smallest(&guard->allow, address);
}

static bool
is_allowed(
    const struct guard *guard, const char *host, const struct address *address)
{
	struct address inner;

	if (is_denied(guard, address) || names(&guard->deny, host) ||
	    (translated(address, &inner) && is_denied(guard, &inner)))
		return false;
	/* what it would be in ASCII is not for us to find out */
	if (!is_ascii(host) && guard->allow.name_count + guard->deny.name_count)
		return false;
	return guard->allows_all || names(&guard->allow, host) ||
	       smallest(&guard->allow, address) != NO_NETWORK;
}

static bool
check(const struct guard *guard, const char *host,
    const struct address *address, struct error *err)
{
	char text[INET6_ADDRSTRLEN];

	if (is_allowed(guard, host, address))
		return true;
	write_address(address, text);
	error_set(err, "this driver may not connect to %s (%s)", host, text);
	error_hint(
	    err, "See http.allow and http.deny in the driver's configuration.");
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
	error_set(err, "%s is no address", address);
	return false;
}
