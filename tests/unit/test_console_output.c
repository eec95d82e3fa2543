#include "console/output.h"

#include <stdio.h>

#include "common/json.h"
#include "console/terminal.h"

#include "tests/unit/unit.h"

static const struct column columns[] = {
	{ "instance_id", VALUE_NUMBER },
	{ "workflow", VALUE_TEXT },
	{ "state", VALUE_TEXT },
	{ "ok", VALUE_BOOL },
	{ "started_at", VALUE_TIME },
	{ "params", VALUE_JSON },
};

#define FIFTY "01234567890123456789012345678901234567890123456789"

static const char *const rows[][6] = {
	{ "7", "nightly", "END", "t", "2026-11-21 00:39:00.5+00",
	    "{\"a\": [1, {}], \"b\": \"x,{\"}" },
	{ "1234", NULL, "FAILED", "f", "2026-11-21 00:39:00+05:30", "[]" },
	{ "8", NULL, NULL, NULL, NULL,
	    "{\"a\": [1, {}], \"b\": \"x,{\", \"c\": \"" FIFTY "\"}" },
};

/* What the format prints, for free(). */
static char *
print(const char *format, size_t width, const char *shown, size_t count)
{
	struct terminal terminal;
	struct output output = { .terminal = &terminal, .shown = shown };
	size_t size, i;
	char *text;

	setenv("LC_ALL", "C", 1);
	terminal_init(&terminal, true);
	terminal.width = width;
	output.format = strcmp(format, "record") == 0
	                    ? &output_record
	                    : output_format_find(format);
	output.file = open_memstream(&text, &size);
	output_begin(&output, columns, 6);
	for (i = 0; i < count; i++)
		output_row(&output, rows[i]);
	output_end(&output);
	fclose(output.file);
	return text;
}

static void
check(const char *format, size_t width, const char *shown, size_t count,
    const char *expected)
{
	char *text = print(format, width, shown, count);

	assert_string_equal(text, expected);
	free(text);
}

static void
test_table(void **state)
{
	(void)state;
	check("table", 0, "instance_id workflow state ok started_at", 2,
	    "INSTANCE  WORKFLOW  STATE   OK   STARTED\n"
	    "       7  nightly   END     yes  2026-11-21 00:39:00.500\n"
	    "    1234            FAILED  no   2026-11-21 00:39:00.000\n");
	check("table", 0, NULL, 0, "");
}

static const struct column reason_columns[] = {
	{ "process_id", VALUE_NUMBER },
	{ "label", VALUE_TEXT },
	{ "reason", VALUE_TEXT },
	{ "detail", VALUE_TEXT },
	{ "since", VALUE_TIME },
};

static const char *const reason_rows[][5] = {
	{ "4", "fetch p1 [0]", "failed",
	    "http: GET http://127.0.0.1:8000/p1: answered 503; waits for "
	    "retry, "
	    "ignore, resolve or raise",
	    "2026-11-21 00:39:00+00" },
	{ NULL, "nightly", "suspended", "by ann", "2026-11-21 00:39:00+00" },
};

/* With a label and a detail that are never cut. */
static void
check_reasons(size_t width, size_t count, const char *expected)
{
	struct terminal terminal;
	struct output output = { .format = &output_table,
		.terminal = &terminal,
		.whole = "label detail" };
	size_t size, i;
	char *text;

	setenv("LC_ALL", "C", 1);
	terminal_init(&terminal, true);
	terminal.width = width;
	output.file = open_memstream(&text, &size);
	output_begin(&output, reason_columns, 5);
	for (i = 0; i < count; i++)
		output_row(&output, reason_rows[i]);
	output_end(&output);
	fclose(output.file);
	assert_string_equal(text, expected);
	free(text);
}

static void
test_what_stays_whole(void **state)
{
	static const char at_80[] =
	    "PROCESS  REASON     SINCE\n"
	    "      4  failed     2026-11-21 00:39:00.000\n"
	    "         fetch p1 [0]: http: GET http://127.0.0.1:8000/p1: "
	    "answered "
	    "503; waits\n"
	    "         for retry, ignore, resolve or raise\n"
	    "         suspended  2026-11-21 00:39:00.000\n"
	    "         nightly: by ann\n";
	static const char at_40[] = "PROCESS  4\n"
	                            "LABEL    fetch p1 [0]\n"
	                            "REASON   failed\n"
	                            "DETAIL   http: GET\n"
	                            "         http://127.0.0.1:8000/p1:\n"
	                            "         answered 503; waits for retry,\n"
	                            "         ignore, resolve or raise\n"
	                            "SINCE    2026-11-21 00:39:00.000\n"
	                            "\n"
	                            "LABEL    nightly\n"
	                            "REASON   suspended\n"
	                            "DETAIL   by ann\n"
	                            "SINCE    2026-11-21 00:39:00.000\n";

	(void)state;
	check_reasons(80, 2, at_80);
	check_reasons(40, 2, at_40);
	check_reasons(200, 1,
	    "PROCESS  LABEL         REASON  DETAIL"
	    "                                                            "
	    "                           SINCE\n"
	    "      4  fetch p1 [0]  failed  http: GET "
	    "http://127.0.0.1:8000/p1: answered 503; waits for retry, ignore, "
	    "resolve or raise  2026-11-21 00:39:00.000\n");
}

