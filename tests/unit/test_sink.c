#include "common/sink.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/mono.h"
#include "tests/unit/unit.h"

static const char line[] = "0123456789\n";
enum { LEN = sizeof(line) - 1 };

/* All that can be read now, for the caller to free. */
static char *
contents(int fd, size_t *len)
{
	size_t room = 1 << 20;
	char *text = malloc(room);
	ssize_t count;

	*len = 0;
	while ((count = read(fd, text + *len, room - 1 - *len)) > 0)
		*len += (size_t)count;
	text[*len] = '\0';
	return text;
}

/* A file that takes `size` bytes. */
static void
set_room(rlim_t size)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = size;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void
test_a_disk_that_is_full(void **state)
{
	struct sink sink = { .fd = open("/dev/full", O_WRONLY) };

	(void)state;
	assert_true(sink.fd >= 0);
	assert_false(sink_write(&sink, line, LEN));
	assert_false(sink_write(&sink, line, LEN));
	close(sink.fd);
}

static void
test_a_line_that_was_cut_is_ended(void **state)
{
	FILE *file = tmpfile();
	struct sink sink = { .fd = fileno(file) };
	size_t len;
	char *text;

	(void)state;
	set_room(LEN + 4);
	assert_true(sink_write(&sink, line, LEN));
	assert_false(sink_write(&sink, line, LEN));
	assert_false(sink_write(&sink, line, LEN));
	set_room(RLIM_INFINITY);
	assert_true(sink_write(&sink, line, LEN));
	rewind(file);
	text = contents(sink.fd, &len);
	assert_string_equal(text, "0123456789\n0123\n0123456789\n");
	free(text);
	fclose(file);
}

/* A pipe, both ends; ours may block. */
static struct sink
open_pipe(int *reader)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	*reader = ends[0];
	return (struct sink){ .fd = ends[1] };
}

static void
test_a_reader_that_stands_still(void **state)
{
	struct mono begin = mono_now();
	size_t written = 0, i, len;
	int reader;
	struct sink sink = open_pipe(&reader);
	char *text;

	(void)state;
	/* it is waited for once, not for each line */
	for (i = 0; i < 20000; i++)
		written += sink_write(&sink, line, LEN);
	assert_true(written > 1000 && written < 20000);
	assert_true(mono_diff_ms(mono_now(), begin) < 10000);
	/* it goes on */
	text = contents(reader, &len);
	assert_int_equal(len, written * LEN);
	free(text);
	assert_true(sink_write(&sink, line, LEN));
	text = contents(reader, &len);
	assert_string_equal(text, line);
	free(text);
	close(reader);
	close(sink.fd);
}

static void
test_a_line_that_is_longer_than_a_pipe(void **state)
{
	enum { LONG = 200000 };
	char *many = malloc(LONG), *text;
	int reader;
	struct sink sink = open_pipe(&reader);
	size_t len;

	(void)state;
	memset(many, 'x', LONG);
	many[LONG - 1] = '\n';
	assert_false(sink_write(&sink, many, LONG));
	text = contents(reader, &len);
	assert_true(len > 0 && len < LONG);
	free(text);
	assert_true(sink_write(&sink, line, LEN));
	text = contents(reader, &len);
	assert_string_equal(text, "\n0123456789\n");
	free(text);
	free(many);
	close(reader);
	close(sink.fd);
}

static void
test_a_reader_that_is_gone(void **state)
{
	int reader;
	struct sink sink = open_pipe(&reader);

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	close(reader);
	assert_false(sink_write(&sink, line, LEN));
	close(sink.fd);
	assert_false(sink_write(&sink, line, LEN));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_disk_that_is_full),
	cmocka_unit_test(test_a_line_that_was_cut_is_ended),
	cmocka_unit_test(test_a_line_that_is_longer_than_a_pipe),
	cmocka_unit_test(test_a_reader_that_is_gone),
	cmocka_unit_test(test_a_reader_that_stands_still),
};

UNIT_TESTS(tests)
