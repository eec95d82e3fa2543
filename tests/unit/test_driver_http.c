/* What http needs of no server: headers, URLs, the guard. */
#include "driver/http.h"

#include "common/error.h"
#include "driver/guard.h"
#include "driver/http_url.h"
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
	struct http_url *url = http_url_new("http://u:p@host/a?x=1#end", &err);
	char *text;

	(void)state;
	assert_non_null(url);
	assert_true(http_url_add(url, "q", "a b&c=\xc3\xbc", &err));
	text = http_url_text(url);
	assert_string_equal(text, "http://host/a?x=1&q=a+b%26c%3d%c3%bc#end");
	free(text);
	text = http_url_host(url);
	assert_string_equal(text, "host");
	free(text);
	assert_true(http_url_has_user(url));
	http_url_free(url);
	url = http_url_new("http://:p@host/", &err);
	assert_true(http_url_has_user(url));
	http_url_free(url);
	url = http_url_new("http://host/a@b", &err);
	assert_false(http_url_has_user(url));
	http_url_free(url);
	assert_null(http_url_new("http://host:x/", &err));
	assert_string_equal(err.message,
	    "url: Port number was not a decimal number between 0 and 65535");
	error_release(&err);
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

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_headers),
	cmocka_unit_test(test_headers_have_a_limit),
	cmocka_unit_test(test_urls),
	cmocka_unit_test(test_query),
	cmocka_unit_test(test_guard),
};

UNIT_TESTS(tests)
