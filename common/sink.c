#include "common/sink.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mono.h"

enum {
	WAIT_MS = 100,
};

static bool
has_room(struct sink *sink, struct mono until)
{
	struct pollfd watched = { .fd = sink->fd, .events = POLLOUT };
	int64_t ms;
	int count;

	do {
		ms = sink->full ? 0 : mono_diff_ms(until, mono_now());
		count = poll(&watched, 1, ms > 0 ? (int)ms : 0);
	} while (count < 0 && errno == EINTR);
	sink->full = count == 0;
	return count > 0;
}

/*
 * The size of a write that is taken at once and does not block, if there is any
 * room.
 */
static size_t
portion(const struct sink *sink, size_t len)
{
	struct stat status;

	if (len <= PIPE_BUF ||
	    (fstat(sink->fd, &status) == 0 && S_ISREG(status.st_mode)))
		return len;
	return PIPE_BUF;
}

static bool
put(struct sink *sink, const char *text, size_t len)
{
	struct mono until = mono_add_ms(mono_now(), WAIT_MS);
	size_t most = portion(sink, len);
	ssize_t count;

	while (len > 0 && has_room(sink, until)) {
		count = write(sink->fd, text, len < most ? len : most);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		sink->cut = text[count - 1] != '\n';
		text += count;
		len -= (size_t)count;
	}
	return len == 0;
}

bool
sink_write(struct sink *sink, const char *lines, size_t len)
{
	return (!sink->cut || put(sink, "\n", 1)) && put(sink, lines, len);
}
