#include "driver/transport/ssh/link.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"
#include "driver/transport/ssh/client.h"
#include "driver/transport/ssh/mux.h"
#include "driver/transport/words.h"
#include "runtime/child.h"
#include "runtime/loop.h"

enum {
	CONNECT_MS = 60000, /* ssh's own limit does not cover logging in */
	AGAIN_MS = 50,      /* if the client is too busy */
	SAID_MAX = 65536,
};

struct ssh_link {
	struct loop *loop;
	const struct ssh_link_events *events;
	void *arg;
	char *socket;
	struct child *child; /* makes the connection */
	struct buf said;
	struct timer limit_timer, again_timer;
	int fd; /* the connection to the socket; -1: none yet */
	struct loop_watch *watch;
};

static void
say(const struct ssh_link *link, void (*add_message)(struct buf *message))
{
	struct buf message;

	buf_init(&message, 0);
	add_message(&message);
	(void)!send(
	    link->fd, message.data, message.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	buf_release(&message);
}

static void
on_readable(void *arg, int events)
{
	struct ssh_link *link = arg;
	char data[256];
	ssize_t len = read(link->fd, data, sizeof(data));

	(void)events;
	if (len > 0 || (len < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	link->events->down(link->arg, "the shared connection was lost");
}

/* False with errno set: EAGAIN for later, or it will not do. */
static bool
attach(struct ssh_link *link)
{
	link->fd = mux_connect(link->socket);
	if (link->fd < 0)
		return false;
	say(link, mux_add_hello);
	link->watch =
	    loop_watch(link->loop, link->fd, LOOP_READ, on_readable, link);
	return true;
}

static void
on_output(void *arg, enum pipe_stream which, const char *data, size_t len)
{
	struct ssh_link *link = arg;

	(void)which;
	(void)buf_add(&link->said, data, len);
}

/* The client is connected and in the background.  False: its socket is gone. */
static bool
go_on(struct ssh_link *link)
{
	if (attach(link)) {
		loop_timer_stop(link->loop, &link->limit_timer);
		child_free(link->child);
		link->child = NULL;
		link->events->up(link->arg);
		return true;
	}
	if (errno != EAGAIN)
		return false;
	loop_timer_set(link->loop, &link->again_timer, AGAIN_MS);
	return true;
}

static void
end(struct ssh_link *link)
{
	char *said;

	loop_timer_stop(link->loop, &link->limit_timer);
	said = ssh_client_last_line(&link->said);
	link->events->down(
	    link->arg, *said != '\0' ? said : "the connection failed");
	free(said);
}

static void
on_again(void *arg)
{
	struct ssh_link *link = arg;

	if (!go_on(link))
		end(link);
}

/* The process has ended: the client is in the background, or has failed. */
static void
on_ended(void *arg, int status)
{
	struct ssh_link *link = arg;

	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || !go_on(link))
		end(link);
}

static void
on_limit(void *arg)
{
	struct ssh_link *link = arg;

	link->events->down(link->arg, "the login took too long");
}

static const struct child_events child_events = {
	.output = on_output,
	.ended = on_ended,
};

struct ssh_link *
ssh_link_new(struct loop *loop, const struct config *config,
    const struct ssh_target *target, char *socket,
    const struct ssh_link_events *events, void *arg, struct error *err)
{
	struct ssh_link *link = xcalloc(1, sizeof(*link));
	struct words words = { 0 };
	char *path = xasprintf("ControlPath=%s", socket);
	/* the link stays for a while without us, if we are killed or slow */
	const char *const options[] = { "ControlMaster=yes", path,
		"ControlPersist=10", NULL };

	link->loop = loop;
	link->events = events;
	link->arg = arg;
	link->socket = socket;
	link->fd = -1;
	buf_init(&link->said, SAID_MAX);
	link->limit_timer.fn = on_limit;
	link->limit_timer.arg = link;
	link->again_timer.fn = on_again;
	link->again_timer.arg = link;
	ssh_client_options(&words, config, options);
	words_add(&words, "-N");
	ssh_client_target(&words, target);
	link->child = ssh_client_start(loop, &words, &child_events, link, err);
	words_release(&words);
	free(path);
	if (link->child == NULL) {
		ssh_link_free(link);
		return NULL;
	}
	child_close_input(link->child);
	loop_timer_set(loop, &link->limit_timer, CONNECT_MS);
	return link;
}

const char *
ssh_link_socket(const struct ssh_link *link)
{
	return link->socket;
}

void
ssh_link_free(struct ssh_link *link)
{
	if (link == NULL)
		return;
	loop_timer_stop(link->loop, &link->limit_timer);
	loop_timer_stop(link->loop, &link->again_timer);
	child_free(link->child);
	if (link->watch != NULL)
		say(link, mux_add_terminate);
	loop_unwatch(link->watch);
	if (link->fd >= 0)
		close(link->fd);
	(void)unlink(link->socket);
	free(link->socket);
	buf_release(&link->said);
	free(link);
}
