/*
 * What the client that holds a shared connection answers.  In pieces it means
 * the same as at once.  The first byte decides about them.
 */
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "driver/transport/ssh/mux.h"
#include "tests/fuzz/fuzz.h"

/*
 * Read the answers in `data`, note them in `log`, and return how many bytes
 * they have.  `broken` is set if the rest can't be read.
 */
static size_t
read_answers(const char *data, size_t len, struct buf *log, bool *broken)
{
	struct mux_answer answer;
	size_t at = 0, size;

	while (
	    !*broken && (size = mux_read(data + at, len - at, &answer)) > 0) {
		MUST(size <= len - at);
		*broken = answer.kind == MUX_BROKEN;
		if (answer.kind == MUX_EXITED)
			buf_addf(
			    log, "exited %lu\n", (unsigned long)answer.status);
		else
			buf_addf(log, "%d\n", (int)answer.kind);
		if (answer.kind == MUX_REFUSED) {
			MUST(answer.text >= data + at);
			MUST(answer.text_len <= size);
			MUST(answer.text - data <=
			     (ptrdiff_t)(at + size - answer.text_len));
			buf_add(log, answer.text, answer.text_len);
			buf_addc(log, '\n');
		}
		at += size;
	}
	return at;
}

/* As a session reads them: what is not whole waits for the next piece. */
static size_t
read_pieces(
    const char *text, size_t len, unsigned seed, struct buf *log, bool *broken)
{
	struct buf kept;
	size_t i, piece, at, sum = 0;

	buf_init(&kept, 0);
	for (i = 0; i < len && !*broken; i += piece) {
		piece = fuzz_piece(&seed, len - i);
		buf_add(&kept, text + i, piece);
		at = read_answers(kept.data, kept.len, log, broken);
		memmove(kept.data, kept.data + at, kept.len - at);
		buf_truncate(&kept, kept.len - at);
		sum += at;
	}
	buf_release(&kept);
	return sum;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;
	struct buf once, pieces;
	bool once_broken = false, pieces_broken = false;
	size_t once_read, pieces_read;

	if (size == 0)
		return 0;
	buf_init(&once, 0);
	buf_init(&pieces, 0);
	once_read = read_answers(text, size - 1, &once, &once_broken);
	pieces_read =
	    read_pieces(text, size - 1, 1U + data[0], &pieces, &pieces_broken);
	MUST(once_broken == pieces_broken);
	/* of what is broken, all that has come is gone */
	MUST(once_broken ? once_read == size - 1 : once_read == pieces_read);
	MUST(once.len == pieces.len);
	MUST(memcmp(once.data, pieces.data, once.len) == 0);
	buf_release(&pieces);
	buf_release(&once);
	return 0;
}
