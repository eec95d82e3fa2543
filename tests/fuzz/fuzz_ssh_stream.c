/*
 * What a host sends: noise of the login, the wrapper's records, output.  In
 * pieces it means the same as at once.  The first byte decides about them.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/transport/output.h"
#include "driver/transport/ssh/client.h"
#include "driver/transport/ssh/stream.h"
#include "driver/transport/ssh/wrapper.h"
#include "tests/fuzz/fuzz.h"

#define NONCE "0123456789abcdef0123456789abcdef"

enum { KEPT = 200 };

static void
on_fresh(void *arg)
{
	(void)arg;
}

static void
feed(struct ssh_stream *stream, struct output *output, const char *text,
    size_t len, unsigned seed)
{
	size_t i, piece;

	ssh_stream_init(stream, KEPT);
	output_init(output, on_fresh, NULL);
	for (i = 0; i < len; i += piece) {
		piece = seed == 0 ? len : fuzz_piece(&seed, len - i);
		ssh_stream_add(
		    stream, NONCE, text + i, piece, output, PIPE_OUT);
	}
	tail_trim(&stream->text);
}

/* The end of the same; how much of it is left depends on the pieces. */
static bool
same_tail(const struct tail *a, const struct tail *b)
{
	size_t len = a->kept.len < b->kept.len ? a->kept.len : b->kept.len;

	return a->cut + a->kept.len == b->cut + b->kept.len &&
	       memcmp(a->kept.data + a->kept.len - len,
	           b->kept.data + b->kept.len - len, len) == 0;
}

static void
check_pieces(const char *text, size_t len, unsigned seed)
{
	struct ssh_stream once, pieces;
	struct output once_shown, pieces_shown;

	feed(&once, &once_shown, text, len, 0);
	feed(&pieces, &pieces_shown, text, len, seed);
	MUST(once.begun == pieces.begun);
	MUST(once.ended == pieces.ended);
	MUST(once.exit_code == pieces.exit_code);
	if (once.ended) {
		MUST(same_tail(&once.text, &pieces.text));
		MUST(same_tail(&once_shown.streams[PIPE_OUT],
		    &pieces_shown.streams[PIPE_OUT]));
	}
	output_release(&pieces_shown);
	output_release(&once_shown);
	ssh_stream_release(&pieces);
	ssh_stream_release(&once);
}

static void
check_records(const char *text, size_t len)
{
	struct ssh_record_found found = { 0 };
	size_t from = 0;

	do {
		from = found.at + found.length;
		found = ssh_wrapper_find(text, len, from, NONCE);
		MUST(found.record == SSH_RECORD_NONE ||
		     (found.at >= from && found.at + found.length <= len));
	} while (found.record != SSH_RECORD_NONE);
}

static void
check_last_line(const char *text, size_t len)
{
	struct buf said;
	char *line;

	buf_init(&said, 0);
	buf_add(&said, text, len);
	line = ssh_client_last_line(&said);
	MUST(strchr(line, '\n') == NULL);
	free(line);
	buf_release(&said);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;

	if (size == 0)
		return 0;
	check_pieces(text + 1, size - 1, 1U + data[0]);
	check_records(text + 1, size - 1);
	check_last_line(text + 1, size - 1);
	return 0;
}
