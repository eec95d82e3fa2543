/*
 * Secrets are in nothing that leaves the driver, in any of the ways of writing
 * that driver/secret/redact.h knows.  The first part is text, the others are secrets;
 * the text is tried with each of them in it, and alone.  A second reader, which
 * is slow and simple, says what must be found, and where.
 */
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "common/utf8.h"
#include "driver/secret/known.h"
#include "driver/secret/redact.h"
#include "driver/transport/outcome.h"
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

/* As PHP, .NET and others do: any character may be an escape. */
static void
write_json_escaped(struct buf *out, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (text[i] == '/')
			buf_adds(out, "\\/");
		else if ((unsigned char)text[i] < 0x80)
			buf_addf(out, i % 2 == 0 ? "\\u%04x" : "\\u%04X",
			    (unsigned char)text[i]);
		else
			buf_addc(out, text[i]);
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
	write_json_escaped, write_percent, write_base64 };

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
				known_let_go(
				    known_hold(secret, trial->secret_len));
			for (i = 0; !add && i < sizeof(ways) / sizeof(*ways);
			     i++) {
				try_text(trial, ways[i]);
				/* which writes it as JSON once more */
				try_report(trial, ways[i]);
			}
		}
		free(secret);
	}
}

/* The second reader -------------------------------------------------------- */

enum {
	REFERENCE_TEXT = 120, /* it takes its time */
	REFERENCE_SECRETS = 8,
};

/* A character, and where the text goes on behind it. */
struct item {
	char bytes[4];
	size_t count, end;
};

struct items {
	struct item items[REFERENCE_TEXT + 1];
	size_t count;
};

static bool
item_is(const struct items *in, size_t i, char byte)
{
	return i < in->count && in->items[i].count == 1 &&
	       in->items[i].bytes[0] == byte;
}

/* The number that `digits` items are in base 16; -1: none, -2: too few items. */
static long
number_at(const struct items *in, size_t i, size_t digits)
{
	char text[5] = "";
	size_t k;

	for (k = 0; k < digits; k++) {
		if (i + k >= in->count)
			return -2;
		if (in->items[i + k].count != 1 ||
		    in->items[i + k].bytes[0] == '\0' ||
		    strchr("0123456789abcdefABCDEF",
		        in->items[i + k].bytes[0]) == NULL)
			return -1;
		text[k] = in->items[i + k].bytes[0];
	}
	return strtol(text, NULL, 16);
}

static void
put_code(struct item *item, unsigned long code)
{
	item->count = 0;
	if (code < 0x80) {
		item->bytes[item->count++] = (char)code;
		return;
	}
	if (code >= 0x10000) {
		item->bytes[item->count++] = (char)(0xf0 | code >> 18);
		item->bytes[item->count++] = (char)(0x80 | (code >> 12 & 63));
	} else if (code >= 0x800) {
		item->bytes[item->count++] = (char)(0xe0 | code >> 12);
	}
	if (code >= 0x800)
		item->bytes[item->count++] = (char)(0x80 | (code >> 6 & 63));
	else
		item->bytes[item->count++] = (char)(0xc0 | code >> 6);
	item->bytes[item->count++] = (char)(0x80 | (code & 63));
}

/* \uXXXX at `i`, or a pair of them; how many items; 0: no such thing, -1: cut. */
static int
code_at(const struct items *in, size_t i, struct item *item)
{
	long code = number_at(in, i + 2, 4), low;

	if (code < 0)
		return code == -1 ? 0 : -1;
	put_code(item, (unsigned long)code);
	if (code < 0xd800 || code > 0xdbff)
		return 6;
	if (i + 6 >= in->count)
		return -1;
	if (!item_is(in, i + 6, '\\'))
		return 6;
	if (i + 7 >= in->count)
		return -1;
	if (!item_is(in, i + 7, 'u'))
		return 6;
	low = number_at(in, i + 8, 4);
	if (low == -2)
		return -1;
	if (low < 0xdc00 || low > 0xdfff)
		return 6;
	put_code(item, 0x10000 + ((unsigned long)code - 0xd800) * 1024 +
	                   ((unsigned long)low - 0xdc00));
	return 12;
}

/* As a reader of JSON sees the inside of a string. */
static void
undo_json(struct items *in)
{
	static const char *const pairs[] = { "\"\"", "\\\\", "//", "b\b", "f\f",
		"n\n", "r\r", "t\t" };
	struct items out = { .count = 0 };
	size_t i, k;
	int len;

	for (i = 0; i < in->count; i += (size_t)len) {
		struct item *item = &out.items[out.count];

		len = 1;
		*item = in->items[i];
		if (item_is(in, i, '\\')) {
			if (i + 1 >= in->count)
				break;
			for (k = 0; k < 8; k++)
				if (item_is(in, i + 1, pairs[k][0])) {
					item->bytes[0] = pairs[k][1];
					len = 2;
				}
			if (item_is(in, i + 1, 'u')) {
				len = code_at(in, i, item);
				if (len < 0)
					break;
				if (len == 0)
					len = 1;
			}
		}
		item->end = in->items[i + (size_t)len - 1].end;
		out.count++;
	}
	*in = out;
}

