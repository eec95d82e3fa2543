/* Lines of secrets.grants: what each one lets through. */
#include "driver/secret/grant.h"

#include "common/error.h"
#include "driver/config/config.h"
#include "tests/unit/unit.h"

/* The error of a configuration with this line; "" if it is taken. */
static void
check_line(const char *line, const char *message)
{
	char *items[] = { (char *)line };
	struct config_list list = { items, 1 };
	struct error err = { 0 };

	assert_int_equal(secret_grants_check(&list, &err), *message == '\0');
	if (*message != '\0') {
		assert_non_null(strstr(err.message, message));
		assert_non_null(err.hint);
	}
	error_release(&err);
}

static void
test_a_line_is_four_words(void **state)
{
	(void)state;
	check_line("token pay pay.Get https://hr.example.com", "");
	check_line("  *\t*  * *  ", "");
	check_line("a b c exec://backup", "");
	check_line("a b c ssh://bastion:2222", "");
	check_line("a b c https://[2001:db8::1]:8443", "");
	check_line("a b c https://*.example.com:8443", "");
	check_line("", "\"\" has 0 words, not 4");
	check_line("token pay pay.Get", "has 3 words, not 4");
	check_line("a b c * *", "has 5 words, not 4");
}

static void
test_the_fourth_word_is_a_destination(void **state)
{
	static const char *const wrong[] = {
		"hr.example.com",
		"ftp://hr.example.com",
		"https:",
		"https://",
		"https://*.",
		"https://*",
		"https://hr.example.com/",
		"https://hr.example.com/path",
		"https://user@hr.example.com",
		"https://hr.*.com",
		"sql://",
		"exec://",
		"HTTPS://hr.example.com",
		"**",
	};
	char line[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(line, sizeof(line), "a b c %s", wrong[i]);
		check_line(line, "ends with no destination");
	}
}

static bool
is_allowed(const char *line, const char *secret, const char *workflow,
    const char *type, const char *destination)
{
	char *items[] = { "other other other *", (char *)line };
	struct config_list list = { items, 2 };
	struct secret_use use = { secret, workflow, type, destination };
	struct error err = { 0 };
	bool ok = secret_grants_allow(&list, &use, &err);

	assert_int_equal(ok, err.message == NULL);
	error_release(&err);
	return ok;
}

static void
test_each_word_must_fit(void **state)
{
	static const char line[] = "token pay pay.Get https://hr.example.com";
	static const char there[] = "https://hr.example.com";

	(void)state;
	assert_true(is_allowed(line, "token", "pay", "pay.Get", there));
	assert_true(is_allowed(line, "token", "pay", "pay.Get", NULL));
	assert_false(is_allowed(line, "token2", "pay", "pay.Get", there));
	assert_false(is_allowed(line, "toke", "pay", "pay.Get", there));
	assert_false(is_allowed(line, "Token", "pay", "pay.Get", there));
	assert_false(is_allowed(line, "token", "pay2", "pay.Get", there));
	assert_false(is_allowed(line, "token", "pay", "pay.get", NULL));
	assert_false(is_allowed(line, "token", "", "pay.Get", NULL));
	assert_true(is_allowed("* * * *", "any", "thing", "at.All", there));
	assert_true(is_allowed("* * * *", "any", "thing", "", NULL));
	assert_false(is_allowed("tok* * * *", "token", "pay", "p.G", there));
}

static bool
goes(const char *pattern, const char *destination)
{
	char line[128];

	snprintf(line, sizeof(line), "s w t %s", pattern);
	check_line(line, "");
	return is_allowed(line, "s", "w", "t", destination);
}

static void
test_destinations(void **state)
{
	(void)state;
	assert_true(goes("https://hr.example.com", "https://HR.example.com"));
	assert_true(
	    goes("https://hr.example.com:443", "https://hr.example.com"));
	assert_false(goes("https://hr.example.com", "http://hr.example.com"));
	assert_false(
	    goes("https://hr.example.com", "https://hr.example.com:444"));
	assert_false(
	    goes("https://hr.example.com", "https://hr.example.com.evil.org"));
	assert_false(goes("https://hr.example.com", "https://hr.example.co"));
	assert_true(goes("http://a:80", "http://a"));
	assert_false(goes("http://a:443", "http://a"));
	assert_true(goes("http://a:443", "http://a:443"));
	assert_true(goes("http://[::1]:80", "http://[::1]"));

	assert_true(goes("https://*.example.com", "https://a.b.Example.com"));
	assert_true(goes("https://*.example.com:443", "https://a.example.com"));
	assert_false(goes("https://*.example.com", "https://example.com"));
	assert_false(goes("https://*.example.com", "https://.example.com"));
	assert_false(goes("https://*.example.com", "https://evilexample.com"));
	assert_false(goes("https://*.example.com", "http://a.example.com"));
	assert_false(goes("https://*.example.com", "https://a.example.com:1"));
	assert_false(goes("https://*.example.com", "ssh://a.example.com"));

	assert_true(goes("ssh://bastion", "ssh://bastion"));
	assert_false(goes("ssh://bastion", "ssh://bastion:2222"));
	assert_true(goes("exec://backup", "exec://backup"));
	assert_false(goes("exec://backup", "exec://Backup"));
	assert_false(goes("exec://backup", "exec://backup2"));
	assert_true(goes("*", "sql://"));
}

static void
test_what_is_refused_says_the_line_that_lacks(void **state)
{
	struct config_list none = { 0 };
	struct secret_use use = { "token", "pay", "pay.Get", NULL };
	struct error err = { 0 };

	(void)state;
	assert_false(secret_grants_allow(&none, &use, &err));
	assert_string_equal(err.message,
	    "workflow pay may not use secret token in a task of type pay.Get");
	assert_non_null(strstr(err.hint, "\"token pay pay.Get DESTINATION\""));
	error_release(&err);
	use.destination = "https://evil.org";
	assert_false(secret_grants_allow(&none, &use, &err));
	assert_string_equal(err.message,
	    "secret token may not go to https://evil.org from a task of type "
	    "pay.Get in workflow pay");
	assert_non_null(
	    strstr(err.hint, "\"token pay pay.Get https://evil.org\""));
	error_release(&err);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_line_is_four_words),
		cmocka_unit_test(test_the_fourth_word_is_a_destination),
		cmocka_unit_test(test_each_word_must_fit),
		cmocka_unit_test(test_destinations),
		cmocka_unit_test(test_what_is_refused_says_the_line_that_lacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
