/*
 * test_driver_exchange.c - exchanges whose name nobody looks up in time, that
 * libcurl does not take as they are, whose server closes its connections, or
 * sends them elsewhere.
 */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/error.h"
#include "common/mem.h"
#include "common/mono.h"
#include "driver/config/config.h"
#include "driver/transport/http/exchange.h"
#include "driver/transport/http/guard.h"
#include "driver/transport/http/url.h"
#include "runtime/loop.h"
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
static bool reuses;        /* whatever it is told */

CURLcode
curl_easy_setopt(CURL *easy, CURLoption option, ...)
{
	CURLcode (*real)(CURL *, CURLoption, ...), code;
	va_list args;

	*(void **)&real = dlsym(RTLD_NEXT, "curl_easy_setopt");
	if (option == unknown)
		return CURLE_UNKNOWN_OPTION;
	if (reuses &&
	    (option == CURLOPT_FRESH_CONNECT || option == CURLOPT_FORBID_REUSE))
		return CURLE_OK;
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

static bool is_old; /* the libcurl of the test is one that we do not take */

curl_version_info_data *
curl_version_info(CURLversion age)
{
	curl_version_info_data *(*real)(CURLversion);
	static curl_version_info_data info;

	*(void **)&real = dlsym(RTLD_NEXT, "curl_version_info");
	info = *real(age);
	if (is_old) {
		info.version = "7.86.0";
		info.version_num = 0x075600;
	}
	return &info;
}

/* Exchanges ----------------------------------------------------------------- */

static struct loop *loop;
static struct config config;
static struct guard *guard;
static struct http *http;
static enum http_end end;
static long status;
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
	status = response->status;
	free(reason);
	reason = response->reason != NULL ? xstrdup(response->reason) : NULL;
	loop_stop(loop);
}

static void
stop(void *arg)
{
	(void)arg;
	loop_stop(loop);
}

/* A request begins; it is given up after `given_up_ms`, unless that is 0. */
static void
exchange_with(
    const char *text, struct http_request request, int64_t given_up_ms)
{
	struct error err = { 0 };
	struct http_url *url = http_url_new(text, &err);
	struct timer timer = { .fn = stop };
	struct http_exchange *exchange;

	request.url = url;
	exchange = http_exchange_new(http, &request, on_done, NULL);

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

static void
get(const char *text, int64_t given_up_ms)
{
	struct http_request request = { .method = "GET",
		.timeout_ms = TIMEOUT_MS };

	exchange_with(text, request, given_up_ms);
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
		CURLOPT_NOPROXY, CURLOPT_DISALLOW_USERNAME_IN_URL,
		CURLOPT_FOLLOWLOCATION, CURLOPT_SSLVERSION,
		CURLOPT_PROXY_SSLVERSION, CURLOPT_SSLCERT, CURLOPT_SSLKEY,
		CURLOPT_KEYPASSWD, CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO,
		CURLOPT_PRIVATE };
	static char line[] = "* /etc/hosts /etc/hosts", file[] = "/etc/hosts";
	char *lines[] = { line }, *former = config.http.ca_file;
	size_t i;

	(void)state;
	config.http.certificates = (struct config_list){ lines, 1 };
	config.http.ca_file = file;
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		unknown = options[i];
		get("https://silent.test/", 0);
		assert_int_equal(end, HTTP_FAILED);
		assert_non_null(reason);
	}
	config.http.certificates = (struct config_list){ 0 };
	config.http.ca_file = former;
	assert_int_equal(asked_now(), 0);
}

static void
test_an_old_libcurl_is_refused(void **state)
{
	struct error err = { 0 };

	(void)state;
	is_old = true;
	assert_null(http_new(loop, &config, guard, &err));
	is_old = false;
	assert_string_equal(
	    err.message, "libcurl is 7.86.0, and must be 7.87.0 or later");
	error_release(&err);
}

/* A server ------------------------------------------------------------------ */

enum {
	HEAD_MAX = 4096,
	LONG_MS = 10000,
};

