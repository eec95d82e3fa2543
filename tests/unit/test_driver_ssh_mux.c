/*
 * test_driver_ssh_mux.c - what is said to the client that holds a shared
 * connection, byte for byte, and how its answers are read.
 */
#include "driver/transport/ssh/mux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/buf.h"
#include "tests/unit/unit.h"

enum {
	WAITING_MAX = 16, /* connections that nobody takes */
};

/* A number, and the beginning of a message; each byte is written down. */
#define N(number) 0, 0, 0, number
#define OTHERS_TYPE(number) 0x80, 0, 0, number

#define HELLO N(1)
#define NEW_SESSION 0x10, 0, 0, 2
#define TERMINATE 0x10, 0, 0, 5
#define PERMISSION_DENIED OTHERS_TYPE(2)
#define FAILURE OTHERS_TYPE(3)
#define EXIT_MESSAGE OTHERS_TYPE(4)
#define SESSION_OPENED OTHERS_TYPE(6)
#define TTY_ALLOC_FAIL OTHERS_TYPE(8)
#define NO_ESCAPE 0xff, 0xff, 0xff, 0xff

/* What we say ---------------------------------------------------------------- */

static void
assert_said(struct buf *message, const unsigned char *bytes, size_t len)
{
	assert_int_equal(message->len, len);
	assert_memory_equal(message->data, bytes, len);
	buf_release(message);
}

#define SAID(message, ...) \
	do { \
		static const unsigned char said[] = { __VA_ARGS__ }; \
		assert_said(message, said, sizeof(said)); \
	} while (0)

static void
test_a_greeting_has_the_bytes_of_the_protocol(void **state)
{
	struct buf message;

	(void)state;
	buf_init(&message, 0);
	mux_add_hello(&message);
	SAID(&message, N(8), HELLO, N(4));
}

static void
test_a_request_to_end_has_the_bytes_of_the_protocol(void **state)
{
	struct buf message;

	(void)state;
	buf_init(&message, 0);
	mux_add_terminate(&message);
	SAID(&message, N(8), TERMINATE, N(0));
}

static void
test_a_request_for_a_session_has_the_bytes_of_the_protocol(void **state)
{
	char *const env[] = { "A=b c", NULL };
	struct buf message;

	(void)state;
	buf_init(&message, 0);
	mux_add_session(&message, "true", env);
	SAID(&message, N(53), NEW_SESSION, N(0), N(0), N(0), N(0), N(0), N(0),
	    NO_ESCAPE, N(0), N(4), 't', 'r', 'u', 'e', N(5), 'A', '=', 'b', ' ',
	    'c');
}

static void
test_a_session_may_have_no_variables_or_many(void **state)
{
	char *const none[] = { NULL }, *const two[] = { "A=", "BC=d", NULL };
	struct buf message;

	(void)state;
	buf_init(&message, 0);
	mux_add_session(&message, "x", none);
	SAID(&message, N(41), NEW_SESSION, N(0), N(0), N(0), N(0), N(0), N(0),
	    NO_ESCAPE, N(0), N(1), 'x');
	mux_add_session(&message, "", two);
	SAID(&message, N(54), NEW_SESSION, N(0), N(0), N(0), N(0), N(0), N(0),
	    NO_ESCAPE, N(0), N(0), N(2), 'A', '=', N(4), 'B', 'C', '=', 'd');
}

static void
test_a_request_follows_what_was_said_before(void **state)
{
	char *const env[] = { NULL };
	struct buf message;

	(void)state;
	buf_init(&message, 0);
	mux_add_hello(&message);
	mux_add_session(&message, "x", env);
	mux_add_terminate(&message);
	SAID(&message, N(8), HELLO, N(4), N(41), NEW_SESSION, N(0), N(0), N(0),
	    N(0), N(0), N(0), NO_ESCAPE, N(0), N(1), 'x', N(8), TERMINATE,
	    N(0));
}

