#include "driver/transport/output.h"

#include "common/utf8.h"
#include "driver/secret/redact.h"
#include "driver/transport/outcome.h"

enum {
	LIMIT = 32768, /* of a stream; it may grow to twice that, see tail.h */
	LONGEST = 4,   /* character */
};

void
output_init(struct output *output, void (*fresh)(void *arg), void *arg)
{
	*output = (struct output){ .fresh = fresh, .arg = arg };
	tail_init(&output->streams[PIPE_OUT], LIMIT);
	tail_init(&output->streams[PIPE_ERR], LIMIT);
}

void
output_release(struct output *output)
{
	tail_release(&output->streams[PIPE_OUT]);
	tail_release(&output->streams[PIPE_ERR]);
}

void
output_add(struct output *output, enum pipe_stream stream, const char *data,
    size_t len)
{
	if (output == NULL || len == 0)
		return;
	tail_add(&output->streams[stream], data, len);
	output->fresh(output->arg);
}

/* How many bytes at the end are the beginning of a character. */
static size_t
unfinished(const struct buf *text)
{
	static const unsigned char first[] = { 0, 0, 0xc2, 0xe0, 0xf0 };
	size_t n;

	for (n = 1; n < LONGEST && n <= text->len; n++) {
		unsigned char c = (unsigned char)text->data[text->len - n];

		if (c >= first[n + 1] && c <= 0xf4)
			return n;
		if (c < 0x80 || c >= 0xc0)
			return 0;
	}
	return 0;
}

/* How many bytes at the end have to wait for the bytes that follow. */
static size_t
waiting(const struct buf *text)
{
	size_t character = unfinished(text);
	size_t secret = redact_waiting(text->data, text->len);

	return secret > character ? secret : character;
}

/* Add the bytes, safe to show. */
static void
add_shown(struct buf *text, const struct tail *tail, size_t len)
{
	struct buf copy;

	buf_init_secret(&copy, 0);
	buf_add(&copy, tail->kept.data, len);
	if (tail->cut > 0)
		redact_head(&copy);
	redact_text(&copy);
	outcome_add_clean(text, copy.data, copy.len);
	buf_release(&copy);
}

bool
output_take(struct output *output, enum pipe_stream stream, bool all,
    struct output_piece *piece)
{
	struct tail *tail = &output->streams[stream];
	size_t len = tail->kept.len;

	if (!all)
		len -= waiting(&tail->kept);
	if (len == 0)
		return false;
	piece->start = output->start + (int64_t)tail->cut;
	piece->size = (int64_t)len;
	output->start = piece->start + piece->size;
	buf_init(&piece->text, 0);
	add_shown(&piece->text, tail, len);
	tail_skip(tail, len);
	tail->cut = 0;
	return true;
}
