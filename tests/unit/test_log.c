#include "common/log.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "common/error.h"
#include "common/json.h"
#include "tests/unit/unit.h"

/* What log_something() writes to standard error, for the caller to free. */
static char *
written(void (*log_something)(void))
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);
	char text[1000];
	size_t len;

	assert_non_null(file);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
	log_something();
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	close(saved);
	rewind(file);
	len = fread(text, 1, sizeof(text) - 1, file);
	text[len] = '\0';
	fclose(file);
	return strdup(text);
}

static void
say_each(void)
{
	errno = ENOENT;
	log_warn("cannot open %s", "x");
	log_warnx("odd");
	log_info("two\nlines \x1b[31m");
	log_debug("quiet");
}

static void
test_text(void **state)
{
	char *text;

	(void)state;
	log_init(LOG_LEVEL_INFO, false);
	text = written(say_each);
	assert_string_equal(text,
	    "test_log: warning: cannot open x: No such file or directory\n"
	    "test_log: warning: odd\n"
	    "test_log: two lines  [31m\n");
	free(text);
}

static void
test_levels(void **state)
{
	enum log_level level;
	char *text;

	(void)state;
	assert_true(log_level_find("error", &level));
	log_init(level, false);
	text = written(say_each);
	assert_string_equal(text, "");
	free(text);
	assert_true(log_level_find("debug", &level));
	assert_int_equal(level, LOG_LEVEL_DEBUG);
	assert_false(log_level_find("loud", &level));
}

static void
say_quote(void)
{
	log_warnx("a \"quote\"\n");
}

static void
test_json(void **state)
{
	struct json *line = NULL;
	struct error err = { 0 };
	char *text;

	(void)state;
	log_init(LOG_LEVEL_WARN, true);
	text = written(say_quote);
	assert_true(json_parse(text, strlen(text), &line, &err));
	assert_string_equal(json_string(json_get(line, "level")), "warn");
	assert_string_equal(
	    json_string(json_get(line, "message")), "a \"quote\"\n");
	assert_int_equal(json_string_length(json_get(line, "at")),
	    strlen("2000-01-01T00:00:00.000Z"));
	json_free(line);
	free(text);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_text),
	cmocka_unit_test(test_levels),
	cmocka_unit_test(test_json),
};

UNIT_TESTS(tests)
