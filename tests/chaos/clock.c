/*
 * clock.c - another time of day, for programs that are started with LD_PRELOAD of
 * this: the real time and the seconds that the file CLOCK says.  The monotonic
 * clocks are left alone.
 *
 * The file is read each time, and only by system calls: PostgreSQL asks for the
 * time in a signal handler, and malloc destroys the heap there.  libfaketime opens
 * its file with fopen, which calls malloc; the server crashed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const char *file;

static void __attribute__((constructor)) begin(void)
{
	/* a copy: PostgreSQL writes what its processes do over their environment */
	file = strdup(getenv("CLOCK"));
}

/* What the file says: "-3", "3600".  A program that cannot read it must not go on. */
static long
offset(void)
{
	char text[24];
	long seconds = 0;
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text));

	if (n <= 0)
		abort();
	close(fd);
	for (ssize_t i = 0; i < n; i++)
		if (text[i] >= '0' && text[i] <= '9')
			seconds = 10 * seconds + text[i] - '0';
	return text[0] == '-' ? -seconds : seconds;
}

int
clock_gettime(clockid_t clock, struct timespec *now)
{
	int result = (int)syscall(SYS_clock_gettime, clock, now);

	if (result == 0 &&
	    (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		now->tv_sec += offset();
	return result;
}

int
gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec ts;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &ts);
	now->tv_sec = ts.tv_sec;
	now->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

time_t
time(time_t *result)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (result != NULL)
		*result = ts.tv_sec;
	return ts.tv_sec;
}
