/*
 * test_driver_exchange.c - exchanges whose name nobody looks up in time, or
 * that libcurl does not take as they are.
 */
#include <curl/curl.h>
#include <dlfcn.h>
#include <netdb.h>
#include <poll.h>
#include <unistd.h>

#include "common/error.h"
#include "common/mem.h"
#include "common/mono.h"
#include "driver/config.h"
#include "driver/guard.h"
#include "driver/http.h"
#include "driver/http_url.h"
#include "driver/loop.h"
#include "tests/unit/unit.h"

#undef curl_easy_setopt

enum {
	SILENT_MS = 5000, /* the name server of the test answers after it */
	TIMEOUT_MS = 200,
	BEAT_MS = 20,
	PAUSE_MS = 2000, /* the longest that the loop may stand still */
};

/* What the test replaces ---------------------------------------------------- */

static int asked, answered; /* look-ups of the name "silent.test" */
static int gate[2];         /* closed, it ends them */

typedef int getaddrinfo_fn(const char *name, const char *service,
    const struct addrinfo *hints, struct addrinfo **found);

int
getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
    struct addrinfo **found)
{
	struct pollfd fd = { .fd = gate[0], .events = POLLIN };
	getaddrinfo_fn *real;

	*(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
	if (name == NULL || strcmp(name, "silent.test") != 0)
		return real(name, service, hints, found);
	__atomic_fetch_add(&asked, 1, __ATOMIC_SEQ_CST);
	(void)poll(&fd, 1, SILENT_MS);
	__atomic_fetch_add(&answered, 1, __ATOMIC_SEQ_CST);
	return EAI_AGAIN;
}

static CURLoption unknown; /* to the libcurl of the test; 0: none is */

CURLcode
curl_easy_setopt(CURL *easy, CURLoption option, ...)
{
	CURLcode (*real)(CURL *, CURLoption, ...), code;
	va_list args;

	*(void **)&real = dlsym(RTLD_NEXT, "curl_easy_setopt");
	if (option == unknown)
		return CURLE_UNKNOWN_OPTION;
	va_start(args, option);
	if (option < CURLOPTTYPE_OBJECTPOINT)
		code = real(easy, option, va_arg(args, long));
	else if (option >= CURLOPTTYPE_OFF_T && option < CURLOPTTYPE_BLOB)
		code = real(easy, option, va_arg(args, curl_off_t));
	else
		code = real(easy, option, va_arg(args, void *));
	va_end(args);
	return code;
}

/* Exchanges ----------------------------------------------------------------- */

static struct loop *loop;
static struct config config;
static struct guard *guard;
static struct http *http;
static enum http_end end;
static char *reason;

/* The loop goes round: the longest time between two of its beats. */
static struct timer beat;
static struct mono last_beat;
static int64_t longest_ms;

static void
on_beat(void *arg)
{
	int64_t ms = mono_diff_ms(mono_now(), last_beat);

	(void)arg;
	if (ms > longest_ms)
		longest_ms = ms;
	last_beat = mono_now();
	loop_timer_set(loop, &beat, BEAT_MS);
}

static void
on_done(void *arg, const struct http_response *response)
{
	(void)arg;
	end = response->end;
	reason = response->reason != NULL ? xstrdup(response->reason) : NULL;
	loop_stop(loop);
}

static void
stop(void *arg)
{
	(void)arg;
	loop_stop(loop);
}

/* A GET of `text` begins; it is given up after `given_up_ms`, unless that is 0. */
static void
get(const char *text, int64_t given_up_ms)
{
	struct error err = { 0 };
	struct http_url *url = http_url_new(text, &err);
	struct http_request request = {
		.method = "GET", .url = url, .timeout_ms = TIMEOUT_MS
	};
	struct timer timer = { .fn = stop };
	struct http_exchange *exchange =
	    http_exchange_new(http, &request, on_done, NULL);

	if (given_up_ms > 0)
		loop_timer_set(loop, &timer, given_up_ms);
	last_beat = mono_now();
	loop_timer_set(loop, &beat, BEAT_MS);
	loop_run(loop);
	loop_timer_stop(loop, &timer);
	http_exchange_free(exchange);
	on_beat(NULL);
	loop_timer_stop(loop, &beat);
	http_url_free(url);
}

static int64_t
asked_now(void)
{
	return __atomic_load_n(&asked, __ATOMIC_SEQ_CST);
}

static void
test_the_time_limit_of_a_request_holds_nobody_up(void **state)
{
	(void)state;
	get("http://silent.test/", 0);
	assert_int_equal(asked_now(), 1);
	assert_int_equal(end, HTTP_TIMEOUT);
	assert_in_range(longest_ms, 0, PAUSE_MS);
}

static void
test_the_time_limit_of_connecting_holds_nobody_up(void **state)
{
	(void)state;
	config.http.connect_timeout_ms = TIMEOUT_MS / 2;
	get("http://silent.test/", 0);
	assert_int_equal(asked_now(), 1);
	assert_int_equal(end, HTTP_FAILED);
	assert_non_null(strstr(reason, "Resolving timed out"));
	assert_in_range(longest_ms, 0, PAUSE_MS);
}

static void
test_a_request_given_up_holds_nobody_up(void **state)
{
	(void)state;
	end = HTTP_ANSWERED;
	get("http://silent.test/", TIMEOUT_MS / 2);
	assert_int_equal(asked_now(), 1);
	assert_int_equal(end, HTTP_ANSWERED);
	assert_in_range(longest_ms, 0, PAUSE_MS);
}

static void
test_the_end_of_the_driver_waits_for_no_look_up(void **state)
{
	struct mono since = mono_now();

	(void)state;
	get("http://silent.test/", TIMEOUT_MS / 2);
	http_free(http);
	http = NULL;
	assert_int_equal(asked_now(), 1);
	assert_in_range(mono_diff_ms(mono_now(), since), 0, PAUSE_MS);
}

static void
test_without_an_option_nothing_is_sent(void **state)
{
	static const CURLoption options[] = { CURLOPT_PROTOCOLS_STR,
		CURLOPT_REDIR_PROTOCOLS_STR, CURLOPT_PREREQFUNCTION,
		CURLOPT_OPENSOCKETFUNCTION, CURLOPT_QUICK_EXIT, CURLOPT_PROXY,
		CURLOPT_DISALLOW_USERNAME_IN_URL, CURLOPT_PRIVATE };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		unknown = options[i];
		free(reason);
		get("http://silent.test/", 0);
		assert_int_equal(end, HTTP_FAILED);
		assert_non_null(reason);
	}
	assert_int_equal(asked_now(), 0);
}

static int
set_up(void **state)
{
	struct error err = { 0 };

	(void)state;
	asked = answered = 0;
	longest_ms = 0;
	unknown = (CURLoption)0;
	reason = NULL;
	beat.fn = on_beat;
	assert_int_equal(pipe(gate), 0);
	loop = loop_new();
	config_preset(&config);
	guard = guard_new(&config.http.allow, &config.http.deny, &err);
	http = http_new(loop, &config, guard, &err);
	assert_non_null(http);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	http_free(http);
	guard_free(guard);
	config_release(&config);
	loop_free(loop);
	free(reason);
	close(gate[1]);
	/* by their threads, which may still be about to end */
	while (__atomic_load_n(&answered, __ATOMIC_SEQ_CST) < asked_now())
		usleep(1000);
	close(gate[0]);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static const struct CMUnitTest tests[] = {
	TEST(test_the_time_limit_of_a_request_holds_nobody_up),
	TEST(test_the_time_limit_of_connecting_holds_nobody_up),
	TEST(test_a_request_given_up_holds_nobody_up),
	TEST(test_the_end_of_the_driver_waits_for_no_look_up),
	TEST(test_without_an_option_nothing_is_sent),
};

UNIT_TESTS(tests)
