/*
 * Secrets are in nothing that leaves the driver, in any of the ways of writing
 * that driver/redact.h knows.  The first part is text, the others are secrets;
 * the text is tried with each of them in it, and alone.
 */
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "common/utf8.h"
#include "driver/outcome.h"
#include "driver/redact.h"
#include "tests/fuzz/fuzz.h"

/* A text, and the secret that it must not show. */
struct trial {
	const char *text;
	size_t len;
	const char *secret;
	size_t secret_len;
};

/* Ways of writing a secret. */
static void
write_plain(struct buf *out, const char *text, size_t len)
{
	buf_add(out, text, len);
}

static void
write_json(struct buf *out, const char *text, size_t len)
{
	struct buf quoted;

	buf_init(&quoted, 0);
	json_add_string(&quoted, text, len);
	buf_add(out, quoted.data + 1, quoted.len - 2);
	buf_release(&quoted);
}

static void
write_json_twice(struct buf *out, const char *text, size_t len)
{
	struct buf once;

	buf_init(&once, 0);
	write_json(&once, text, len);
	write_json(out, once.data, once.len);
	buf_release(&once);
}

static void
write_percent(struct buf *out, const char *text, size_t len)
{
	for (; len > 0; text++, len--)
		if (memchr("-._~", *text, 4) != NULL ||
		    (*text >= '0' && *text <= '9') ||
		    (*text >= 'A' && *text <= 'Z') ||
		    (*text >= 'a' && *text <= 'z'))
			buf_addc(out, *text);
		else
			buf_addf(out, "%%%02X", (unsigned char)*text);
}

/* Only the digits that `text` alone decides. */
static void
write_base64(struct buf *out, const char *text, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                             "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *c = (const unsigned char *)text;

	for (; len >= 3; c += 3, len -= 3) {
		buf_addc(out, digits[c[0] >> 2]);
		buf_addc(out, digits[(c[0] & 3) << 4 | c[1] >> 4]);
		buf_addc(out, digits[(c[1] & 15) << 2 | c[2] >> 6]);
		buf_addc(out, digits[c[2] & 63]);
	}
	if (len > 0)
		buf_addc(out, digits[c[0] >> 2]);
	if (len > 1)
		buf_addc(out, digits[(c[0] & 3) << 4 | c[1] >> 4]);
}

typedef void write_fn(struct buf *out, const char *text, size_t len);

static write_fn *const ways[] = { write_plain, write_json, write_json_twice,
	write_percent, write_base64 };

/* In text of any kind. */
static void
try_text(const struct trial *trial, write_fn *write)
{
	struct buf text, hidden;

	buf_init(&text, 0);
	buf_init(&hidden, 0);
	write(&hidden, trial->secret, trial->secret_len);
	buf_add(&text, trial->text, trial->len / 2);
	buf_add(&text, hidden.data, hidden.len);
	buf_add(
	    &text, trial->text + trial->len / 2, trial->len - trial->len / 2);
	redact_text(&text);
	MUST(hidden.len < REDACT_MIN ||
	     !fuzz_has(text.data, text.len, hidden.data, hidden.len));
	buf_release(&hidden);
	buf_release(&text);
}

/* In a report, which is read by people who see its strings. */
static void
try_report(const struct trial *trial, write_fn *write)
{
	struct error err = { 0 };
	struct json *value = NULL;
	struct buf text, hidden, report;

	buf_init(&text, 0);
	buf_init(&hidden, 0);
	buf_init(&report, 0);
	write(&hidden, trial->secret, trial->secret_len);
	buf_add(&text, trial->text, trial->len);
	buf_add(&text, hidden.data, hidden.len);
	outcome_add_text(&report, text.data, text.len);
	redact_json(&report);
	MUST(fuzz_is_json(report.data, report.len));
	MUST(json_parse(report.data, report.len, &value, &err));
	MUST(hidden.len < REDACT_MIN ||
	     !fuzz_has(json_string(value), json_string_length(value),
	         hidden.data, hidden.len));
	json_free(value);
	buf_release(&report);
	buf_release(&hidden);
	buf_release(&text);
}

/* Stars stand for secrets: one with a star could come about anew. */
static bool
is_secret(const char *text, size_t len)
{
	return len >= REDACT_MIN && utf8_valid(text, len) &&
	       memchr(text, '\0', len) == NULL &&
	       memchr(text, '*', len) == NULL;
}

static void
try_secrets(struct fuzz_input *input, struct trial *trial, bool add)
{
	struct fuzz_input rest = *input;
	char *secret;
	size_t i;

	while (rest.left > 0) {
		secret = fuzz_part(&rest, &trial->secret_len);
		trial->secret = secret;
		if (is_secret(secret, trial->secret_len)) {
			if (add)
				redact_add(secret, trial->secret_len);
			for (i = 0; !add && i < sizeof(ways) / sizeof(*ways);
			     i++) {
				try_text(trial, ways[i]);
				/* which writes it as JSON once more */
				if (ways[i] != write_json_twice)
					try_report(trial, ways[i]);
			}
		}
		free(secret);
	}
}

/* JSON of somebody else stays what it is: JSON. */
static void
try_json(const struct trial *trial)
{
	struct buf json;

	buf_init(&json, 0);
	buf_add(&json, trial->text, trial->len);
	redact_json(&json);
	if (fuzz_is_json(trial->text, trial->len))
		MUST(fuzz_is_json(json.data, json.len));
	buf_release(&json);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { (const char *)data, size };
	struct trial trial = { 0 };
	char *text = fuzz_part(&input, &trial.len);

	trial.text = text;
	try_secrets(&input, &trial, true);
	try_secrets(&input, &trial, false);
	try_json(&trial);
	redact_clear();
	free(text);
	return 0;
}
