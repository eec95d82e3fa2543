#include "driver/transport/ssh/session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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
	AGAIN_MS =
	    20, /* if the shared connection's client, or the kernel, is too busy */
	CLIENT_MS = 1000, /* for a client to end whose command is over */
	LINGER_MS = 100,  /* the same for a session */
	ANSWER_SIZE = 4096,
};

struct ssh_session {
	struct loop *loop;
	const struct ssh_session_events *events;
	void *arg;

	struct child *child; /* NULL: the session is on a shared connection */

	char *socket;
	int fd; /* -1: not connected */
	struct loop_watch *watch;
	struct buf request; /* what we say; `sent` bytes are there */
	size_t sent;
	int streams[3]; /* the command's; -1: given away */
	struct buf answers;
	struct pipes pipes;
	struct timer again_timer;
	struct loop_call end_call;
	int code;
	char *reason; /* NULL: the command has ended */
};

/* The end of a shared session ------------------------------------------------ */

static void
forget_streams(struct ssh_session *session)
{
	int i;

	for (i = 0; i < 3; i++) {
		if (session->streams[i] >= 0)
			close(session->streams[i]);
		session->streams[i] = -1;
	}
}

/* If the session stands, this ends it. */
static void
hang_up(struct ssh_session *session)
{
	loop_timer_stop(session->loop, &session->again_timer);
	loop_unwatch(session->watch);
	session->watch = NULL;
	if (session->fd >= 0)
		close(session->fd);
	session->fd = -1;
	forget_streams(session);
}

static void
set_reason(struct ssh_session *session, int code, char *reason)
{
	free(session->reason);
	session->reason = reason;
	session->code = code;
}

static void
on_end(void *arg)
{
	struct ssh_session *session = arg;

	pipes_finish(&session->pipes);
	session->events->ended(session->arg, session->code, session->reason);
}

static void
end_later(struct ssh_session *session)
{
	hang_up(session);
	loop_later(session->loop, &session->end_call);
}

/* Its beginning -------------------------------------------------------------- */

/* Take an answer; false: it is the last. */
static bool
take_answer(struct ssh_session *session, const struct mux_answer *answer)
{
	switch (answer->kind) {
	case MUX_OPENED:
	case MUX_OTHER:
		return true;
	case MUX_EXITED:
		/* some output may come yet: the session is not closed */
		set_reason(session, (int)(answer->status & 255), NULL);
		return true;
	case MUX_REFUSED:
		set_reason(session, SSH_SESSION_REFUSED,
		    xstrndup(answer->text, answer->text_len));
		return false;
	case MUX_BROKEN:
		break;
	}
	set_reason(session, SSH_SESSION_REFUSED,
	    xstrdup("the shared connection gave a wrong answer"));
	return false;
}

static void
take_answers(struct ssh_session *session)
{
	struct buf *answers = &session->answers;
	struct mux_answer answer;
	size_t at = 0, len;
	bool more = true;

	while (more && (len = mux_read(answers->data + at, answers->len - at,
	                    &answer)) > 0) {
		more = take_answer(session, &answer);
		at += len;
	}
	memmove(answers->data, answers->data + at, answers->len - at);
	buf_truncate(answers, answers->len - at);
	if (!more)
		end_later(session);
}

static void
receive(struct ssh_session *session)
{
	char data[ANSWER_SIZE];
	ssize_t len = read(session->fd, data, sizeof(data));

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len <= 0) {
		/* the session is closed, or the connection is gone */
		end_later(session);
		return;
	}
	buf_add(&session->answers, data, (size_t)len);
	take_answers(session);
}

/* Say what is left of the request; false with errno set: EAGAIN for later. */
static bool
say_request(struct ssh_session *session)
{
	const struct buf *request = &session->request;
	ssize_t len;
	int i;

	while (session->sent < request->len) {
		len = send(session->fd, request->data + session->sent,
		    request->len - session->sent, MSG_NOSIGNAL);
		if (len < 0)
			return false;
		session->sent += (size_t)len;
	}
	for (i = 0; i < 3; i++) {
		if (session->streams[i] < 0)
			continue;
		if (!mux_give(session->fd, session->streams[i]))
			return false;
		close(session->streams[i]);
		session->streams[i] = -1;
	}
	return true;
}

static void
on_traffic(void *arg, int events)
{
	struct ssh_session *session = arg;

	if (events & LOOP_WRITE) {
		if (say_request(session)) {
			loop_watch_set(session->watch, LOOP_READ);
		} else if (errno != EAGAIN && errno != EINTR) {
			/* a moment later, unless what we read is the end */
			loop_watch_set(session->watch, LOOP_READ);
			loop_timer_set(
			    session->loop, &session->again_timer, AGAIN_MS);
		}
	}
	if (events & LOOP_READ)
		receive(session);
}

