/*
 * What a program writes is shown as it comes: taken away in pieces it is the
 * same as at once, and holds no secret.  The first part is the output, behind
 * its first byte, which decides about the pieces; the others are secrets.
 */
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/utf8.h"
#include "driver/secret/known.h"
#include "driver/secret/redact.h"
#include "driver/transport/output.h"
#include "tests/fuzz/fuzz.h"

static void
on_fresh(void *arg)
{
	(void)arg;
}

static void
take(struct output *output, bool all, struct buf *shown, int64_t *at)
{
	struct output_piece piece;

	if (!output_take(output, PIPE_OUT, all, &piece))
		return;
	MUST(piece.start == *at);
	MUST(utf8_valid(piece.text.data, piece.text.len));
	*at += piece.size;
	buf_add(shown, piece.text.data, piece.text.len);
	buf_release(&piece.text);
}

/* All of it; `seed` 0: at once. */
static void
show(struct buf *shown, const char *text, size_t len, unsigned seed)
{
	struct output output;
	int64_t at = 0;
	size_t i, piece;

	output_init(&output, on_fresh, NULL);
	for (i = 0; i < len; i += piece) {
		piece = seed == 0 ? len : fuzz_piece(&seed, len - i);
		output_add(&output, PIPE_OUT, text + i, piece);
		if (seed != 0 && seed & 0x10000U)
			take(&output, false, shown, &at);
	}
	take(&output, true, shown, &at);
	MUST(at == (int64_t)len);
	output_release(&output);
}

static void
add_secrets(struct fuzz_input *input)
{
	char *secret;
	size_t len;

	while (input->left > 0) {
		secret = fuzz_part(input, &len);
		if (len >= REDACT_MIN && utf8_valid(secret, len) &&
		    memchr(secret, '\0', len) == NULL)
			known_let_go(known_hold(secret, len));
		free(secret);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { (const char *)data, size };
	struct buf once, pieces;
	size_t len;
	char *text = fuzz_part(&input, &len);

	buf_init(&once, 0);
	buf_init(&pieces, 0);
	add_secrets(&input);
	if (len > 0) {
		show(&once, text + 1, len - 1, 0);
		show(&pieces, text + 1, len - 1, 1U + (unsigned char)*text);
		MUST(once.len == pieces.len &&
		     memcmp(once.data, pieces.data, once.len) == 0);
	}
	known_clear();
	buf_release(&pieces);
	buf_release(&once);
	free(text);
	return 0;
}
