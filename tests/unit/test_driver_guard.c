/* Where requests may go: the rules, and that no spelling gets around them. */
#include "driver/transport/http/guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/error.h"
#include "driver/config/config.h"
#include "driver/transport/http/exchange.h"
#include "driver/transport/http/url.h"
#include "runtime/loop.h"
#include "tests/unit/unit.h"

/* A listener on all addresses, so that whoever comes this far is seen. */
static int listener;
static int port;

/* Rules -------------------------------------------------------------------- */

static struct guard *
make(const char *allow, const char *deny, struct error *err)
{
	struct config config;
	struct guard *guard;
	char text[256];

	config_preset(&config);
	snprintf(text, sizeof(text), "http.allow=%s", allow);
	assert_true(config_set(&config, text, err));
	snprintf(text, sizeof(text), "http.deny=%s", deny);
	assert_true(config_set(&config, text, err));
	guard = guard_new(&config.http.allow, &config.http.deny, err);
	config_release(&config);
	return guard;
}

/* What http.allow is by default: all that is not denied. */
#define ALL "0.0.0.0/0,::/0"
#define PUBLIC "93.184.216.34"
#define PUBLIC6 "2606:4700::1111"

static void
check(const char *allow, const char *deny, const char *host,
    const char *address, bool expected)
{
	struct error err = { 0 };
	struct guard *guard = make(allow, deny, &err);

	assert_non_null(guard);
	if (guard_check_text(guard, host, address, &err) != expected)
		fail_msg(
		    "allow %s, deny %s: %s (%s)", allow, deny, host, address);
	assert_int_equal(err.message == NULL, expected);
	assert_int_equal(err.hint == NULL, expected);
	error_release(&err);
	guard_free(guard);
}

/* What a proxy is asked for. */
static void
check_proxied(
    const char *allow, const char *deny, const char *host, bool expected)
{
	struct error err = { 0 };
	struct guard *guard = make(allow, deny, &err);

	assert_non_null(guard);
	if (guard_check_proxied(guard, host, &err) != expected)
		fail_msg("allow %s, deny %s: %s", allow, deny, host);
	assert_int_equal(err.message == NULL, expected);
	assert_int_equal(err.hint == NULL, expected);
	error_release(&err);
	guard_free(guard);
}

static void
test_a_proxy_is_asked_for_what_is_named(void **state)
{
	static const char *const spellings[] = { "0x7f.1", "0177.0.0.1",
		"2130706433", "127.1", "127.0.0.1.", "[::1", "::1%lo", "" };
	size_t i;

	(void)state;
	check_proxied(ALL, "", "api.example.com", false);
	check_proxied("api.example.com", "", "api.example.com", true);
	check_proxied("api.example.com", "", "API.example.com.", true);
	check_proxied(".example.com", "", "api.example.com", true);
	check_proxied(".example.com", "", "example.com", false);
	check_proxied(
	    ".example.com", "api.example.com", "api.example.com", false);
	/* addresses are judged by networks, however many names there are */
	check_proxied(ALL, "", PUBLIC, true);
	check_proxied(ALL, "", "[" PUBLIC6 "]", true);
	check_proxied(".com", "", PUBLIC, false);
	check_proxied(ALL, "", "127.0.0.1", false);
	check_proxied(ALL, "", "[::1]", false);
	check_proxied(ALL, "", "[::ffff:169.254.169.254]", false);
	check_proxied("10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", false);
	check_proxied("10.0.0.0/8", "10.1.0.0/16", "10.2.2.3", true);
	for (i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++)
		check_proxied(ALL ",.com", "", spellings[i], false);
}

