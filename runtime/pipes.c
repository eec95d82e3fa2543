#include "runtime/pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/loop.h"

enum {
	CHUNK = 32768,
};

static void
end_close(struct pipe_end *end)
{
	if (end->fd < 0)
		return;
	loop_unwatch(end->watch);
	close(end->fd);
	end->fd = -1;
}

/* What comes --------------------------------------------------------------- */

/* Hand over some bytes, and return how many; 0 or less: none now. */
static ssize_t
receive(struct pipe_end *end)
{
	struct pipes *pipes = end->pipes;
	char data[CHUNK];
	ssize_t len = read(end->fd, data, sizeof(data));

	if (len > 0)
		pipes->output(pipes->arg, end->stream, data, (size_t)len);
	else if (len == 0 || (errno != EAGAIN && errno != EINTR))
		end_close(end);
	return len;
}

static void
on_readable(void *arg, int events)
{
	(void)events;
	(void)receive(arg);
}

static void
end_finish(struct pipe_end *end)
{
	ssize_t len;
	int left;

	if (end->fd < 0 || ioctl(end->fd, FIONREAD, &left) < 0)
		return;
	while (left > 0 && (len = receive(end)) > 0)
		left -= (int)len;
	end_close(end);
}

void
pipes_finish(struct pipes *pipes)
{
	end_finish(&pipes->outs[PIPE_OUT]);
	end_finish(&pipes->outs[PIPE_ERR]);
}

/* What goes ---------------------------------------------------------------- */

static void
on_writable(void *arg, int events)
{
	struct pipe_end *end = arg;
	struct pipes *pipes = end->pipes;
	struct buf *input = &pipes->input;
	ssize_t len;

	if (input->len == 0) {
		/* an error, which counts as both events: nobody reads */
		if (events & LOOP_READ)
			end_close(end);
		return;
	}
	len = write(
	    end->fd, input->data + pipes->written, input->len - pipes->written);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len < 0) {
		/* the command does not want to read, which is no error */
		end_close(end);
		return;
	}
	pipes->written += (size_t)len;
	if (pipes->written < input->len)
		return;
	buf_release(input);
	pipes->written = 0;
	if (pipes->close_input)
		end_close(end);
	else
		loop_watch_set(end->watch, 0);
}

/*
 * Drop the bytes that were written, if they are at least as many as the rest.
 * So no more bytes are moved than were written.
 */
static void
drop_written(struct pipes *pipes)
{
	struct buf *input = &pipes->input;
	size_t left = input->len - pipes->written;

	if (pipes->written < left)
		return;
	memmove(input->data, input->data + pipes->written, left);
	buf_truncate(input, left);
	pipes->written = 0;
}

void
pipes_write(struct pipes *pipes, const void *data, size_t len)
{
	if (pipes->in.fd < 0 || len == 0)
		return;
	drop_written(pipes);
	buf_add(&pipes->input, data, len);
	loop_watch_set(pipes->in.watch, LOOP_WRITE);
}

void
pipes_close_input(struct pipes *pipes)
{
	pipes->close_input = true;
	if (pipes->input.len == 0)
		end_close(&pipes->in);
}

/* Life --------------------------------------------------------------------- */

/* Three pairs, close-on-exec; false with errno set. */
static bool
open_pairs(int pairs[3][2])
{
	int i;

	for (i = 0; i < 3; i++)
		if (pipe2(pairs[i], O_CLOEXEC) < 0) {
			while (i-- > 0) {
				close(pairs[i][0]);
				close(pairs[i][1]);
			}
			return false;
		}
	return true;
}

static void
end_open(struct pipe_end *end, struct pipes *pipes, int fd, int events,
    loop_watch_fn *fn)
{
	fcntl(fd, F_SETFL, O_NONBLOCK);
	end->pipes = pipes;
	end->fd = fd;
	end->watch = loop_watch(pipes->loop, fd, events, fn, end);
}

bool
pipes_open(struct pipes *pipes, struct loop *loop, int others[3],
    pipes_output_fn *output, void *arg)
{
	int pairs[3][2], i;

	if (!open_pairs(pairs))
		return false;
	*pipes = (struct pipes){ .loop = loop, .output = output, .arg = arg };
	buf_init_secret(&pipes->input, 0); /* secrets go there */
	end_open(&pipes->in, pipes, pairs[0][1], 0, on_writable);
	others[0] = pairs[0][0];
	for (i = 0; i < 2; i++) {
		pipes->outs[i].stream = i == 0 ? PIPE_OUT : PIPE_ERR;
		end_open(&pipes->outs[i], pipes, pairs[i + 1][0], LOOP_READ,
		    on_readable);
		others[i + 1] = pairs[i + 1][1];
	}
	return true;
}

void
pipes_close(struct pipes *pipes)
{
	end_close(&pipes->in);
	end_close(&pipes->outs[PIPE_OUT]);
	end_close(&pipes->outs[PIPE_ERR]);
	buf_release(&pipes->input);
}
