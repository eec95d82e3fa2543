#include "driver/transport/ssh/stream.h"

#include <string.h>

#include "driver/transport/ssh/wrapper.h"

void
ssh_stream_init(struct ssh_stream *stream, size_t limit)
{
	*stream = (struct ssh_stream){ 0 };
	tail_init(&stream->text, limit);
}

void
ssh_stream_release(struct ssh_stream *stream)
{
	tail_release(&stream->text);
}

void
ssh_stream_reset(struct ssh_stream *stream)
{
	size_t limit = stream->text.limit;

	ssh_stream_release(stream);
	ssh_stream_init(stream, limit);
}

/* How many bytes come before a possible beginning of a record. */
static size_t
certain(const struct buf *text, const char *nonce)
{
	size_t len = strlen(nonce), n, at;

	at = text->len > SSH_RECORD_MAX ? text->len - SSH_RECORD_MAX : 0;
	for (; at < text->len; at++) {
		n = text->len - at < len ? text->len - at : len;
		if (memcmp(text->data + at, nonce, n) == 0)
			break;
	}
	return at;
}

static void
hand_over(struct ssh_stream *stream, const char *nonce, struct output *output,
    enum pipe_stream which)
{
	const struct tail *text = &stream->text;
	size_t from = stream->handed - text->cut, end;

	end = stream->ended ? text->kept.len : certain(&text->kept, nonce);
	if (end <= from)
		return;
	output_add(output, which, text->kept.data + from, end - from);
	stream->handed = text->cut + end;
}

/* The first record of this sort.  A record of the other sort is only output. */
static struct ssh_record_found
find(const struct buf *text, size_t from, const char *nonce,
    enum ssh_record wanted)
{
	struct ssh_record_found found;

	do {
		found = ssh_wrapper_find(text->data, text->len, from, nonce);
		from = found.at + found.length;
	} while (found.record != SSH_RECORD_NONE && found.record != wanted);
	return found;
}

/*
 * Add at most as many bytes as the tail is sure to keep, so that no byte is cut
 * before it is read.
 */
static void
add_part(
    struct ssh_stream *stream, const char *nonce, const char *data, size_t len)
{
	struct tail *text = &stream->text;
	struct ssh_record_found found;
	size_t fresh = len + SSH_RECORD_MAX; /* half a record may wait there */
	size_t from;

	tail_add(text, data, len);
	from = text->kept.len > fresh ? text->kept.len - fresh : 0;
	if (!stream->begun) {
		found = find(&text->kept, from, nonce, SSH_RECORD_BEGUN);
		if (found.record == SSH_RECORD_NONE)
			return;
		stream->begun = true;
		tail_skip(text, found.at + found.length);
		text->cut = 0;
		from = 0;
	}
	found = find(&text->kept, from, nonce, SSH_RECORD_EXIT);
	if (found.record == SSH_RECORD_EXIT) {
		stream->ended = true;
		stream->exit_code = found.exit_code;
		buf_truncate(&text->kept, found.at);
	}
}

void
ssh_stream_add(struct ssh_stream *stream, const char *nonce, const char *data,
    size_t len, struct output *output, enum pipe_stream which)
{
	size_t part;

	for (; len > 0 && !stream->ended; data += part, len -= part) {
		part = len < stream->text.limit ? len : stream->text.limit;
		add_part(stream, nonce, data, part);
		if (stream->begun)
			hand_over(stream, nonce, output, which);
	}
}