static void
test_a_long_command_has_its_length_in_four_bytes(void **state)
{
	enum { LONG = 0x10203 };
	static const unsigned char whole[] = { 0, 1, 2, 3 + 40 };
	static const unsigned char command[] = { 0, 1, 2, 3 };
	char *const env[] = { NULL };
	char *text = malloc(LONG + 1);
	struct buf message;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', LONG);
	text[LONG] = '\0';
	buf_init(&message, 0);
	mux_add_session(&message, text, env);
	assert_int_equal(message.len, 4 + 40 + LONG);
	assert_memory_equal(message.data, whole, 4);
	assert_memory_equal(message.data + 40, command, 4);
	assert_memory_equal(message.data + 44, text, LONG);
	buf_release(&message);
	free(text);
}

/* Streams -------------------------------------------------------------------- */

/* Take a byte, and the descriptor that comes with it. */
static int
take(int fd)
{
	char control[CMSG_SPACE(4 * sizeof(int))] = { 0 }, byte[2] = { 1, 1 };
	struct iovec data = { .iov_base = byte, .iov_len = sizeof(byte) };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header;
	int stream;

	assert_int_equal(recvmsg(fd, &message, MSG_CMSG_CLOEXEC), 1);
	assert_int_equal(byte[0], 0);
	header = CMSG_FIRSTHDR(&message);
	assert_non_null(header);
	assert_int_equal(header->cmsg_level, SOL_SOCKET);
	assert_int_equal(header->cmsg_type, SCM_RIGHTS);
	assert_int_equal(header->cmsg_len, CMSG_LEN(sizeof(int)));
	memcpy(&stream, CMSG_DATA(header), sizeof(int));
	return stream;
}

static void
test_a_stream_that_is_given_is_the_same_stream(void **state)
{
	int pair[2], pipe_ends[2], stream;
	char text[5] = "";

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(pipe(pipe_ends), 0);
	assert_true(mux_give(pair[0], pipe_ends[1]));
	stream = take(pair[1]);
	assert_int_not_equal(stream, pipe_ends[1]);
	assert_int_equal(close(pipe_ends[1]), 0); /* it is still ours */
	assert_int_equal(write(stream, "word", 4), 4);
	assert_int_equal(read(pipe_ends[0], text, sizeof(text)), 4);
	assert_string_equal(text, "word");
	close(stream);
	assert_int_equal(read(pipe_ends[0], text, sizeof(text)), 0);
	close(pipe_ends[0]);
	close(pair[0]);
	close(pair[1]);
}

static void
test_a_stream_is_not_given_to_a_client_that_is_gone(void **state)
{
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	close(pair[1]);
	assert_false(mux_give(pair[0], STDIN_FILENO)); /* and no SIGPIPE */
	assert_int_equal(errno, EPIPE);
	close(pair[0]);
}

static void
test_giving_a_stream_does_not_wait_for_room(void **state)
{
	static const char data[4096];
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	while (send(pair[0], data, sizeof(data), MSG_DONTWAIT) > 0)
		;
	assert_int_equal(errno, EAGAIN);
	assert_false(mux_give(pair[0], STDIN_FILENO));
	assert_int_equal(errno, EAGAIN);
	close(pair[0]);
	close(pair[1]);
}

/* The socket ----------------------------------------------------------------- */

static char directory[32];
static struct sockaddr_un address;
static int listener;

static int
set_up(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/mux.XXXXXX");
	assert_non_null(mkdtemp(directory));
	address.sun_family = AF_UNIX;
	snprintf(
	    address.sun_path, sizeof(address.sun_path), "%s/socket", directory);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(
	    bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 0), 0);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	if (listener >= 0)
		close(listener);
	unlink(address.sun_path);
	rmdir(directory);
	return 0;
}

static void
test_a_connection_is_one_to_the_socket(void **state)
{
	int fd = mux_connect(address.sun_path), other;
	char text[3] = "";

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	other = accept(listener, NULL, NULL);
	assert_true(other >= 0);
	assert_int_equal(write(fd, "us", 2), 2);
	assert_int_equal(read(other, text, sizeof(text)), 2);
	assert_string_equal(text, "us");
	close(other);
	close(fd);
}