static void
test_table_shrinks_but_numbers_do_not(void **state)
{
	(void)state;
	check("table", 24, "instance_id params", 2,
	    "INSTANCE  PARAMS\n"
	    "       7  {\"a\": [1, {}]~\n"
	    "    1234  []\n");
	check("table", 18, "instance_id params", 2,
	    "INSTANCE  PARAMS\n"
	    "       7  {\"a\": [~\n"
	    "    1234  []\n");
}

static void
test_columns_of_a_table_that_is_too_narrow_are_stacked(void **state)
{
	(void)state;
	check("table", 17, "instance_id params", 2,
	    "INSTANCE  7\n"
	    "PARAMS    {\"a\":\n"
	    "          [1, {}],\n"
	    "          \"b\":\n"
	    "          \"x,{\"}\n"
	    "\n"
	    "INSTANCE  1234\n"
	    "PARAMS    []\n");
}

static void
test_json(void **state)
{
	(void)state;
	check("json", 10, "state", 0, "[]\n");
	check("json", 10, "state", 2,
	    "[\n"
	    "{\"instance_id\":7,\"workflow\":\"nightly\",\"state\":\"END\","
	    "\"ok\":true,\"started_at\":\"2026-11-21T00:39:00.5+00:00\","
	    "\"params\":{\"a\": [1, {}], \"b\": \"x,{\"}},\n"
	    "{\"instance_id\":1234,\"workflow\":null,\"state\":\"FAILED\","
	    "\"ok\":false,\"started_at\":\"2026-11-21T00:39:00+05:30\","
	    "\"params\":[]}\n"
	    "]\n");
}

static void
test_csv(void **state)
{
	(void)state;
	check("csv", 10, "state", 0,
	    "instance_id,workflow,state,ok,started_at,params\r\n");
	check("csv", 10, "state", 2,
	    "instance_id,workflow,state,ok,started_at,params\r\n"
	    "7,nightly,END,true,2026-11-21T00:39:00.5+00:00,"
	    "\"{\"\"a\"\": [1, {}], \"\"b\"\": \"\"x,{\"\"}\"\r\n"
	    "1234,,FAILED,false,2026-11-21T00:39:00+05:30,[]\r\n");
}

static void
test_csv_quotes(void **state)
{
	static const struct column names[] = {
		{ "a,b", VALUE_TEXT },
		{ "c", VALUE_TEXT },
		{ "d", VALUE_JSON },
	};
	struct output output = { .format = &output_csv };
	size_t size;
	char *text;

	(void)state;
	output.file = open_memstream(&text, &size);
	output_begin(&output, names, 3);
	output_row(&output, (const char *const[]){ "say \"x\"", "", "[\n1]" });
	output_row(
	    &output, (const char *const[]){ "two\r\nlines", NULL, "\"\x1b\"" });
	output_end(&output);
	fclose(output.file);
	assert_string_equal(text, "\"a,b\",c,d\r\n"
	                          "\"say \"\"x\"\"\",\"\",\"[\n1]\"\r\n"
	                          "\"two\r\nlines\",,\"\"\"\\u001b\"\"\"\r\n");
	free(text);
}

static void
test_json_is_json(void **state)
{
	char *text = print("json", 0, NULL, 2);
	struct json *value = NULL;

	(void)state;
	assert_true(json_parse(text, strlen(text), &value, NULL));
	assert_int_equal(json_length(value), 2);
	json_free(value);
	free(text);
}

static void
test_record(void **state)
{
	(void)state;
	check("record", 0, NULL, 3,
	    "instance_id: 7\n"
	    "workflow: nightly\n"
	    "state: END\n"
	    "ok: yes\n"
	    "started_at: 2026-11-21 00:39:00.500\n"
	    "params: {\"a\": [1, {}], \"b\": \"x,{\"}\n"
	    "\n"
	    "instance_id: 1234\n"
	    "state: FAILED\n"
	    "ok: no\n"
	    "started_at: 2026-11-21 00:39:00.000\n"
	    "params: []\n"
	    "\n"
	    "instance_id: 8\n"
	    "params:\n"
	    "    {\n"
	    "      \"a\": [\n"
	    "        1,\n"
	    "        {}\n"
	    "      ],\n"
	    "      \"b\": \"x,{\",\n"
	    "      \"c\": \"" FIFTY "\"\n"
	    "    }\n");
}

/* More rows than are measured: printed as they come, memory bounded. */
static void
test_long_table(void **state)
{
	struct terminal terminal;
	struct output output = { .format = &output_table,
		.terminal = &terminal,
		.shown = "instance_id workflow" };
	size_t size, i, lines = 0;
	char *text, *at;

	(void)state;
	terminal_init(&terminal, true);
	output.file = open_memstream(&text, &size);
	output_begin(&output, columns, 6);
	for (i = 0; i < 5000; i++)
		output_row(&output, rows[i % 2]);
	output_end(&output);
	fclose(output.file);
	for (at = text; (at = strchr(at, '\n')) != NULL; at++)
		lines++;
	assert_int_equal(lines, 5001);
	free(text);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_table),
	cmocka_unit_test(test_what_stays_whole),
	cmocka_unit_test(test_table_shrinks_but_numbers_do_not),
	cmocka_unit_test(
	    test_columns_of_a_table_that_is_too_narrow_are_stacked),
	cmocka_unit_test(test_csv),
	cmocka_unit_test(test_csv_quotes),
	cmocka_unit_test(test_json),
	cmocka_unit_test(test_json_is_json),
	cmocka_unit_test(test_record),
	cmocka_unit_test(test_long_table),
};

UNIT_TESTS(tests)
