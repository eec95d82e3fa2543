#include "driver/transport/ssh/mux.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/buf.h"

/* Types of messages; an enum of C11 does not hold the largest of them. */
#define HELLO 0x00000001u
#define NEW_SESSION 0x10000002u
#define TERMINATE 0x10000005u
#define PERMISSION_DENIED 0x80000002u
#define FAILURE 0x80000003u
#define EXIT_MESSAGE 0x80000004u
#define SESSION_OPENED 0x80000006u

enum {
	VERSION = 4,
	REQUEST = 0,         /* our number of the only request */
	ANSWER_MAX = 262144, /* OpenSSH's own limit of a message */
};

/* What we say ---------------------------------------------------------------- */

static void
add_number(struct buf *message, uint32_t number)
{
	const unsigned char bytes[] = { number >> 24 & 255, number >> 16 & 255,
		number >> 8 & 255, number & 255 };

	buf_add(message, bytes, sizeof(bytes));
}

static void
add_string(struct buf *message, const char *text)
{
	add_number(message, (uint32_t)strlen(text));
	buf_adds(message, text);
}

void
mux_add_hello(struct buf *message)
{
	add_number(message, 8);
	add_number(message, HELLO);
	add_number(message, VERSION);
}

void
mux_add_terminate(struct buf *message)
{
	add_number(message, 8);
	add_number(message, TERMINATE);
	add_number(message, REQUEST);
}

void
mux_add_session(struct buf *message, const char *command, char *const *env)
{
	struct buf body;

	buf_init(&body, 0);
	add_number(&body, NEW_SESSION);
	add_number(&body, REQUEST);
	add_string(&body, "");         /* reserved */
	add_number(&body, 0);          /* no terminal */
	add_number(&body, 0);          /* no X11 */
	add_number(&body, 0);          /* no agent */
	add_number(&body, 0);          /* no subsystem */
	add_number(&body, UINT32_MAX); /* no escape character */
	add_string(&body, "");         /* the terminal's type */
	add_string(&body, command);
	for (; *env != NULL; env++)
		add_string(&body, *env);
	add_number(message, (uint32_t)body.len);
	buf_add(message, body.data, body.len);
	buf_release(&body);
}

/* The descriptor goes with one byte that means nothing. */
bool
mux_give(int fd, int stream)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec byte = { .iov_base = "", .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &byte,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.space),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &stream, sizeof(int));
	return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

int
mux_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(path);
	int fd, code;

	if (len >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address.sun_path, path, len);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	code = errno;
	close(fd);
	errno = code;
	return -1;
}

/* What we hear --------------------------------------------------------------- */

/* What is left of a message. */
struct rest {
	const unsigned char *data;
	size_t len;
};

static bool
take_number(struct rest *rest, uint32_t *number)
{
	if (rest->len < 4)
		return false;
	*number = (uint32_t)rest->data[0] << 24 |
	          (uint32_t)rest->data[1] << 16 | (uint32_t)rest->data[2] << 8 |
	          rest->data[3];
	rest->data += 4;
	rest->len -= 4;
	return true;
}

/* A string at the end of a message. */
static bool
take_text(struct rest *rest, struct mux_answer *answer)
{
	uint32_t len;

	if (!take_number(rest, &len) || len > rest->len)
		return false;
	answer->text = (const char *)rest->data;
	answer->text_len = len;
	return true;
}

/* A message without its length; false: it breaks the protocol. */
static bool
read_body(struct rest body, struct mux_answer *answer)
{
	uint32_t type, about;

	if (!take_number(&body, &type) || !take_number(&body, &about))
		return false;
	switch (type) {
	case HELLO:
		return about == VERSION;
	case SESSION_OPENED:
		answer->kind = MUX_OPENED;
		return true;
	case PERMISSION_DENIED:
	case FAILURE:
		answer->kind = MUX_REFUSED;
		return take_text(&body, answer);
	case EXIT_MESSAGE:
		answer->kind = MUX_EXITED;
		return take_number(&body, &answer->status);
	default:
		return true;
	}
}

size_t
mux_read(const char *data, size_t len, struct mux_answer *answer)
{
	struct rest rest = { (const unsigned char *)data, len };
	uint32_t size;

	*answer = (struct mux_answer){ .kind = MUX_OTHER };
	if (!take_number(&rest, &size))
		return 0;
	if (size <= ANSWER_MAX && size > rest.len)
		return 0;
	rest.len = size;
	if (size > ANSWER_MAX || !read_body(rest, answer)) {
		answer->kind = MUX_BROKEN;
		return len;
	}
	return size + 4;
}
