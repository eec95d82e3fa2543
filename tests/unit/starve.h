/*
 * starve.h - memory that runs out, for unit tests: each time in a process of
 * its own, at one allocation after the other.  Included once in a program.
 */
#ifndef TESTS_UNIT_STARVE_H
#define TESTS_UNIT_STARVE_H

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

enum {
	STARVE_SAID_SO = 1, /* as fatal() ends */
	STARVE_HELD = 2,
	STARVE_LIED = 3,
};

static long starve_left; /* allocations until one fails; 0: none does */
static long starve_at;   /* what starve_left begins with */
static long starve_used; /* how many there were, if none failed */

#ifdef SANITIZED
/* It has a malloc of its own, of which we hear nothing. */
static const bool starve_counts = false;
#else
static const bool starve_counts = true;

static bool
starve_is_out(void)
{
	if (starve_left == 0 || --starve_left > 0)
		return false;
	errno = ENOMEM;
	return true;
}

/* What the C library calls its own. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

void *
malloc(size_t size)
{
	return starve_is_out() ? NULL : __libc_malloc(size);
}

void *
calloc(size_t count, size_t size)
{
	return starve_is_out() ? NULL : __libc_calloc(count, size);
}

void *
realloc(void *old, size_t size)
{
	return starve_is_out() ? NULL : __libc_realloc(old, size);
}
#endif

/* Memory runs out from here to there. */
static void
starve_begin(void)
{
	starve_left = starve_at;
}

static void
starve_end(void)
{
	starve_used = starve_at - starve_left;
	starve_left = 0;
}

/* How a process ends that has no memory for that allocation. */
static int
starve_once(long allocation, bool (*holds)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		if (freopen("/dev/null", "w", stderr) == NULL)
			_exit(STARVE_LIED);
		starve_at = allocation;
		_exit(holds() ? STARVE_HELD : STARVE_LIED);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/*
 * `holds` says whether what is to hold does, also if memory runs out between
 * starve_begin() and starve_end(), unless its process ends and says so.  It
 * asserts nothing: it is not our process that would hear of it.
 */
static void
starve_each(bool (*holds)(void))
{
	long i, count;
	int end;

	starve_at = LONG_MAX;
	assert_true(holds());
	count = starve_used;
	assert_int_equal(count > 0, starve_counts);
	for (i = 1; i <= count; i++) {
		end = starve_once(i, holds);
		if (end != STARVE_SAID_SO && end != STARVE_HELD)
			fail_msg("allocation %ld of %ld: %d", i, count, end);
	}
}

#endif
