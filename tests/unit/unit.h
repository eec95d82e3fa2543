/*
 * unit.h - what every unit test includes: cmocka with what it needs first.
 */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A main() that runs `tests`; the tests/run asks for TAP. */
#define UNIT_TESTS(tests) \
	int main(void) \
	{ \
		return cmocka_run_group_tests(tests, NULL, NULL); \
	}

#endif
