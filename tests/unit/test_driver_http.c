/* What http needs of no server: headers, URLs, the guard, arguments. */
#include "driver/http.h"

#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "driver/guard.h"
#include "driver/http_args.h"
#include "driver/http_names.h"
#include "driver/http_url.h"
#include "driver/transport.h"
#include "tests/unit/unit.h"

static bool
add(struct http_headers *headers, const char *line)
{
	return http_headers_add(headers, line, strlen(line), 100);
}

static void
test_headers(void **state)
{
	struct http_headers headers = { 0 };

	(void)state;
	assert_true(add(&headers, "HTTP/1.1 302 Found\r\n"));
	assert_true(add(&headers, "X-Old: 1\r\n"));
	assert_true(add(&headers, "HTTP/1.1 200 OK\r\n"));
	assert_true(add(&headers, "X-A:  one \r\n"));
	assert_true(add(&headers, "x-a: two\r\n"));
	assert_true(add(&headers, "Empty:\r\n"));
	assert_true(add(&headers, "no header\r\n"));
	assert_int_equal(headers.count, 2);
	assert_string_equal(
	    http_headers_find(&headers, "x-a")->value, "one, two");
	assert_string_equal(http_headers_find(&headers, "empty")->value, "");
	assert_null(http_headers_find(&headers, "x-old"));
	http_headers_release(&headers);
}

static void
test_headers_have_a_limit(void **state)
{
	struct http_headers headers = { 0 };

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_true(add(&headers, "A: 45678\r\n"));
	assert_false(add(&headers, "A\r\n"));
	http_headers_release(&headers);
}

static void
check_url(const char *base, const char *text, const char *expected)
{
	char *url = http_url_seen(base, text);

	assert_string_equal(url, expected);
	free(url);
}

static void
test_urls(void **state)
{
	(void)state;
	check_url(NULL, "http://u:p@host:81/a?b#c", "http://host:81/a?b#c");
	check_url("http://u:p@host/a/b?q", "c", "http://host/a/c");
	check_url("http://host/a/b", "/c?d", "http://host/c?d");
	check_url("https://host/a", "//other/x", "https://other/x");
	check_url("http://host/a", "https://other/x", "https://other/x");
	check_url(NULL, "http://", "");
}

static void
test_query(void **state)
{
	struct error err = { 0 };
	struct http_url *url = http_url_new("http://host/a@b?x=1#end", &err);
	char *text;

	(void)state;
	assert_non_null(url);
	assert_true(http_url_add(url, "q", "a b&c=\xc3\xbc", &err));
	text = http_url_text(url);
	assert_string_equal(text, "http://host/a@b?x=1&q=a+b%26c%3d%c3%bc#end");
	free(text);
	text = http_url_host(url);
	assert_string_equal(text, "host");
	free(text);
	http_url_free(url);
	assert_null(http_url_new("http://host:x/", &err));
	assert_string_equal(err.message,
	    "url: Port number was not a decimal number between 0 and 65535");
	error_release(&err);
}

static void
test_no_user(void **state)
{
	static const char *const urls[] = { "http://u:p@host/",
		"http://u@host/", "http://:p@host/", "http://@host/",
		"http://:@host/", "http:///u@host/", "https://u%40x:p@host/",
		"http://a@b@host/" };
	struct error err = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		if (http_url_new(urls[i], &err) != NULL)
			fail_msg("%s was taken", urls[i]);
		assert_string_equal(err.message,
		    "url must not have a user or password before its host");
		assert_non_null(err.hint);
		error_release(&err);
	}
}

static void
check_guard(const char *url, bool expected)
{
	struct error err = { 0 };

	assert_int_equal(guard_url(url, &err), expected);
	assert_int_equal(err.message == NULL, expected);
	error_release(&err);
}

static void
test_guard(void **state)
{
	(void)state;
	check_guard("http://host/", true);
	check_guard("HTTPS://host/", true);
	check_guard("file:///etc/passwd", false);
	check_guard("gopher://host/", false);
	check_guard("host/path", false);
	check_guard("", false);
	check_guard("http://host/a b", false);
	check_guard("http://host/\r\nX: y", false);
	check_guard(" http://host/", false);
}

#define TRACE "5f1d1a3e-0b3c-4c55-9a43-6f6e9d0a7b21"

static struct task
task_of(const char *args, const char *secrets)
{
	return (struct task){
		.process_id = 7,
		.trace_id = TRACE,
		.request = "start",
		.args = args,
		.args_len = strlen(args),
		.secrets = secrets,
	};
}

static struct http_args *
read_args(const char *text, const char *secrets, struct http_args **last)
{
	struct task task = task_of(text, secrets);
	struct error err = { 0 };
	struct http_args *args = http_args_new(&task, last, &err);

	assert_non_null(args);
	return args;
}

static const char same[] =
    "{\"url\": \"http://h/\", \"headers\": {\"traceparent\": \"t\"},"
    " \"body\": \"b\", \"accept\": [200, 404]}";

