/*
 * malloc_error.c - memory that runs out, for programs that are started with
 * LD_PRELOAD of this: the allocation that MALLOC_FAIL says fails, once, counted
 * from the beginning of main.  That it did is written to standard error.  With
 * MALLOC_TRACE the program is left alone, and each allocation is a line of that
 * file: its number, and a number for the place that asked for it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	FRAMES = 12,
};

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static atomic_long count;
static long fails = -1;
static int trace = -1;
static pid_t process;
static _Thread_local bool inside;

static void __attribute__((constructor)) begin(void)
{
	void *frames[1];
	const char *number = getenv("MALLOC_FAIL");
	const char *file = getenv("MALLOC_TRACE");

	/* it loads a library when it is called for the first time */
	backtrace(frames, 1);
	if (number != NULL)
		fails = atol(number);
	if (file != NULL)
		trace = open(file,
		    O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	unsetenv("LD_PRELOAD");
	process = getpid();
}

/* FNV-1a of the addresses from where it is called, in their libraries. */
static uint64_t
place(void)
{
	void *frames[FRAMES];
	uint64_t hash = 0xcbf29ce484222325;
	int n = backtrace(frames, FRAMES);

	for (int i = 2; i < n; i++) {
		hash ^= (uintptr_t)frames[i];
		hash *= 0x100000001b3;
	}
	return hash;
}

static void
put(int fd, const char *line, int len)
{
	ssize_t written = write(fd, line, (size_t)len);

	(void)written;
}

/* Who asked for it: the first that is not the C library. */
static void
say_who(long number)
{
	void *frames[FRAMES];
	char line[200];
	Dl_info who = { 0 };
	int n = backtrace(frames, FRAMES);

	for (int i = 2; i < n; i++)
		if (dladdr(frames[i], &who) != 0 &&
		    strstr(who.dli_fname, "/libc.so") == NULL &&
		    strstr(who.dli_fname, "/malloc_error.so") == NULL)
			break;
	put(STDERR_FILENO, line,
	    snprintf(line, sizeof(line), "malloc_error: %ld fails in %s\n",
	        number, who.dli_fname));
}

/* Whether this one fails.  Children of the program are left alone. */
static bool
is_out(void)
{
	char line[80];
	long number;

	if (process == 0 || inside || (fails < 0 && trace < 0) ||
	    getpid() != process)
		return false;
	inside = true;
	number = atomic_fetch_add(&count, 1) + 1;
	if (trace >= 0)
		put(trace, line,
		    snprintf(line, sizeof(line), "%ld %lx\n", number, place()));
	if (number == fails)
		say_who(number);
	inside = false;
	if (number == fails)
		errno = ENOMEM;
	return number == fails;
}

void *
malloc(size_t size)
{
	return is_out() ? NULL : __libc_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
	return is_out() ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *old, size_t size)
{
	return is_out() ? NULL : __libc_realloc(old, size);
}

void *
reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}
