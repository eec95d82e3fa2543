#include "common/pg_params.h"

#include "tests/unit/unit.h"

static void
test_text_and_null(void **state)
{
	struct pg_params params;

	(void)state;
	pg_params_init(&params);
	pg_params_add(&params, "one");
	pg_params_add(&params, NULL);
	assert_int_equal(params.count, 2);
	assert_string_equal(params.values[0], "one");
	assert_int_equal(params.types[0], 0);
	assert_int_equal(params.formats[0], 0);
	assert_null(params.values[1]);
	pg_params_release(&params);
	assert_int_equal(params.count, 0);
}

static void
test_numbers_are_big_endian(void **state)
{
	struct pg_params params;

	(void)state;
	pg_params_init(&params);
	pg_params_add_bigint(&params, -2);
	pg_params_add_int(&params, 258);
	assert_int_equal(params.types[0], PG_TYPE_BIGINT);
	assert_int_equal(params.lengths[0], 8);
	assert_memory_equal(
	    params.values[0], "\xff\xff\xff\xff\xff\xff\xff\xfe", 8);
	assert_int_equal(params.types[1], PG_TYPE_INT);
	assert_memory_equal(params.values[1], "\0\0\1\2", 4);
	assert_int_equal(params.formats[1], 1);
	pg_params_release(&params);
}

static void
test_empty_array(void **state)
{
	struct pg_array array;
	struct pg_params params;

	(void)state;
	pg_array_init(&array, PG_TYPE_TEXT);
	pg_params_init(&params);
	pg_params_add_array(&params, &array);
	assert_int_equal(params.types[0], PG_TYPE_TEXT_ARRAY);
	assert_int_equal(params.lengths[0], 12);
	assert_memory_equal(params.values[0],
	    "\0\0\0\0"
	    "\0\0\0\1"
	    "\0\0\0\x19",
	    12);
	pg_params_release(&params);
	pg_array_release(&array);
}

static void
test_cleared_array(void **state)
{
	static const char big[100000];
	struct pg_array array;
	struct pg_params params;

	(void)state;
	pg_array_init(&array, PG_TYPE_BYTEA);
	pg_array_add_bytes(&array, "a", 1);
	pg_array_clear(&array);
	assert_true(array.items.size > 0);
	pg_array_add_bytes(&array, big, sizeof(big));
	pg_array_clear(&array);
	assert_int_equal(array.items.size, 0);
	pg_array_add_bytes(&array, "b", 1);
	pg_params_init(&params);
	pg_params_add_array(&params, &array);
	assert_int_equal(params.lengths[0], 25);
	assert_memory_equal(params.values[0] + 12, "\0\0\0\1", 4);
	assert_memory_equal(params.values[0] + 20, "\0\0\0\1b", 5);
	pg_params_release(&params);
	pg_array_release(&array);
}

static void
test_array_of_uuid(void **state)
{
	static const char wire[] = "\0\0\0\1"
	                           "\0\0\0\1"
	                           "\0\0\x0b\x86"
	                           "\0\0\0\2"
	                           "\0\0\0\1"
	                           "\0\0\0\x10"
	                           "\x01\x23\x45\x67\x89\xab\xcd\xef"
	                           "\xFE\xDC\xBA\x98\x76\x54\x32\x10"
	                           "\xff\xff\xff\xff";
	struct pg_array array;
	struct pg_params params;

	(void)state;
	pg_array_init(&array, PG_TYPE_UUID);
	pg_array_add_uuid(&array, "01234567-89ab-cdef-FEDC-BA9876543210");
	pg_array_add_null(&array);
	pg_params_init(&params);
	pg_params_add_array(&params, &array);
	assert_int_equal(params.lengths[0], sizeof(wire) - 1);
	assert_memory_equal(params.values[0], wire, sizeof(wire) - 1);
	pg_params_release(&params);
	pg_array_release(&array);
}

static void
test_many_parameters(void **state)
{
	struct pg_params params;
	char text[16];

	(void)state;
	pg_params_init(&params);
	for (int i = 0; i < 100; i++) {
		text[0] = (char)('a' + i % 26);
		text[1] = '\0';
		pg_params_add(&params, text);
	}
	assert_int_equal(params.count, 100);
	assert_string_equal(params.values[27], "b");
	pg_params_release(&params);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_text_and_null),
	cmocka_unit_test(test_numbers_are_big_endian),
	cmocka_unit_test(test_empty_array),
	cmocka_unit_test(test_cleared_array),
	cmocka_unit_test(test_array_of_uuid),
	cmocka_unit_test(test_many_parameters),
};

UNIT_TESTS(tests)