static void
test_args(void **state)
{
	struct http_args *last = NULL, *args = read_args(same, NULL, &last);
	struct http_request request = { 0 };

	(void)state;
	http_args_free(last);
	http_args_fill(args, &request);
	assert_string_equal(request.method, "GET");
	assert_string_equal(request.headers[0], "traceparent: t");
	assert_memory_equal(request.body, "b", request.body_len);
	assert_true(request.follow);
	assert_true(http_args_accept(args, 404));
	assert_false(http_args_accept(args, 201));
	assert_string_equal(http_args_name(args), "GET http://h/");
	http_args_free(args);
}

static void
check_wrong(const char *text, const char *why)
{
	struct task task = task_of(text, NULL);
	struct http_args *last = NULL;
	struct error err = { 0 };

	assert_null(http_args_new(&task, &last, &err));
	assert_string_equal(err.message, why);
	error_release(&err);
}

static void
check_header(const char *name, const char *why)
{
	char text[128];

	snprintf(text, sizeof(text),
	    "{\"url\": \"http://h/\", \"headers\": {\"%s\": 1}}", name);
	check_wrong(text, why);
}

static void
test_reserved(void **state)
{
	(void)state;
	check_header("Host", "headers must not have Host");
	check_header("hOST", "headers must not have hOST");
	check_header("Connection", "headers must not have Connection");
	check_header("Content-Length", "headers must not have Content-Length");
	check_header("content_length", "headers must not have content_length");
	check_header(
	    "Transfer-Encoding", "headers must not have Transfer-Encoding");
	check_header(
	    "Proxy-Authorization", "headers must not have Proxy-Authorization");
	check_header("TE", "headers must not have TE");
	check_header("Host ", "headers: Host  is no header of one line");
	check_header(
	    ":authority", "headers: :authority is no header of one line");
	check_wrong(
	    "{\"url\": \"http://h/\", \"headers\": {\"X\": \"a\\u000bb\"}}",
	    "headers: X is no header of one line");
	check_wrong("{\"url\": \"http://h/\", \"method\": \"CONNECT\"}",
	    "method must not be CONNECT");
	check_wrong("{\"url\": \"http://h/\", \"method\": \"trace\"}",
	    "method must not be trace");
}

/* What only begins like a reserved one is free. */
static void
test_names_that_are_free(void **state)
{
	struct http_args *last = NULL,
	                 *args =
	                     read_args("{\"url\": \"http://h/\","
	                               " \"method\": \"PROPFIND\", \"headers\":"
	                               " {\"Host-Id\": 1, \"Tea\": 2,"
	                               " \"Proxy\": 3, \"X-Host\": \"\"}}",
	                         NULL, &last);

	(void)state;
	assert_true(http_args_have_header(args, "Tea"));
	http_args_free(args);
	http_args_free(last);
}

static void
test_same_args_are_shared(void **state)
{
	struct http_args *last = NULL, *one = read_args(same, NULL, &last),
	                 *two = read_args(same, NULL, &last), *other;

	(void)state;
	assert_ptr_equal(two, one);
	http_args_free(one);
	other = read_args("{\"url\": \"http://h/\"}", NULL, &last);
	assert_ptr_not_equal(other, two);
	assert_ptr_equal(other, last);
	assert_string_equal(http_args_name(two), "GET http://h/");
	http_args_free(two);
	http_args_free(other);
	http_args_free(last);
}

static void
test_secret_args_are_not(void **state)
{
	struct http_args *last = NULL, *one = read_args(same, "[]", &last),
	                 *two = read_args(same, "[]", &last), *known;
	struct http_request request = { 0 };

	(void)state;
	assert_ptr_not_equal(two, one);
	assert_null(last);
	http_args_fill(one, &request);
	assert_false(request.follow);
	http_args_free(one);
	known = read_args(same, NULL, &last);
	assert_ptr_not_equal(known, two);
	one = read_args(same, "[]", &last);
	assert_ptr_not_equal(one, known);
	http_args_free(one);
	http_args_free(two);
	http_args_free(known);
	http_args_free(last);
}

static void
test_names(void **state)
{
	struct task task = task_of(same, NULL);
	struct http_args *last = NULL, *args = read_args(same, NULL, &last);
	struct http_names names;

	(void)state;
	task.request = "poll";
	http_names_init(&names, &task, args);
	assert_string_equal(
	    names.lines[0], "Idempotency-Key: " TRACE "-7-poll");
	assert_null(names.lines[1]);
	http_names_release(&names);
	http_args_free(args);
	http_args_free(last);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_headers),
	cmocka_unit_test(test_headers_have_a_limit),
	cmocka_unit_test(test_urls),
	cmocka_unit_test(test_query),
	cmocka_unit_test(test_guard),
	cmocka_unit_test(test_no_user),
	cmocka_unit_test(test_reserved),
	cmocka_unit_test(test_names_that_are_free),
	cmocka_unit_test(test_args),
	cmocka_unit_test(test_same_args_are_shared),
	cmocka_unit_test(test_secret_args_are_not),
	cmocka_unit_test(test_names),
};

UNIT_TESTS(tests)
