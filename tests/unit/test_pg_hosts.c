/*
 * test_pg_hosts.c - lists of hosts, as libpq documents them.
 */
#include "common/pg_hosts.h"

#include <stdio.h>

#include "tests/unit/unit.h"

static void
expect(const struct pg_hosts *hosts, size_t i, const char *host,
    const char *hostaddr, const char *port)
{
	const struct pg_host *item = &hosts->items[i];

	assert_in_range(i, 0, hosts->count - 1);
	assert_string_equal(item->host != NULL ? item->host : "", host);
	assert_string_equal(
	    item->hostaddr != NULL ? item->hostaddr : "", hostaddr);
	assert_string_equal(item->port != NULL ? item->port : "", port);
}

/* Each row: what is given, and "HOST HOSTADDR PORT" for each host. */
static const struct {
	const char *conninfo;
	const char *hosts;
} lists[] = {
	{ "host=a,b", "a - 5432,b - 5432" },
	{ "host=a,b port=1,2", "a - 1,b - 2" },
	{ "host=a,b port=1", "a - 1,b - 1" },
	{ "host=a,b port=1,", "-" },
	{ "host=a,b port=1,2,3", "-" },
	{ "host=/s/a,/s/b", "/s/a - 5432,/s/b - 5432" },
	{ "host=@s,b", "@s - 5432,b - 5432" },
	{ "host=a,b hostaddr=10.0.0.1,10.0.0.2",
	    "a 10.0.0.1 5432,b 10.0.0.2 5432" },
	{ "host=a,b hostaddr=10.0.0.1,", "a 10.0.0.1 5432,b - 5432" },
	{ "hostaddr=::1,10.0.0.2 port=1,2", "- ::1 1,- 10.0.0.2 2" },
	{ "host=a,b hostaddr=10.0.0.1", "-" },
	{ "host=/s/a,b hostaddr=,10.0.0.1", "-" },
	{ "host=a,,b", "-" },
	{ "postgresql://u@a:1,b:2/d?target_session_attrs=read-write",
	    "a - 1,b - 2" },
	{ "postgresql://[::1]:7/d", "::1 - 7" },
	{ "postgres:///d?host=/s/a&host=/s/b", "/s/b - 5432" },
	{ "service=pair dbname=d", "a - 1,b - 2" },
	{ "service=pair host=c port=3", "c - 3" },
	{ "service=none", "-" },
	{ "d", "-" },
	{ "", "-" },
	{ "host", "-" },
	{ "nonsense=1", "-" },
};

static void
describe(const struct pg_hosts *hosts, char *text, size_t size)
{
	size_t i, len = 0;

	for (i = 0; i < hosts->count; i++) {
		const struct pg_host *h = &hosts->items[i];

		len += (size_t)snprintf(text + len, size - len, "%s%s %s %s",
		    i > 0 ? "," : "", h->host != NULL ? h->host : "-",
		    h->hostaddr != NULL ? h->hostaddr : "-",
		    h->port != NULL ? h->port : "-");
	}
}

static void
test_lists(void **state)
{
	struct pg_hosts hosts;
	char text[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		pg_hosts_init(&hosts, lists[i].conninfo);
		describe(&hosts, text, sizeof(text));
		if (strcmp(lists[i].hosts, "-") == 0)
			assert_string_equal(text, "- - -");
		else
			assert_string_equal(text, lists[i].hosts);
		pg_hosts_release(&hosts);
	}
}

static void
test_from_the_environment(void **state)
{
	struct pg_hosts hosts;

	(void)state;
	setenv("PGHOST", "a,b", 1);
	setenv("PGPORT", "1,2", 1);
	setenv("PGCONNECT_TIMEOUT", "1", 1);
	pg_hosts_init(&hosts, "dbname=d");
	assert_int_equal(hosts.count, 2);
	expect(&hosts, 1, "b", "", "2");
	assert_int_equal(hosts.timeout_ms, 2000);
	pg_hosts_release(&hosts);
	unsetenv("PGHOST");
	unsetenv("PGPORT");
	unsetenv("PGCONNECT_TIMEOUT");
	pg_hosts_init(&hosts, "host=a connect_timeout=7");
	assert_int_equal(hosts.timeout_ms, 7000);
	pg_hosts_release(&hosts);
}

static void
test_names(void **state)
{
	struct pg_hosts hosts;

	(void)state;
	pg_hosts_init(&hosts, "host=a,/s,b,@s hostaddr=");
	assert_true(pg_host_is_name(&hosts.items[0]));
	assert_false(pg_host_is_name(&hosts.items[1]));
	assert_false(pg_host_is_name(&hosts.items[3]));
	pg_hosts_release(&hosts);
	pg_hosts_init(&hosts, "host=a hostaddr=10.0.0.1");
	assert_false(pg_host_is_name(&hosts.items[0]));
	pg_hosts_release(&hosts);
}

/* Nothing but what the tests say counts. */
static void
forget_environment(void)
{
	static const char *const names[] = { "PGHOST", "PGHOSTADDR", "PGPORT",
		"PGSERVICE", "PGCONNECT_TIMEOUT" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_from_the_environment),
		cmocka_unit_test(test_names),
	};
	char name[] = "/tmp/test_pg_hosts.XXXXXX";
	int fd = mkstemp(name), failed;
	FILE *file = fdopen(fd, "w");

	fputs("[pair]\nhost=a,b\nport=1,2\n", file);
	fclose(file);
	forget_environment();
	setenv("PGSERVICEFILE", name, 1);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	remove(name);
	return failed;
}
