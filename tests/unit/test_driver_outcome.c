#include "driver/transport/outcome.h"

#include "common/error.h"
#include "common/json.h"
#include "driver/transport/http/exchange.h"
#include "driver/transport/http/outcome.h"
#include "driver/transport/http/response_headers.h"
#include "driver/transport/sql/statement.h"
#include "driver/transport/tail.h"
#include "tests/unit/unit.h"

static void
check_text(const char *text, size_t len, const char *expected)
{
	struct buf buf;

	buf_init(&buf, 0);
	outcome_add_text(&buf, text, len);
	assert_string_equal(buf.data, expected);
	buf_release(&buf);
}

static void
test_any_bytes_become_text(void **state)
{
	(void)state;
	check_text("", 0, "\"\"");
	check_text("a\"\\\n", 4, "\"a\\\"\\\\\\n\"");
	check_text("\xc3\xbc", 2, "\"\xc3\xbc\"");
	check_text("a\0b", 3,
	    "\"a\xef\xbf\xbd"
	    "b\"");
	check_text("\xff\xc3", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	check_text(
	    "x\xed\xa0\x80", 4, "\"x\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

/* What is written of the end of a stream that keeps ten bytes. */
static void
check_tail(const char *text, size_t len, const char *expected)
{
	struct tail tail;
	struct buf buf;

	tail_init(&tail, 10);
	tail_add(&tail, text, len);
	buf_init(&buf, 0);
	outcome_add_tail(&buf, &tail);
	assert_string_equal(buf.data, expected);
	buf_release(&buf);
	tail_release(&tail);
}

static void
test_an_end_is_bounded_as_json(void **state)
{
	(void)state;
	check_tail("0123456789", 10, "\"0123456789\"");
	check_tail("x0123456789", 11, "\"[1 bytes cut]\\n0123456789\"");
	check_tail("abc\n\"efgh", 9, "\"[1 bytes cut]\\nbc\\n\\\"efgh\"");
	check_tail("\1\1\1\1\1", 5, "\"[4 bytes cut]\\n\\u0001\"");
	check_tail("aa\x7f"
	           "bcde",
	    7, "\"[2 bytes cut]\\n\\u007fbcde\"");
	check_tail("\xff\xff\xff\xff", 4,
	    "\"[1 bytes cut]\\n\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	check_tail("\xc3\xbc\n\n\n\nz", 7, "\"[2 bytes cut]\\n\\n\\n\\n\\nz\"");
}

static void
test_an_error(void **state)
{
	struct outcome outcome;

	(void)state;
	outcome_init(&outcome);
	assert_int_equal(outcome.event, OUTCOME_RESPONSE);
	outcome_error(&outcome, "k", "{\"a\":1}", "said \"%s\"", "no");
	assert_int_equal(outcome.event, OUTCOME_ERROR);
	assert_string_equal(outcome.body.data,
	    "{\"kind\":\"k\",\"message\":\"said \\\"no\\\"\","
	    "\"detail\":{\"a\":1}}");
	outcome_release(&outcome);
}

static void
check_response(size_t len, enum outcome_event event)
{
	struct http_response response = { .status = 200, .url = "http://h/" };
	struct outcome outcome;
	char *body = malloc(len);

	memset(body, 1, len);
	buf_init(&response.body, 0);
	buf_add(&response.body, body, len);
	outcome_init(&outcome);
	assert_true(http_outcome_response(&outcome, &response));
	assert_int_equal(outcome.event, event);
	if (event == OUTCOME_ERROR)
		assert_string_equal(outcome.body.data,
		    "{\"kind\":\"output\",\"message\":\"the outcome has "
		    "134217732 bytes as JSON, more than the 134217728 of a "
		    "report\"}");
	outcome_release(&outcome);
	buf_release(&response.body);
	free(body);
}

static void
test_what_no_report_can_have_is_an_error(void **state)
{
	(void)state;
	check_response(1000, OUTCOME_RESPONSE);
	check_response(OUTCOME_MAX_BYTES / 6 + 1, OUTCOME_ERROR);
}

/* The statement's text, for `args`. */
static void
check_statement(const char *args, const char *expected, int params)
{
	struct sql_statement statement;
	struct error err = { 0 };
	struct json *json;

	assert_true(json_parse(args, strlen(args), &json, &err));
	assert_true(sql_statement_init(&statement, json, 1000, &err));
	assert_string_equal(statement.text.data, expected);
	assert_int_equal(statement.params.count, params);
	sql_statement_release(&statement);
	json_free(json);
}

static void
test_statements(void **state)
{
	(void)state;
	check_statement("{\"statement\": \"vacuum;\"}", "vacuum;", 0);
	check_statement("{\"statement\": \"insert into t select 1\"}",
	    "insert into t select 1", 0);
	check_statement("{\"statement\": \"select $1 -- x;\\n\","
	                " \"rows\": true, \"params\": [1, null, {}]}",
	    "with q as (select $1 -- x\n) select '[' || "
	    "coalesce(string_agg(r.item, ','), '') || ']', count(*) from "
	    "(select j.item, sum(octet_length(j.item) + 1) over (rows "
	    "unbounded preceding) as bytes from (select case when "
	    "pg_column_size(q.*) > 40192 then wf.sql_too_large(1000)::text "
	    "else to_json(q.*)::text end as item from q offset 0) j) r where "
	    "case when r.bytes < 1000 then true else wf.sql_too_large(1000) "
	    "end",
	    3);
}

/* Whether the rows of a statement are only counted, at the server. */
static void
check_counted(const char *text, bool counted)
{
	struct sql_statement statement;
	struct error err = { 0 };
	struct json *args;
	struct buf buf;

	buf_init(&buf, 0);
	buf_adds(&buf, "{\"statement\":");
	json_add_string(&buf, text, strlen(text));
	buf_addc(&buf, '}');
	assert_true(json_parse(buf.data, buf.len, &args, &err));
	buf_release(&buf);
	assert_true(sql_statement_init(&statement, args, 1000, &err));
	assert_int_equal(statement.wrapped, counted);
	sql_statement_release(&statement);
	json_free(args);
}

static void
test_queries_are_told_from_other_statements(void **state)
{
	(void)state;
	check_counted("select 1", true);
	check_counted(" -- all\n/* of */ ((TABLE t));\n ", true);
	check_counted("with a as (select 1) select * from a", true);
	check_counted("values (1)", true);
	check_counted("", false);
	check_counted("selected", false);
	check_counted("select 1; -- x", false);
	check_counted("select 1 into t", false);
	check_counted("select a from t for update", false);
	check_counted("with a as (delete from t returning *) table a", false);
	check_counted("explain select 1", false);
	check_counted("/* select", false);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_any_bytes_become_text),
	cmocka_unit_test(test_an_end_is_bounded_as_json),
	cmocka_unit_test(test_an_error),
	cmocka_unit_test(test_what_no_report_can_have_is_an_error),
	cmocka_unit_test(test_statements),
	cmocka_unit_test(test_queries_are_told_from_other_statements),
};

UNIT_TESTS(tests)
