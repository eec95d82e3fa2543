#include "common/log.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/error.h"
#include "common/json.h"
#include "common/utf8.h"
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
	log_init(LOG_LEVEL_INFO, LOG_TEXT);
	text = written(say_each);
	assert_string_equal(text,
	    "test_log: warning: cannot open x: No such file or directory\n"
	    "test_log: warning: odd\n"
	    "test_log: two lines  [31m\n");
	free(text);
}

static void
test_timed_text(void **state)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd.dddZ test_log: ";
	char *text, *line;
	size_t i;
	int lines = 0;

	(void)state;
	log_init(LOG_LEVEL_INFO, LOG_TIMED);
	text = written(say_each);
	for (line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
		for (i = 0; form[i] != '\0'; i++)
			if (form[i] == 'd')
				assert_true(isdigit((unsigned char)line[i]));
			else
				assert_int_equal(line[i], form[i]);
		lines++;
	}
	assert_int_equal(lines, 3);
	free(text);
}

static void
test_levels(void **state)
{
	enum log_level level;
	char *text;

	(void)state;
	assert_true(log_level_find("error", &level));
	log_init(level, LOG_TEXT);
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
	log_init(LOG_LEVEL_WARN, LOG_JSON);
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

/* Every byte, and sequences that are no UTF-8 or steer a terminal. */
static const char wild[] =
    "\x01\x02\n\r\t\x1b[31m\x7f\" \\ \xff\xc0\x80 \xed\xa0\x80 \xc3\xa9 "
    "\xc2\x9b \xf4\x90\x80\x80 \xe2\x82";

static const struct log_about about = {
	.workspace = "a\"b\n",
	.instance_id = 7,
	.process_id = 42,
	.attempt = 3,
	.task = "t.Task\xff",
};

static void
say_wild(void)
{
	log_about(LOG_LEVEL_WARN, &about, "%s", wild);
}

static void
test_json_of_any_bytes(void **state)
{
	struct json *line = NULL;
	struct error err = { 0 };
	char *text;

	(void)state;
	log_init(LOG_LEVEL_WARN, LOG_JSON);
	text = written(say_wild);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	assert_true(json_parse(text, strlen(text), &line, &err));
	assert_string_equal(json_string(json_get(line, "workspace")), "a\"b\n");
	assert_int_equal(json_int(json_get(line, "instance")), 7);
	assert_int_equal(json_int(json_get(line, "process")), 42);
	assert_int_equal(json_int(json_get(line, "attempt")), 3);
	assert_string_equal(
	    json_string(json_get(line, "task")), "t.Task\xef\xbf\xbd");
	assert_non_null(strstr(json_string(json_get(line, "message")),
	    "\x01\x02\n\r\t\x1b[31m\x7f\" \\ \xef\xbf\xbd"));
	json_free(line);
	free(text);
}

static void
test_text_of_any_bytes(void **state)
{
	char *text, *c;

	(void)state;
	log_init(LOG_LEVEL_WARN, LOG_TEXT);
	text = written(say_wild);
	assert_int_equal(strncmp(text, "test_log: warning: a\"b : task 7/42/3:",
	                     strlen("test_log: warning: a\"b : task 7/42/3:")),
	    0);
	assert_null(strstr(text, "\xc2\x9b"));
	for (c = text; c[1] != '\0'; c++)
		assert_true((unsigned char)*c >= 0x20 || *c == '\t');
	assert_true(utf8_valid(text, strlen(text)));
	free(text);
}

static void
say_error(void)
{
	struct error err = { 0 };

	error_set(&err, "no \"x\"\n");
	error_detail(&err, "a\nb");
	error_hint(&err, "Do it.\xff");
	log_error(&err);
	error_release(&err);
}

static void
test_why_a_program_ends(void **state)
{
	struct json *line = NULL;
	struct error err = { 0 };
	char *text;

	(void)state;
	log_init(LOG_LEVEL_ERROR, LOG_TEXT);
	text = written(say_error);
	assert_string_equal(text, "test_log: no \"x\" \n"
	                          "test_log: detail: a b\n"
	                          "test_log: hint: Do it.\xef\xbf\xbd\n");
	free(text);
	log_init(LOG_LEVEL_ERROR, LOG_JSON);
	text = written(say_error);
	assert_true(json_parse(text, strlen(text), &line, &err));
	assert_string_equal(json_string(json_get(line, "level")), "error");
	assert_string_equal(json_string(json_get(line, "detail")), "a\nb");
	assert_string_equal(
	    json_string(json_get(line, "hint")), "Do it.\xef\xbf\xbd");
	json_free(line);
	free(text);
}

static void
say_into_a_full_disk(void)
{
	int saved = dup(STDERR_FILENO), full = open("/dev/full", O_WRONLY);

	assert_true(full >= 0 && dup2(full, STDERR_FILENO) >= 0);
	log_warnx("a");
	log_warnx("b");
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	close(saved);
	close(full);
	log_warnx("c");
	log_warnx("d");
}

static void
test_lines_that_are_missing(void **state)
{
	char *text;

	(void)state;
	log_init(LOG_LEVEL_INFO, LOG_TEXT);
	text = written(say_into_a_full_disk);
	assert_string_equal(text,
	    "test_log: warning: 2 lines before this could not be written\n"
	    "test_log: warning: c\n"
	    "test_log: warning: d\n");
	free(text);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_json_of_any_bytes),
	cmocka_unit_test(test_text_of_any_bytes),
	cmocka_unit_test(test_why_a_program_ends),
	cmocka_unit_test(test_text),
	cmocka_unit_test(test_timed_text),
	cmocka_unit_test(test_levels),
	cmocka_unit_test(test_lines_that_are_missing),
	cmocka_unit_test(test_json),
};

UNIT_TESTS(tests)