static void
test_what_is_called_without_a_proxy(void **state)
{
	static const struct {
		const char *host;
		bool passes;
	} hosts[] = { { "inside.example.com", true }, { "a.corp", true },
		{ "corp", false }, { "example.com", false },
		{ "10.1.2.3", true }, { "11.1.2.3", false },
		{ "[fd00::1]", true }, { "[fe00::1]", false },
		{ "ainside.example.com", false } };
	struct error err = { 0 };
	struct guard *guard = make(ALL, "", &err);
	struct config config;
	size_t i;

	(void)state;
	config_preset(&config);
	assert_true(config_set(&config,
	    "http.no_proxy=inside.example.com,.corp,10.0.0.0/8,fd00::/8",
	    &err));
	assert_true(guard_pass_proxy(guard, &config.http.no_proxy, &err));
	for (i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		if (guard_passes_proxy(guard, hosts[i].host) != hosts[i].passes)
			fail_msg("%s", hosts[i].host);
	assert_true(config_set(&config, "http.no_proxy=a b", &err));
	assert_false(guard_pass_proxy(guard, &config.http.no_proxy, &err));
	assert_string_equal(
	    err.message, "http.no_proxy: \"a b\" is not a host or network");
	error_release(&err);
	config_release(&config);
	guard_free(guard);
}

static void
test_denied_unasked(void **state)
{
	static const char *const addresses[] = { "0.0.0.0", "0.1.2.3",
		"10.0.0.1", "100.64.0.1", "100.100.100.200", "100.127.255.255",
		"127.0.0.1", "127.255.255.254", "168.63.129.16", "169.254.0.1",
		"169.254.169.254", "172.16.0.1", "172.31.255.255",
		"192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1",
		"198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1",
		"224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::2", "64:ff9b:1::1", "100::1", "2001::1",
		"2001:1ff::1", "2001:db8::1", "3fff::1", "5f00::1", "fc00::1",
		"fd12:3456::1", "fd00:ec2::23", "fd00:ec2::254", "fd20:ce::254",
		"fd00:c1::a9fe:a9fe", "fe80::1", "fe80::1%eth0", "febf::1",
		"fec0::1", "ff02::1",
		/* other spellings, and what is carried */
		"::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe",
		"::169.254.169.254", "::127.0.0.1", "::ffff:0:127.0.0.1",
		"64:ff9b::169.254.169.254", "64:ff9b::10.0.0.1",
		"64:ff9b::168.63.129.16", "2002:a9fe:a9fe::1", "2002:7f00:1::1",
		"2001:470::5efe:10.0.0.1", "2001:470::200:5efe:168.63.129.16" };
	static const char *const public[] = { PUBLIC, PUBLIC6, "1.1.1.1",
		"9.255.255.255", "11.0.0.1", "100.63.255.255", "100.128.0.1",
		"126.255.255.255", "128.0.0.1", "168.63.129.15",
		"169.253.255.255", "172.15.255.255", "172.32.0.1", "192.0.1.1",
		"192.167.255.255", "198.17.255.255", "198.20.0.1",
		"223.255.255.255", "::ffff:93.184.216.34",
		"64:ff9b::93.184.216.34", "2002:5db8:d822::1",
		"2001:470::5efe:93.184.216.34", "2001:200::1" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		check(ALL, "", "host", addresses[i], false);
		check(ALL ",host", "", "host", addresses[i], false);
		check("host", "", "host", addresses[i], false);
	}
	for (i = 0; i < sizeof(public) / sizeof(public[0]); i++) {
		check(ALL, "", "host", public[i], true);
		check("", "", "host", public[i], false);
	}
}

/* What is denied unasked is allowed by a network as small, metadata by itself. */
static void
test_denied_unasked_is_allowed(void **state)
{
	(void)state;
	check("127.0.0.0/8", "", "host", "127.0.0.1", true);
	check("127.0.0.0/8", "", "host", "::ffff:127.0.0.1", true);
	check("127.0.0.0/8", "", "host", "64:ff9b::127.0.0.1", true);
	check("127.0.0.0/8", "", "host", "::1", false);
	check("127.0.0.0/8", "", "host", PUBLIC, false);
	check(ALL ",127.0.0.0/8", "", "host", PUBLIC, true);
	check(ALL ",127.0.0.1", "", "host", "127.0.0.1", true);
	check(ALL ",127.0.0.1", "", "host", "127.0.0.2", false);
	check("126.0.0.0/7", "", "host", "127.0.0.1", false);
	check("127.0.0.0/8", "127.0.0.0/8", "host", "127.0.0.1", false);
	check("127.0.0.0/8", "localhost", "localhost", "127.0.0.1", false);
	check("::1", "", "host", "::1", true);
	check("100.64.0.0/10", "", "host", "100.64.0.1", true);
	check("100.64.0.0/10", "", "host", "100.100.100.200", false);
	check("169.254.0.0/16", "", "host", "169.254.7.1", true);
	check("169.254.0.0/16", "", "host", "169.254.169.254", false);
	check("169.254.0.0/16", "", "host", "169.254.170.2", false);
	check("169.254.169.254", "", "host", "169.254.169.254", true);
	check("168.63.0.0/16", "", "host", "168.63.129.16", false);
	check("fc00::/7", "", "host", "fd00:ec2::253", true);
	check("fc00::/7", "", "host", "fd00:ec2::254", false);
	check("10.0.0.0/8", "", "host", "64:ff9b::10.0.0.1", true);
	check(ALL ",64:ff9b::/96", "", "host", "64:ff9b::10.0.0.1", false);
}

static void
check_why(const char *allow, const char *deny, const char *host,
    const char *address, const char *why)
{
	struct error err = { 0 };
	struct guard *guard = make(allow, deny, &err);

	assert_false(guard_check_text(guard, host, address, &err));
	assert_string_equal(err.message, why);
	error_release(&err);
	guard_free(guard);
}

static void
test_why(void **state)
{
	(void)state;
	check_why(ALL, "", "localhost", "127.0.0.1",
	    "this driver may not connect to localhost (127.0.0.1): 127.0.0.1 "
	    "is in 127.0.0.0/8 (loopback), which is denied unless http.allow "
	    "names it");
	check_why(ALL, "", "[64:ff9b::a9fe:a9fe]", "64:ff9b::a9fe:a9fe",
	    "this driver may not connect to [64:ff9b::a9fe:a9fe] "
	    "(64:ff9b::a9fe:a9fe): 169.254.169.254 is in 169.254.169.254/32 "
	    "(metadata), which is denied unless http.allow names it");
	check_why(ALL, "93.0.0.0/8", "host", PUBLIC,
	    "this driver may not connect to host (" PUBLIC "): " PUBLIC
	    " is in 93.0.0.0/8, which http.deny names");
	check_why(ALL, "host", "host", PUBLIC,
	    "this driver may not connect to host (" PUBLIC
	    "): http.deny names this host");
	check_why("other", "", "host", PUBLIC,
	    "this driver may not connect to host (" PUBLIC
	    "): http.allow names neither this host nor this address");
}

static void
test_the_smallest_network_decides(void **state)
{
	(void)state;
	check(ALL, "10.0.0.0/8", "host", "10.1.2.3", false);
	check(ALL, "11.0.0.0/8", "host", "12.1.2.3", true);
	check(ALL, "10.0.0.0/8", "host", "::ffff:10.1.2.3", false);
	check(ALL, "::ffff:10.0.0.0/104", "host", "10.1.2.3", false);
	check("10.1.0.0/16", "10.0.0.0/8", "host", "10.1.2.3", true);
	check("10.1.0.0/16", "10.0.0.0/8", "host", "10.2.2.3", false);
	check("10.0.0.0/8", "10.0.0.0/8", "host", "10.2.2.3", false);
	check("10.0.0.0/8", "10.1.2.3", "host", "10.1.2.3", false);
	check("10.0.0.0/8", "10.1.2.3", "host", "10.1.2.2", true);
	check("10.0.0.0/8", "", "host", "11.0.0.1", false);
	check("0.0.0.0/0,169.254.7.1", "", "host", "169.254.7.1", true);
	check("0.0.0.0/0,169.254.7.1", "", "host", "169.254.7.2", false);
	check(ALL, "0.0.0.0/0", "host", "1.2.3.4", false);
	check(ALL, "0.0.0.0/0", "host", "2606:4700::1111", true);
	check(ALL, "::/0", "host", "2606:4700::1111", false);
	check(ALL, "::/0", "host", "1.2.3.4", true);
	check("10.0.0.0/8", "10.128.0.0/9", "host", "10.127.0.1", true);
	check("10.0.0.0/8", "10.128.0.0/9", "host", "10.129.0.1", false);
}

static void
test_names(void **state)
{
	(void)state;
	check("api.test", "", "API.test", "93.184.216.34", true);
	check("api.test", "", "api.test.", "93.184.216.34", true);
	check("api.test", "", "www.api.test", "93.184.216.34", false);
	check("api.test", "", "api.tes", "93.184.216.34", false);
	check(".api.test", "", "www.api.test", "93.184.216.34", true);
	check(".api.test", "", "api.test", "93.184.216.34", false);
	check(".api.test", "", ".api.test", "93.184.216.34", false);
	check(".api.test", "", "wwwapi.test", "93.184.216.34", false);
	check(ALL, ".api.test", "www.api.test", "93.184.216.34", false);
	check(ALL, "api.test", "other.test", "93.184.216.34", true);
	check(ALL, "api.test", "\xef\xbd\x81pi.test", "93.184.216.34", false);
	check("api.test,10.0.0.0/8", "", "other.test", "10.0.0.1", true);
	check("api.test", "10.0.0.0/8", "api.test", "10.0.0.1", false);
}

static void
test_what_is_no_rule(void **state)
{
	static const char *const wrong[] = { "10.0.0.0/33", "::/129",
		"10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x", "10.1", "2130706433",
		"http://host", "host:80", "*.host", "host name", "[::1]",
		"host/8", ".", "*", "..", "a..b", "host.", "https://host/",
		"host?", "10.0.0.0/33x", "m\xc3\xbcnze.test" };
	struct error err = { 0 };
	char expected[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(expected, sizeof(expected),
		    "http.allow: \"%s\" is not a host or network", wrong[i]);
		assert_null(make(wrong[i], "", &err));
		assert_string_equal(err.message, expected);
		assert_non_null(err.hint);
		error_release(&err);
	}
}

/* Spellings ---------------------------------------------------------------- */

/* All of them are 127.0.0.1, or lead here; %d is the port. */
static const char *const spellings[] = {
	"http://127.0.0.1:%d/",
	"http://127.1:%d/",
	"http://127.0.1:%d/",
	"http://2130706433:%d/",
	"http://0x7f000001:%d/",
	"http://0X7F000001:%d/",
	"http://017700000001:%d/",
	"http://0177.0.0.1:%d/",
	"http://0177.0.0.01:%d/",
	"http://0x7f.1:%d/",
	"http://0x7f.0x0.0x0.0x1:%d/",
	"http://127.0.0.1.:%d/",
	"http://%%31%%32%%37.0.0.1:%d/",
	"http://\xe2\x91\xa0\xe2\x91\xa1\xe2\x91\xa6.0.0.1:%d/",
	"http://localhost:%d/",
	"http://LOCALHOST:%d/",
	"http://localhost.:%d/",
	"http://0.0.0.0:%d/",
	"http://0:%d/",
	"http://[::1]:%d/",
	"http://[0:0:0:0:0:0:0:1]:%d/",
	"http://[::]:%d/",
	"http://[::ffff:127.0.0.1]:%d/",
	"http://[::ffff:7f00:1]:%d/",
	"http://[::127.0.0.1]:%d/",
	"http://[64:ff9b::7f00:1]:%d/",
	"http://[2002:7f00:1::1]:%d/",
	"http://127.0.0.1:%d#@host.test/",
	"file:///etc/passwd?%d",
	"gopher://127.0.0.1:%d/_",
	"dict://127.0.0.1:%d/",
	"ftp://127.0.0.1:%d/",
	"scp://127.0.0.1:%d/",
};

enum {
	SPELLINGS = sizeof(spellings) / sizeof(spellings[0]),
};

struct visit {
	struct loop *loop;
	enum http_end end;
};

static void
on_done(void *arg, const struct http_response *response)
{
	struct visit *visit = arg;

	visit->end = response->end;
	loop_stop(visit->loop);
}

/* How a request under these rules ends. */
static enum http_end
visit(const char *allow, const char *deny, const char *text)
{
	struct error err = { 0 };
	struct http_url *url = http_url_new(text, &err);
	struct visit visit = { .loop = loop_new() };
	char *const headers[] = { NULL };
	struct http_request request = { .method = "GET",
		.url = url,
		.headers = headers,
		.timeout_ms = 300,
		.follow = true };
	struct guard *guard = make(allow, deny, &err);
	struct config config;
	struct http_exchange *exchange;
	struct http *http;

	if (url == NULL)
		fail_msg("%s: %s", text, err.message);
	config_preset(&config);
	http = http_new(visit.loop, &config, guard, &err);
	assert_non_null(http);
	exchange = http_exchange_new(http, &request, on_done, &visit);
	loop_run(visit.loop);
	http_exchange_free(exchange);
	http_free(http);
	http_url_free(url);
	guard_free(guard);
	config_release(&config);
	loop_free(visit.loop);
	return visit.end;
}

static int
connections(void)
{
	int fd, count = 0;

	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		close(fd);
		count++;
	}
	assert_int_equal(errno, EAGAIN);
	return count;
}

