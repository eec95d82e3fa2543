/* What http needs no server for: URLs, the guard, arguments. */
#include "driver/transport/http/exchange.h"

#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "driver/transport/http/args.h"
#include "driver/transport/http/guard.h"
#include "driver/transport/http/request_headers.h"
#include "driver/transport/http/url.h"
#include "driver/transport/transport.h"
#include "tests/unit/unit.h"

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

/* NULL: it leads nowhere. */
static void
check_redirect(const char *base, const char *location, const char *expected)
{
	struct error err = { 0 };
	struct http_url *url = http_url_follow(base, location, &err);
	char *text;

	if (expected == NULL) {
		assert_null(url);
		assert_non_null(err.message);
		error_release(&err);
		return;
	}
	assert_non_null(url);
	text = http_url_text(url);
	assert_string_equal(text, expected);
	free(text);
	http_url_free(url);
}

static void
test_redirects(void **state)
{
	(void)state;
	check_redirect("http://host/a/b?q", "c", "http://host/a/c");
	check_redirect(
	    "http://host/a", "/b c\xc3\xbc", "http://host/b%20c%c3%bc");
	check_redirect("http://host/a", "/b%20c", "http://host/b%20c");
	check_redirect("https://host/a", "//other/x", "https://other/x");
	check_redirect("http://host/a", "file:///etc/x", "file:///etc/x");
	check_redirect("http://host/a", "http://u:p@host/", NULL);
	check_redirect("http://host/a", "//@host/", NULL);
	check_redirect("http://host/a", "http://host:x/", NULL);
}

static void
test_proxies(void **state)
{
	static const char *const wrong[] = { "proxy", "proxy:3128",
		"http://proxy", "socks5://proxy:1080", "http://u:p@proxy:3128",
		"http://proxy:3128/path", "http://proxy:3128/?x", "http://" };
	struct error err = { 0 };
	size_t i;

	(void)state;
	assert_true(http_url_is_proxy("http://proxy:3128", &err));
	assert_true(http_url_is_proxy("https://[::1]:3128/", &err));
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (http_url_is_proxy(wrong[i], &err))
			fail_msg("%s was taken", wrong[i]);
		assert_non_null(strstr(err.message, wrong[i]));
		error_release(&err);
	}
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
check_form(const char *form, const char *type, const char *body)
{
	char text[512];
	struct http_args *last = NULL, *args;
	struct http_request request = { 0 };

	snprintf(text, sizeof(text),
	    "{\"url\": \"http://h/\", \"method\": \"POST\", \"form\": %s}",
	    form);
	args = read_args(text, NULL, &last);
	http_args_fill(args, &request);
	assert_string_equal(request.headers[0], type);
	assert_int_equal(request.body_len, strlen(body));
	assert_memory_equal(request.body, body, request.body_len);
	http_args_free(args);
	http_args_free(last);
}

static void
test_forms(void **state)
{
	static const char type[] =
	    "Content-Type: application/x-www-form-urlencoded";

	(void)state;
	check_form(
	    "{\"q\": \"a b&c=\u00fc\", \"n\": 1.10, \"l\": [1, true, \"x\"],"
	    " \"no\": null, \"e\": \"\"}",
	    type, "q=a%20b%26c%3D%C3%BC&n=1.10&l=1&l=true&l=x&e=");
	check_form("{}", type, "");
}

static void
test_forms_with_files(void **state)
{
	(void)state;
	check_form(
	    "{\"a\\\"\\r\\nb\": 1, \"f\": {\"filename\": \"x.csv\","
	    " \"content\": \"1;2 --pgwf-form-0\", \"type\": \"text/csv\"}}",
	    "Content-Type: multipart/form-data; boundary=pgwf-form-1",
	    "--pgwf-form-1\r\n"
	    "Content-Disposition: form-data; name=\"a%22%0D%0Ab\"\r\n\r\n"
	    "1\r\n"
	    "--pgwf-form-1\r\n"
	    "Content-Disposition: form-data; name=\"f\"; filename=\"x.csv\"\r\n"
	    "Content-Type: text/csv\r\n\r\n"
	    "1;2 --pgwf-form-0\r\n"
	    "--pgwf-form-1--\r\n");
}

static void
check_wrong_form(const char *rest, const char *why)
{
	char text[256];

	snprintf(text, sizeof(text), "{\"url\": \"http://h/\", %s}", rest);
	check_wrong(text, why);
}

static void
test_forms_that_are_wrong(void **state)
{
	(void)state;
	check_wrong_form("\"form\": [1]", "form must be an object");
	check_wrong_form("\"form\": {}, \"body\": 1",
	    "body and form must not both be given");
	check_wrong_form("\"form\": {\"a\": [[1]]}",
	    "form: a must be a scalar, a file or a list of those");
	check_wrong_form("\"form\": {\"a\": {\"content\": \"x\"}}",
	    "form: a must be a file {filename, content, type}");
	check_wrong_form("\"form\": {\"a\": {\"filename\": \"x\", \"content\":"
	                 " \"x\", \"type\": \"a\\r\\nX: y\"}}",
	    "form: a must be a file {filename, content, type}");
	check_wrong_form("\"form\": {}, \"headers\": {\"content-type\": \"x\"}",
	    "headers must not have Content-Type beside form");
	check_wrong_form("\"keyed\": 1", "keyed must be true or false");
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
	check_header("Host ", "headers: Host  is not a header of one line");
	check_header(
	    ":authority", "headers: :authority is not a header of one line");
	check_wrong(
	    "{\"url\": \"http://h/\", \"headers\": {\"X\": \"a\\u000bb\"}}",
	    "headers: X is not a header of one line");
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
	cmocka_unit_test(test_urls),
	cmocka_unit_test(test_query),
	cmocka_unit_test(test_guard),
	cmocka_unit_test(test_no_user),
	cmocka_unit_test(test_reserved),
	cmocka_unit_test(test_names_that_are_free),
	cmocka_unit_test(test_redirects),
	cmocka_unit_test(test_proxies),
	cmocka_unit_test(test_args),
	cmocka_unit_test(test_forms),
	cmocka_unit_test(test_forms_with_files),
	cmocka_unit_test(test_forms_that_are_wrong),
	cmocka_unit_test(test_same_args_are_shared),
	cmocka_unit_test(test_secret_args_are_not),
	cmocka_unit_test(test_names),
};

UNIT_TESTS(tests)