static void
undo_percent(struct items *in, bool plus)
{
	struct items out = { .count = 0 };
	size_t i, len;

	for (i = 0; i < in->count; i += len) {
		struct item *item = &out.items[out.count];

		len = 1;
		*item = in->items[i];
		if (plus && item_is(in, i, '+'))
			item->bytes[0] = ' ';
		if (item_is(in, i, '%')) {
			long code = number_at(in, i + 1, 2);

			if (code == -2)
				break;
			if (code >= 0) {
				item->bytes[0] = (char)code;
				len = 3;
			}
		}
		item->end = in->items[i + len - 1].end;
		out.count++;
	}
	*in = out;
}

/* How much of the text is `form`, if it is read so; 0: nothing. */
static size_t
form_at(const struct items *read, const char *form, size_t len)
{
	size_t i, at = 0;

	for (i = 0; i < read->count && at < len; i++) {
		const struct item *item = &read->items[i];

		if (item->count > len - at ||
		    memcmp(item->bytes, form + at, item->count) != 0)
			return 0;
		at += item->count;
		if (at == len)
			return item->end;
	}
	return 0;
}

/* A secret as it is, each of its lines, and in base 64. */
static size_t
secret_at(const struct items *read, const char *secret, size_t len)
{
	static const char *const digits[] = {
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789+/",
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789-_",
	};
	size_t i, k, before, bit, found, best = form_at(read, secret, len);
	struct buf form;

	for (i = 0; i < len; i = k + 1) {
		const char *end = memchr(secret + i, '\n', len - i);

		k = end != NULL ? (size_t)(end - secret) : len;
		found = k > i && secret[k - 1] == '\r' ? k - 1 : k;
		found =
		    found >= i + 8 ? form_at(read, secret + i, found - i) : 0;
		best = found > best ? found : best;
	}
	for (i = 0; i < 2; i++)
		for (before = 0; before < 3; before++) {
			buf_init(&form, 0);
			/* bit by bit; what others have a part in is left out */
			for (bit = before == 0 ? 0 : 6 * before + 6;
			     bit + 6 <= 8 * (before + len); bit += 6) {
				unsigned digit = 0;

				for (k = bit; k < bit + 6; k++)
					digit =
					    digit * 2 +
					    ((unsigned char)secret[k / 8 -
					                           before] >>
					            (7 - k % 8) &
					        1);
				buf_addc(&form, digits[i][digit]);
			}
			found = form_at(read, form.data, form.len);
			best = found > best ? found : best;
			buf_release(&form);
		}
	return best;
}

/* How much of the text is a secret, in any reading of it. */
static size_t
reference_at(const char *text, size_t len, char *const *secrets,
    const size_t *lengths, size_t count)
{
	struct items raw = { .count = 0 }, read;
	size_t i, k, found, best = 0;

	for (; raw.count < len; raw.count++)
		raw.items[raw.count] = (struct item){
			.bytes = { text[raw.count] },
			.count = 1,
			.end = raw.count + 1,
		};
	for (i = 0; i < 6; i++) {
		read = raw;
		for (k = 0; k < (i < 4 ? i : 1); k++)
			undo_json(&read);
		if (i >= 4)
			undo_percent(&read, i == 5);
		for (k = 0; k < count; k++) {
			found = secret_at(&read, secrets[k], lengths[k]);
			best = found > best ? found : best;
		}
	}
	return best;
}

static void
try_reference(const struct trial *trial, struct fuzz_input input)
{
	size_t len = trial->len < REFERENCE_TEXT ? trial->len : REFERENCE_TEXT;
	size_t lengths[REFERENCE_SECRETS], count = 0, i, found;
	char *secrets[REFERENCE_SECRETS];
	struct buf text, expected;

	known_clear();
	while (input.left > 0 && count < REFERENCE_SECRETS) {
		secrets[count] = fuzz_part(&input, &lengths[count]);
		if (is_secret(secrets[count], lengths[count])) {
			known_let_go(
			    known_hold(secrets[count], lengths[count]));
			count++;
		} else {
			free(secrets[count]);
		}
	}
	buf_init(&text, 0);
	buf_init(&expected, 0);
	buf_add(&text, trial->text, len);
	for (i = 0; i<len; i += found> 0 ? found : 1) {
		found = reference_at(
		    trial->text + i, len - i, secrets, lengths, count);
		if (found > 0)
			buf_adds(&expected, "***");
		else
			buf_addc(&expected, trial->text[i]);
	}
	redact_text(&text);
	MUST(text.len == expected.len &&
	     memcmp(text.data, expected.data, text.len) == 0);
	buf_release(&expected);
	buf_release(&text);
	while (count > 0)
		free(secrets[--count]);
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
	try_reference(&trial, input);
	known_clear();
	free(text);
	return 0;
}