static void
connect_now(struct ssh_session *session)
{
	session->fd = mux_connect(session->socket);
	if (session->fd >= 0) {
		session->watch = loop_watch(session->loop, session->fd,
		    LOOP_READ | LOOP_WRITE, on_traffic, session);
		return;
	}
	if (errno == EAGAIN) {
		loop_timer_set(session->loop, &session->again_timer, AGAIN_MS);
		return;
	}
	if (errno != ENOENT && errno != ECONNREFUSED)
		set_reason(session, SSH_SESSION_REFUSED,
		    xasprintf("the shared connection was not reached: %s",
		        strerror(errno)));
	end_later(session);
}

static void
on_again(void *arg)
{
	struct ssh_session *session = arg;

	if (session->fd < 0)
		connect_now(session);
	else
		loop_watch_set(session->watch, LOOP_READ | LOOP_WRITE);
}

static struct ssh_session *
session_new(
    struct loop *loop, const struct ssh_session_events *events, void *arg)
{
	struct ssh_session *session = xcalloc(1, sizeof(*session));

	session->loop = loop;
	session->events = events;
	session->arg = arg;
	return session;
}

struct ssh_session *
ssh_session_share(struct loop *loop, const char *socket, const char *command,
    const struct ssh_session_events *events, void *arg, struct error *err)
{
	struct ssh_session *session = session_new(loop, events, arg);
	char **env;

	if (!pipes_open(
	        &session->pipes, loop, session->streams, events->output, arg)) {
		error_set_errno(err, "cannot open pipes for a session");
		free(session);
		return NULL;
	}
	session->socket = xstrdup(socket);
	session->again_timer.fn = on_again;
	session->again_timer.arg = session;
	session->end_call.fn = on_end;
	session->end_call.arg = session;
	set_reason(session, SSH_SESSION_REFUSED,
	    xstrdup("the shared connection was lost"));
	buf_init(&session->request, 0);
	buf_init(&session->answers, 0);
	env = child_environment(NULL);
	mux_add_hello(&session->request);
	mux_add_session(&session->request, command, env);
	child_environment_free(env);
	connect_now(session);
	return session;
}

/* A client of its own -------------------------------------------------------- */

static void
on_output(void *arg, enum pipe_stream stream, const char *data, size_t len)
{
	struct ssh_session *session = arg;

	session->events->output(session->arg, stream, data, len);
}

static void
on_client_ended(void *arg, int status)
{
	struct ssh_session *session = arg;

	session->events->ended(session->arg,
	    WIFEXITED(status) ? WEXITSTATUS(status) : SSH_SESSION_KILLED, NULL);
}

static const struct child_events client_events = {
	.output = on_output,
	.ended = on_client_ended,
};

struct ssh_session *
ssh_session_alone(struct loop *loop, const struct words *words,
    const struct ssh_session_events *events, void *arg, struct error *err)
{
	struct ssh_session *session = session_new(loop, events, arg);

	session->child =
	    ssh_client_start(loop, words, &client_events, session, err);
	if (session->child != NULL)
		return session;
	free(session);
	return NULL;
}

/* Both ------------------------------------------------------------------------- */

void
ssh_session_write(struct ssh_session *session, const void *data, size_t len)
{
	if (session->child != NULL)
		child_write(session->child, data, len);
	else
		pipes_write(&session->pipes, data, len);
}

void
ssh_session_close_input(struct ssh_session *session)
{
	if (session->child != NULL)
		child_close_input(session->child);
	else
		pipes_close_input(&session->pipes);
}

int64_t
ssh_session_end(struct ssh_session *session)
{
	if (session->child == NULL)
		return LINGER_MS;
	child_signal(session->child, SIGTERM);
	return CLIENT_MS;
}

void
ssh_session_kill(struct ssh_session *session)
{
	if (session->child != NULL)
		child_signal(session->child, SIGKILL);
	else
		end_later(session);
}

void
ssh_session_free(struct ssh_session *session)
{
	if (session == NULL)
		return;
	if (session->child != NULL) {
		child_free(session->child);
		free(session);
		return;
	}
	hang_up(session);
	loop_cancel(session->loop, &session->end_call);
	pipes_close(&session->pipes);
	buf_release(&session->request);
	buf_release(&session->answers);
	free(session->socket);
	free(session->reason);
	free(session);
}
