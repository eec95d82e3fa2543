/* JSON, when there is no memory for some of it. */
#include "common/error.h"
#include "common/json.h"
#include "tests/unit/starve.h"

/* Each sort of value, names and texts that need more room, many members. */
#define DOCUMENT(A) \
	"{\"statement\":\"delete from t where a = \\\"b\\\" and not " A "\"," \
	"\"a name that is longer than what there is room for at first\":" \
	"[1,2.50,-3e5,12345678901234567890123,true,false,null,[],{}]," \
	"\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8," \
	"\"i\":9,\"j\":10,\"k\":11,\"l\":12,\"m\":13,\"n\":14,\"o\":15}"

static const char document[] = DOCUMENT("\\u0041");
static const char written[] = DOCUMENT("A");

/* Read and written again it is the same. */
static bool
is_read_and_written(void)
{
	struct error err = { 0 };
	struct json *value = NULL;
	char *copy = NULL;
	bool same;

	starve_begin();
	if (json_parse(document, strlen(document), &value, &err))
		copy = json_text(value);
	starve_end();
	same = copy != NULL && strcmp(copy, written) == 0;
	json_free(value);
	error_release(&err);
	free(copy);
	return same;
}

static void
test_no_memory_for_json(void **state)
{
	(void)state;
	starve_each(is_read_and_written);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_no_memory_for_json),
};

UNIT_TESTS(tests)