static int listener;
static char base[64];
static atomic_int connections, requests; /* that it has seen */
static atomic_bool closes;  /* a connection at its second request, unanswered */
static char head[HEAD_MAX]; /* of the last request */

static bool
read_head(int fd, char text[HEAD_MAX])
{
	size_t len = 0;
	ssize_t got;

	do {
		got = recv(fd, text + len, HEAD_MAX - 1 - len, 0);
		if (got <= 0)
			return false;
		len += (size_t)got;
		text[len] = '\0';
	} while (strstr(text, "\r\n\r\n") == NULL);
	return true;
}

static void
send_text(int fd, const char *text)
{
	(void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

/* GET /CODE?URL is answered with that redirect, everything else with 200. */
static void
answer_with(int fd, const char *text)
{
	char line[HEAD_MAX], target[HEAD_MAX];
	int code;

	if (sscanf(text, "%*s /%d?%s", &code, target) == 2)
		snprintf(line, sizeof(line),
		    "HTTP/1.1 %d X\r\nLocation: %.1000s\r\n"
		    "Content-Length: 4\r\n\r\nbody",
		    code, target);
	else
		snprintf(line, sizeof(line),
		    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
	send_text(fd, line);
}

static void *
serve_one(void *arg)
{
	int fd = (int)(intptr_t)arg, count;
	char text[HEAD_MAX];

	for (count = 0; read_head(fd, text); count++) {
		atomic_fetch_add(&requests, 1);
		if (count > 0 && closes)
			break;
		memcpy(head, text, sizeof(head));
		answer_with(fd, text);
	}
	close(fd);
	return NULL;
}

static void *
serve(void *arg)
{
	pthread_t thread;
	int fd;

	(void)arg;
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		atomic_fetch_add(&connections, 1);
		if (pthread_create(
		        &thread, NULL, serve_one, (void *)(intptr_t)fd) != 0)
			abort();
		pthread_detach(thread);
	}
	return NULL;
}

static pthread_t server;

static void
start_server(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(listener >= 0);
	assert_int_equal(
	    bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 16), 0);
	getsockname(listener, (struct sockaddr *)&address, &len);
	snprintf(
	    base, sizeof(base), "http://127.0.0.1:%d", ntohs(address.sin_port));
	connections = requests = 0;
	assert_int_equal(pthread_create(&server, NULL, serve, NULL), 0);
}

/* How many of `count` requests, one after the other, were answered. */
static int
send_many(int count, const char *method, const char *body, bool is_keyed)
{
	struct http_request request = {
		.method = method,
		.body = body,
		.body_len = body != NULL ? strlen(body) : 0,
		.timeout_ms = LONG_MS,
		.is_keyed = is_keyed,
	};
	int i, answered_now = 0;

	for (i = 0; i < count; i++) {
		exchange_with(base, request, 0);
		answered_now += end == HTTP_ANSWERED && status == 200;
	}
	return answered_now;
}

static void
test_a_key_lets_connections_be_used_again(void **state)
{
	static const char *const methods[] = { "POST", "PATCH" };
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		connections = 0;
		assert_int_equal(send_many(5, methods[i], "x", false), 5);
		assert_int_equal(connections, 5);
		connections = 0;
		assert_int_equal(send_many(5, methods[i], "x", true), 5);
		assert_in_range(connections, 0, 1);
	}
	assert_int_equal(requests, 20);
}

/* Each connection is closed at the wrong moment: when it is used again. */
static void
test_only_under_a_key_is_a_request_sent_again(void **state)
{
	(void)state;
	closes = true;
	assert_int_equal(send_many(4, "POST", "x", false), 4);
	assert_int_equal(requests, 4);
	requests = 0;
	assert_int_equal(send_many(4, "POST", "x", true), 4);
	assert_int_equal(requests, 7);
}

