#include "driver/transport/http/outcome.h"

#include <string.h>

#include "common/error.h"
#include "common/json.h"
#include "common/utf8.h"
#include "driver/secret/redact.h"
#include "driver/transport/http/exchange.h"
#include "driver/transport/http/response_headers.h"
#include "driver/transport/outcome.h"

enum {
	ERROR_BODY = 4096, /* bytes of a refused response in the error */
};

bool
http_outcome_response(
    struct outcome *outcome, const struct http_response *response)
{
	const struct buf *body = &response->body;
	struct buf *json = &outcome->body;
	size_t i, bytes;

	if (!utf8_valid(body->data, body->len) ||
	    memchr(body->data, '\0', body->len) != NULL)
		return false;
	/* check before building it: a control character takes six bytes */
	bytes = json_string_size(body->data, body->len);
	if (bytes > OUTCOME_MAX_BYTES) {
		outcome_too_large(outcome, bytes);
		return true;
	}
	buf_addf(json, "{\"status\":%ld", response->status);
	outcome_add_member(json, "url", response->url);
	buf_adds(json, ",\"headers\":{");
	for (i = 0; i < response->header_count; i++)
		outcome_add_member(json, response->headers[i].name,
		    response->headers[i].value);
	buf_adds(json, "},\"body\":");
	if (body->len > 0)
		json_add_string(json, body->data, body->len);
	else
		buf_adds(json, "null");
	buf_addc(json, '}');
	return true;
}

void
http_outcome_refused(struct outcome *outcome, const char *name,
    const struct http_response *response)
{
	const struct buf *body = &response->body;
	struct buf detail, text;

	/* redact all of it, so that no half of a secret is left at the end */
	buf_init(&text, 0);
	buf_add(&text, body->data, body->len);
	redact_text(&text);
	buf_init(&detail, 0);
	buf_addf(&detail, "{\"status\":%ld,\"body\":", response->status);
	outcome_add_text(
	    &detail, text.data, text.len < ERROR_BODY ? text.len : ERROR_BODY);
	buf_addc(&detail, '}');
	buf_release(&text);
	outcome_error(outcome, "http", detail.data, "%s answered %ld", name,
	    response->status);
	buf_release(&detail);
}

void
http_outcome_rejected(
    struct outcome *outcome, const char *name, const struct error *why)
{
	struct buf detail;

	buf_init(&detail, 0);
	buf_addc(&detail, '{');
	outcome_add_member(&detail, "hint", why->hint);
	buf_addc(&detail, '}');
	outcome_error(
	    outcome, "rejected", detail.data, "%s: %s", name, why->message);
	buf_release(&detail);
}