static void
test_no_spelling_gets_around(void **state)
{
	char url[128];
	size_t i;

	(void)state;
	for (i = 0; i < SPELLINGS; i++) {
		snprintf(url, sizeof(url), spellings[i], port);
		if (visit(ALL, "", url) == HTTP_ANSWERED)
			fail_msg("%s was answered", url);
		if (connections() != 0)
			fail_msg("%s was connected to", url);
	}
}

/* That the listener hears those that may come. */
static void
test_who_may_come_comes(void **state)
{
	char url[128];

	(void)state;
	snprintf(url, sizeof(url), "http://0x7f.1:%d/", port);
	assert_int_equal(visit("127.0.0.0/8", "", url), HTTP_TIMEOUT);
	assert_int_equal(connections(), 1);
	assert_int_equal(
	    visit("127.0.0.0/8", "127.0.0.0/8", url), HTTP_REJECTED);
	assert_int_equal(connections(), 0);
	assert_int_equal(
	    visit(ALL, "", "http://169.254.169.254/latest"), HTTP_REJECTED);
	assert_int_equal(
	    visit(ALL, "", "http://2852039166/latest"), HTTP_REJECTED);
}

static int
set_up(void **state)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6 };
	socklen_t len = sizeof(address);
	int off = 0;

	(void)state;
	listener = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (listener < 0 ||
	    setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) <
	        0 ||
	    bind(listener, (struct sockaddr *)&address, len) < 0 ||
	    listen(listener, 64) < 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &len) < 0)
		return -1;
	port = ntohs(address.sin6_port);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	return close(listener);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_proxy_is_asked_for_what_is_named),
		cmocka_unit_test(test_what_is_called_without_a_proxy),
		cmocka_unit_test(test_denied_unasked),
		cmocka_unit_test(test_denied_unasked_is_allowed),
		cmocka_unit_test(test_why),
		cmocka_unit_test(test_the_smallest_network_decides),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_what_is_no_rule),
		cmocka_unit_test(test_no_spelling_gets_around),
		cmocka_unit_test(test_who_may_come_comes),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