/* Should libcurl ever use an open connection, it still sends nothing twice. */
static void
test_nothing_else_is_sent_twice(void **state)
{
	static const char *const bodies[] = { "x", "", NULL };
	size_t i;

	(void)state;
	closes = reuses = true;
	for (i = 0; i < 3; i++) {
		connections = requests = 0;
		assert_int_equal(send_many(1, "POST", bodies[i], false), 1);
		assert_int_equal(send_many(1, "POST", bodies[i], false), 0);
		assert_int_equal(end, HTTP_FAILED);
		assert_non_null(strstr(reason, "it was not sent again"));
		assert_int_equal(requests, 2);
	}
}

/* The head of the last request, after a redirect to `where`. */
static void
redirect(const char *method, int code, const char *where)
{
	static char type[] = "Content-Type: text/x",
	            word[] = "Authorization: word", other[] = "X-Other: 1";
	char *headers[] = { type, word, other, NULL }, text[256];
	struct http_request request = {
		.method = method,
		.headers = headers,
		.body = "abc",
		.body_len = 3,
		.timeout_ms = LONG_MS,
		.follow = true,
	};

	snprintf(text, sizeof(text), "%s/%d?%s", base, code, where);
	exchange_with(text, request, 0);
	assert_int_equal(end, HTTP_ANSWERED);
}

static void
check_head(const char *begin, bool has_word, bool has_body)
{
	assert_memory_equal(head, begin, strlen(begin));
	assert_int_equal(strstr(head, "Authorization: word") != NULL, has_word);
	assert_int_equal(strstr(head, "Content-Type: ") != NULL, has_body);
	assert_int_equal(strstr(head, "Content-Length: 3") != NULL, has_body);
	assert_non_null(strstr(head, "X-Other: 1"));
}

static void
test_a_redirect_takes_away_what_was_for_one_server(void **state)
{
	char elsewhere[64];

	(void)state;
	snprintf(elsewhere, sizeof(elsewhere), "http://localhost%s/there",
	    strrchr(base, ':'));
	redirect("GET", 302, "/there");
	check_head("GET /there ", true, false);
	redirect("GET", 307, "/there");
	check_head("GET /there ", true, true);
	redirect("POST", 303, "/there");
	check_head("GET /there ", true, false);
	redirect("GET", 302, elsewhere);
	check_head("GET /there ", false, false);
	redirect("POST", 303, elsewhere);
	check_head("GET /there ", false, false);
	redirect("HEAD", 302, "/there");
	check_head("HEAD /there ", true, false);
	redirect("POST", 302, "/there");
	assert_int_equal(status, 302);
	check_head("POST /302?", true, true);
}

static void
test_redirects_have_an_end(void **state)
{
	struct http_request request = {
		.method = "GET", .timeout_ms = LONG_MS, .follow = true
	};
	char text[128];

	(void)state;
	snprintf(text, sizeof(text), "%s/302?/302?/302?/end", base);
	config.http.max_redirects = 3;
	exchange_with(text, request, 0);
	assert_int_equal(status, 200);
	config.http.max_redirects = 2;
	exchange_with(text, request, 0);
	assert_int_equal(end, HTTP_FAILED);
	assert_string_equal(reason, "more than 2 redirects");
	config.http.max_redirects = 0;
	exchange_with(text, request, 0);
	assert_int_equal(end, HTTP_ANSWERED);
	assert_int_equal(status, 302);
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
	closes = reuses = false;
	config_preset(&config);
	assert_true(
	    config_set(&config, "http.allow=127.0.0.0/8,::1,0.0.0.0/0", &err));
	guard = guard_new(&config.http.allow, &config.http.deny, &err);
	http = http_new(loop, &config, guard, &err);
	assert_non_null(http);
	start_server();
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
	shutdown(listener, SHUT_RDWR);
	pthread_join(server, NULL);
	close(listener);
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
	TEST(test_an_old_libcurl_is_refused),
	TEST(test_a_key_lets_connections_be_used_again),
	TEST(test_only_under_a_key_is_a_request_sent_again),
	TEST(test_nothing_else_is_sent_twice),
	TEST(test_a_redirect_takes_away_what_was_for_one_server),
	TEST(test_redirects_have_an_end),
};

UNIT_TESTS(tests)
