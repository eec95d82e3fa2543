#include "driver/transport/http/multi.h"

#include <stdlib.h>

#include "common/log.h"
#include "common/mem.h"
#include "runtime/loop.h"

struct http_multi {
	struct loop *loop;
	http_multi_done_fn *done;
	CURLM *curl;
	struct timer timer;
	CURL **idle; /* handles that wait to be used again */
	size_t idle_count, idle_most;
};

/* One socket of libcurl's. */
struct http_socket {
	struct http_multi *multi;
	curl_socket_t fd;
	struct loop_watch *watch;
};

/* The loop and libcurl ----------------------------------------------------- */

static void
take_messages(struct http_multi *multi)
{
	CURLMsg *message;
	CURLcode code;
	CURL *easy;
	char *arg;
	int left;

	while ((message = curl_multi_info_read(multi->curl, &left)) != NULL) {
		code = message->data.result;
		easy = message->easy_handle;
		curl_easy_getinfo(easy, CURLINFO_PRIVATE, &arg);
		curl_multi_remove_handle(multi->curl, easy);
		multi->done(arg, code);
	}
}

static void
act(struct http_multi *multi, curl_socket_t fd, int events)
{
	int running;

	curl_multi_socket_action(multi->curl, fd, events, &running);
	take_messages(multi);
}

static void
on_moment(void *arg)
{
	act(arg, CURL_SOCKET_TIMEOUT, 0);
}

static void
on_socket(void *arg, int events)
{
	struct http_socket *socket = arg;

	act(socket->multi, socket->fd,
	    (events & LOOP_READ ? CURL_CSELECT_IN : 0) |
	        (events & LOOP_WRITE ? CURL_CSELECT_OUT : 0));
}

/* libcurl asks to be told when `fd` is ready. */
static int
watch_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *known)
{
	struct http_multi *multi = arg;
	struct http_socket *socket = known;
	int events = (what & CURL_POLL_IN ? LOOP_READ : 0) |
	             (what & CURL_POLL_OUT ? LOOP_WRITE : 0);

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (socket != NULL)
			loop_unwatch(socket->watch);
		free(socket);
		curl_multi_assign(multi->curl, fd, NULL);
	} else if (socket != NULL) {
		loop_watch_set(socket->watch, events);
	} else {
		socket = xmalloc(sizeof(*socket));
		socket->multi = multi;
		socket->fd = fd;
		socket->watch =
		    loop_watch(multi->loop, fd, events, on_socket, socket);
		curl_multi_assign(multi->curl, fd, socket);
	}
	return 0;
}

/* libcurl asks to be called in `ms`. */
static int
set_moment(CURLM *curl, long ms, void *arg)
{
	struct http_multi *multi = arg;

	(void)curl;
	if (ms < 0)
		loop_timer_stop(multi->loop, &multi->timer);
	else
		loop_timer_set(multi->loop, &multi->timer, ms);
	return 0;
}

/* Handles ------------------------------------------------------------------ */

CURL *
http_multi_take(struct http_multi *multi)
{
	CURL *easy;

	if (multi->idle_count > 0)
		return multi->idle[--multi->idle_count];
	easy = curl_easy_init();
	if (easy == NULL)
		fatalx("cannot allocate a handle of libcurl");
	return easy;
}

bool
http_multi_begin(struct http_multi *multi, CURL *easy, void *arg)
{
	return curl_easy_setopt(easy, CURLOPT_PRIVATE, arg) == CURLE_OK &&
	       curl_multi_add_handle(multi->curl, easy) == CURLM_OK;
}

void
http_multi_abort(struct http_multi *multi, CURL *easy)
{
	/* harmless if the transfer has ended */
	curl_multi_remove_handle(multi->curl, easy);
}

void
http_multi_give(struct http_multi *multi, CURL *easy)
{
	http_multi_abort(multi, easy);
	if (multi->idle_count == multi->idle_most) {
		curl_easy_cleanup(easy);
		return;
	}
	curl_easy_reset(easy);
	multi->idle[multi->idle_count++] = easy;
}

/* Life --------------------------------------------------------------------- */

struct http_multi *
http_multi_new(struct loop *loop, size_t most, http_multi_done_fn *done)
{
	struct http_multi *multi = xcalloc(1, sizeof(*multi));
	CURLM *curl = curl_multi_init();
	bool ok;

	multi->loop = loop;
	multi->done = done;
	multi->curl = curl;
	multi->timer.fn = on_moment;
	multi->timer.arg = multi;
	multi->idle_most = most;
	multi->idle = xcalloc(most, sizeof(multi->idle[0]));
	/*
	 * by itself libcurl keeps four connections for each transfer under way,
	 * and so closes most of them whenever a batch ends
	 */
	ok = curl != NULL &&
	     curl_multi_setopt(curl, CURLMOPT_SOCKETFUNCTION, watch_socket) ==
	         CURLM_OK &&
	     curl_multi_setopt(curl, CURLMOPT_SOCKETDATA, multi) == CURLM_OK &&
	     curl_multi_setopt(curl, CURLMOPT_TIMERFUNCTION, set_moment) ==
	         CURLM_OK &&
	     curl_multi_setopt(curl, CURLMOPT_TIMERDATA, multi) == CURLM_OK &&
	     curl_multi_setopt(curl, CURLMOPT_MAXCONNECTS, (long)most) ==
	         CURLM_OK;
	if (!ok)
		fatalx("cannot start libcurl");
	return multi;
}

void
http_multi_free(struct http_multi *multi)
{
	if (multi == NULL)
		return;
	while (multi->idle_count > 0)
		curl_easy_cleanup(multi->idle[--multi->idle_count]);
	curl_multi_cleanup(multi->curl);
	loop_timer_stop(multi->loop, &multi->timer);
	free(multi->idle);
	free(multi);
}
