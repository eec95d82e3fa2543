#include "driver/transport/outcome.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/mem.h"
#include "common/utf8.h"
#include "driver/secret/redact.h"
#include "driver/transport/tail.h"

void
outcome_init(struct outcome *outcome)
{
	outcome->event = OUTCOME_RESPONSE;
	buf_init(&outcome->body, 0);
}

void
outcome_error(struct outcome *outcome, const char *kind, const char *detail,
    const char *format, ...)
{
	struct buf *body = &outcome->body;
	char *message;
	va_list args;

	va_start(args, format);
	message = xvasprintf(format, args);
	va_end(args);
	outcome->event = OUTCOME_ERROR;
	buf_truncate(body, 0);
	buf_addc(body, '{');
	outcome_add_member(body, "kind", kind);
	outcome_add_member(body, "message", message);
	if (detail != NULL)
		buf_addf(body, ",\"detail\":%s", detail);
	buf_addc(body, '}');
	free(message);
}

void
outcome_exited(
    struct outcome *outcome, int exit_code, struct tail *out, struct tail *err)
{
	struct buf *json = &outcome->body;

	buf_addf(json, "{\"exit_code\":%d,\"stdout\":", exit_code);
	outcome_add_tail(json, out);
	buf_adds(json, ",\"stderr\":");
	outcome_add_tail(json, err);
	buf_addc(json, '}');
}

void
outcome_too_large(struct outcome *outcome, size_t bytes)
{
	outcome_release(outcome);
	outcome_error(outcome, "output", NULL,
	    "the outcome has %zu bytes as JSON, more than the %d of a report",
	    bytes, OUTCOME_MAX_BYTES);
}

void
outcome_release(struct outcome *outcome)
{
	buf_release(&outcome->body);
}

/* Replaces each byte that is not text. */
static const char unknown[] = "\xef\xbf\xbd";

void
outcome_add_clean(struct buf *buf, const char *text, size_t len)
{
	size_t i, length;

	for (i = 0; i<len; i += length> 0 ? length : 1) {
		length = utf8_sequence(text + i, len - i);
		if (length > 0 && text[i] != '\0')
			buf_add(buf, text + i, length);
		else
			buf_adds(buf, unknown);
	}
}

void
outcome_add_text(struct buf *buf, const char *text, size_t len)
{
	struct buf clean;

	if (memchr(text, '\0', len) == NULL && json_add_string(buf, text, len))
		return;
	buf_init(&clean, 0);
	outcome_add_clean(&clean, text, len);
	json_add_string(buf, clean.data, clean.len);
	buf_release(&clean);
}

/* The length of the first character; `*written` is its length in the JSON. */
static size_t
measure(const char *text, size_t len, size_t *written)
{
	size_t length = utf8_sequence(text, len);

	if (length > 0 && *text != '\0') {
		*written = json_string_size(text, length);
		return length;
	}
	*written = strlen(unknown);
	return 1;
}

/* How many bytes to cut at the beginning, so that the rest is short enough. */
static size_t
excess(const struct buf *text, size_t limit)
{
	size_t i, written, cut = 0, size = 0;

	for (i = 0; i < text->len; size += written)
		i += measure(text->data + i, text->len - i, &written);
	for (; size > limit; size -= written)
		cut += measure(text->data + cut, text->len - cut, &written);
	return cut;
}

void
outcome_add_tail(struct buf *buf, struct tail *tail)
{
	struct buf text;

	tail_trim(tail);
	tail_cut(tail, excess(&tail->kept, tail->limit));
	if (tail->cut == 0) {
		outcome_add_text(buf, tail->kept.data, tail->kept.len);
		return;
	}
	redact_head(&tail->kept);
	buf_init(&text, 0);
	buf_addf(&text, "[%zu bytes cut]\n", tail->cut);
	buf_add(&text, tail->kept.data, tail->kept.len);
	outcome_add_text(buf, text.data, text.len);
	buf_release(&text);
}

void
outcome_add_member(struct buf *buf, const char *name, const char *value)
{
	if (buf->len > 0 && buf->data[buf->len - 1] != '{')
		buf_addc(buf, ',');
	outcome_add_text(buf, name, strlen(name));
	buf_addc(buf, ':');
	if (value != NULL)
		outcome_add_text(buf, value, strlen(value));
	else
		buf_adds(buf, "null");
}