static void
test_a_client_that_is_busy_is_to_be_asked_again(void **state)
{
	int waiting[WAITING_MAX], fd;
	size_t count = 0;

	(void)state;
	while ((fd = mux_connect(address.sun_path)) >= 0) {
		assert_true(count < WAITING_MAX);
		waiting[count++] = fd;
	}
	assert_int_equal(errno, EAGAIN);
	assert_true(count > 0);
	close(accept(listener, NULL, NULL));
	fd = mux_connect(address.sun_path);
	assert_true(fd >= 0);
	close(fd);
	while (count > 0)
		close(waiting[--count]);
}

/* The number of the next descriptor that is opened. */
static int
next_descriptor(void)
{
	int fd = dup(STDIN_FILENO);

	assert_true(fd >= 0);
	close(fd);
	return fd;
}

static void
test_a_client_that_is_gone_is_told_from_a_busy_one(void **state)
{
	int next;

	(void)state;
	close(listener);
	listener = -1;
	next = next_descriptor();
	assert_int_equal(mux_connect(address.sun_path), -1);
	assert_int_equal(errno, ECONNREFUSED);
	unlink(address.sun_path);
	assert_int_equal(mux_connect(address.sun_path), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(next_descriptor(), next); /* none stays open */
}

/* What we hear --------------------------------------------------------------- */

/*
 * Read the message at the beginning of the bytes, from memory that ends where
 * they end.  They have the whole of it: any fewer of them do not.
 */
static struct mux_answer
read_message(const unsigned char *bytes, size_t len, size_t size)
{
	static char kept[256];
	struct mux_answer answer;
	size_t part;
	char *data;

	for (part = 0; part < size; part++) {
		data = malloc(part + 1);
		memcpy(data + 1, bytes, part);
		assert_int_equal(mux_read(data + 1, part, &answer), 0);
		free(data);
	}
	assert_true(len <= sizeof(kept));
	memcpy(kept, bytes, len);
	assert_int_equal(mux_read(kept, len, &answer), size);
	if (answer.kind == MUX_REFUSED) {
		assert_true(answer.text >= kept);
		assert_true(answer.text + answer.text_len <= kept + size);
	}
	return answer;
}

/* The same for bytes that can't be read: all are gone. */
static void
assert_broken(const unsigned char *bytes, size_t len)
{
	struct mux_answer answer;

	assert_int_equal(mux_read((const char *)bytes, len, &answer), len);
	assert_int_equal(answer.kind, MUX_BROKEN);
}

static void
assert_refused(
    const unsigned char *bytes, size_t len, size_t size, const char *text)
{
	struct mux_answer answer = read_message(bytes, len, size);

	assert_int_equal(answer.kind, MUX_REFUSED);
	assert_int_equal(answer.text_len, strlen(text));
	assert_memory_equal(answer.text, text, strlen(text));
}

#define READ(...) \
	read_message((const unsigned char[]){ __VA_ARGS__ }, \
	    sizeof((const unsigned char[]){ __VA_ARGS__ }), \
	    sizeof((const unsigned char[]){ __VA_ARGS__ }))
#define BROKEN(...) \
	assert_broken((const unsigned char[]){ __VA_ARGS__ }, \
	    sizeof((const unsigned char[]){ __VA_ARGS__ }))
#define REFUSED(text, ...) \
	assert_refused((const unsigned char[]){ __VA_ARGS__ }, \
	    sizeof((const unsigned char[]){ __VA_ARGS__ }), \
	    sizeof((const unsigned char[]){ __VA_ARGS__ }), text)

static void
test_a_session_that_stands_is_told(void **state)
{
	(void)state;
	assert_int_equal(
	    READ(N(12), SESSION_OPENED, N(0), N(7)).kind, MUX_OPENED);
}

static void
test_a_refusal_says_why(void **state)
{
	(void)state;
	REFUSED("no", N(14), FAILURE, N(0), N(2), 'n', 'o');
	REFUSED("denied", N(18), PERMISSION_DENIED, N(0), N(6), 'd', 'e', 'n',
	    'i', 'e', 'd');
	REFUSED("", N(12), FAILURE, N(0), N(0));
	REFUSED("n", N(14), FAILURE, N(0), N(1), 'n', 'o'); /* more follows */
}

static void
test_the_end_of_a_command_has_its_status(void **state)
{
	struct mux_answer answer;

	(void)state;
	answer = READ(N(12), EXIT_MESSAGE, N(3), N(0));
	assert_int_equal(answer.kind, MUX_EXITED);
	assert_int_equal(answer.status, 0);
	answer = READ(N(12), EXIT_MESSAGE, N(3), N(77));
	assert_int_equal(answer.kind, MUX_EXITED);
	assert_int_equal(answer.status, 77);
	answer = READ(N(12), EXIT_MESSAGE, N(3), 0xff, 0xfe, 0xfd, 0xfc);
	assert_int_equal(answer.kind, MUX_EXITED);
	assert_int_equal(answer.status, 0xfffefdfc);
}

static void
test_a_greeting_must_have_our_version(void **state)
{
	(void)state;
	assert_int_equal(READ(N(8), HELLO, N(4)).kind, MUX_OTHER);
	/* extensions may follow the version */
	assert_int_equal(
	    READ(N(18), HELLO, N(4), N(1), 'x', N(1), 'y').kind, MUX_OTHER);
	BROKEN(N(8), HELLO, N(5));
	BROKEN(N(8), HELLO, N(3));
	BROKEN(N(8), HELLO, 1, 0, 0, 4);
}

static void
test_a_message_of_another_type_does_not_matter(void **state)
{
	(void)state;
	assert_int_equal(READ(N(8), TTY_ALLOC_FAIL, N(0)).kind, MUX_OTHER);
	assert_int_equal(
	    READ(N(9), OTHERS_TYPE(0x99), N(0), 'x').kind, MUX_OTHER);
	assert_int_equal(READ(N(8), N(0), N(0)).kind, MUX_OTHER);
	/* what is only said to the client, and never by it */
	assert_int_equal(READ(N(8), NEW_SESSION, N(0)).kind, MUX_OTHER);
}

static void
test_a_message_that_is_too_large_is_broken(void **state)
{
	struct mux_answer answer;
	static const unsigned char largest[] = { 0, 4, 0, 0, SESSION_OPENED,
		N(0) };

	(void)state;
	/* OpenSSH's limit: the rest of such a message may still come */
	assert_int_equal(
	    mux_read((const char *)largest, sizeof(largest), &answer), 0);
	BROKEN(0, 4, 0, 1);
	BROKEN(0, 4, 0, 1, SESSION_OPENED, N(0));
	BROKEN(0xff, 0xff, 0xff, 0xff, SESSION_OPENED, N(0));
}

static void
test_the_largest_message_is_read(void **state)
{
	enum { LARGEST = 262144 };
	static const unsigned char begins[] = { 0, 4, 0, 0, FAILURE, N(0), 0, 3,
		0xff, 0xf4 };
	struct mux_answer answer;
	char *data = malloc(4 + LARGEST);

	(void)state;
	assert_non_null(data);
	memset(data, 'x', 4 + LARGEST);
	memcpy(data, begins, sizeof(begins));
	assert_int_equal(mux_read(data, 3 + LARGEST, &answer), 0);
	assert_int_equal(mux_read(data, 4 + LARGEST, &answer), 4 + LARGEST);
	assert_int_equal(answer.kind, MUX_REFUSED);
	assert_ptr_equal(answer.text, data + sizeof(begins));
	assert_int_equal(answer.text_len, LARGEST - 12);
	free(data);
}

static void
test_a_message_that_ends_too_early_is_broken(void **state)
{
	(void)state;
	BROKEN(N(0));
	BROKEN(N(3), 0x80, 0, 0);
	BROKEN(N(4), SESSION_OPENED);
	BROKEN(N(7), SESSION_OPENED, 0, 0, 0);
	BROKEN(N(8), EXIT_MESSAGE, N(0));
	BROKEN(N(11), EXIT_MESSAGE, N(0), 0, 0, 0);
	BROKEN(N(8), FAILURE, N(0));
	BROKEN(N(11), FAILURE, N(0), 0, 0, 0);
	/* the bytes behind a message do not make it longer */
	BROKEN(N(8), EXIT_MESSAGE, N(0), N(0), N(0));
}

static void
test_a_text_that_is_longer_than_its_message_is_broken(void **state)
{
	(void)state;
	BROKEN(N(14), FAILURE, N(0), N(3), 'n', 'o');
	BROKEN(N(14), FAILURE, N(0), N(3), 'n', 'o', 't', 'h');
	BROKEN(
	    N(14), PERMISSION_DENIED, N(0), 0xff, 0xff, 0xff, 0xff, 'n', 'o');
}

static void
test_messages_are_read_one_after_another(void **state)
{
	static const unsigned char two[] = { N(12), SESSION_OPENED, N(0), N(7),
		N(14), FAILURE, N(0), N(2), 'n', 'o', N(8) };
	struct mux_answer answer = read_message(two, sizeof(two), 16);

	(void)state;
	assert_int_equal(answer.kind, MUX_OPENED);
	assert_refused(two + 16, sizeof(two) - 16, 18, "no");
	assert_int_equal(
	    mux_read((const char *)two + 34, sizeof(two) - 34, &answer), 0);
}

static void
test_an_answer_has_nothing_of_the_one_before(void **state)
{
	static const unsigned char opened[] = { N(12), SESSION_OPENED, N(0),
		N(7) };
	struct mux_answer answer = { MUX_EXITED, 7, "text", 4 };

	(void)state;
	assert_int_equal(
	    mux_read((const char *)opened, sizeof(opened), &answer),
	    sizeof(opened));
	assert_int_equal(answer.kind, MUX_OPENED);
	assert_int_equal(answer.status, 0);
	assert_null(answer.text);
	assert_int_equal(answer.text_len, 0);
}

#define AT_SOCKET(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_greeting_has_the_bytes_of_the_protocol),
	cmocka_unit_test(test_a_request_to_end_has_the_bytes_of_the_protocol),
	cmocka_unit_test(
	    test_a_request_for_a_session_has_the_bytes_of_the_protocol),
	cmocka_unit_test(test_a_session_may_have_no_variables_or_many),
	cmocka_unit_test(test_a_request_follows_what_was_said_before),
	cmocka_unit_test(test_a_long_command_has_its_length_in_four_bytes),
	cmocka_unit_test(test_a_stream_that_is_given_is_the_same_stream),
	cmocka_unit_test(test_a_stream_is_not_given_to_a_client_that_is_gone),
	cmocka_unit_test(test_giving_a_stream_does_not_wait_for_room),
	AT_SOCKET(test_a_connection_is_one_to_the_socket),
	AT_SOCKET(test_a_client_that_is_busy_is_to_be_asked_again),
	AT_SOCKET(test_a_client_that_is_gone_is_told_from_a_busy_one),
	cmocka_unit_test(test_a_session_that_stands_is_told),
	cmocka_unit_test(test_a_refusal_says_why),
	cmocka_unit_test(test_the_end_of_a_command_has_its_status),
	cmocka_unit_test(test_a_greeting_must_have_our_version),
	cmocka_unit_test(test_a_message_of_another_type_does_not_matter),
	cmocka_unit_test(test_a_message_that_is_too_large_is_broken),
	cmocka_unit_test(test_the_largest_message_is_read),
	cmocka_unit_test(test_a_message_that_ends_too_early_is_broken),
	cmocka_unit_test(test_a_text_that_is_longer_than_its_message_is_broken),
	cmocka_unit_test(test_messages_are_read_one_after_another),
	cmocka_unit_test(test_an_answer_has_nothing_of_the_one_before),
};

UNIT_TESTS(tests)
