/*
 * From the bytes of a server to the report: it is JSON, and holds what the
 * server said and no secret.  The first part is the head of the answer, the
 * second its body.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "common/utf8.h"
#include "driver/secret/known.h"
#include "driver/secret/redact.h"
#include "driver/transport/http/exchange.h"
#include "driver/transport/http/outcome.h"
#include "driver/transport/http/response_headers.h"
#include "driver/transport/outcome.h"
#include "tests/fuzz/fuzz.h"

#define SECRET "hunter22"

/* Each line is a name and a value, of bytes that libcurl would hand over. */
static void
read_head(struct http_headers *headers, const char *text, size_t len)
{
	struct http_header *header;
	const char *end, *colon;
	size_t line;

	for (; len > 0; text += line, len -= line) {
		end = memchr(text, '\n', len);
		line = end != NULL ? (size_t)(end - text) + 1 : len;
		colon = memchr(text, ':', line);
		if (colon == NULL)
			continue;
		headers->items = xreallocarray(headers->items,
		    headers->count + 1, sizeof(headers->items[0]));
		header = &headers->items[headers->count++];
		header->name = xstrndup(text, (size_t)(colon - text));
		header->value =
		    xstrndup(colon + 1, line - (size_t)(colon - text) - 1);
	}
}

/* As reports are made: redacted, then sent. */
static struct json *
report(struct outcome *outcome)
{
	struct error err = { 0 };
	struct json *value = NULL;

	MUST(fuzz_is_json(outcome->body.data, outcome->body.len));
	redact_json(&outcome->body);
	MUST(fuzz_is_json(outcome->body.data, outcome->body.len));
	MUST(!fuzz_has(
	    outcome->body.data, outcome->body.len, SECRET, strlen(SECRET)));
	MUST(json_parse(outcome->body.data, outcome->body.len, &value, &err));
	outcome_release(outcome);
	return value;
}

static void
check_answered(const struct http_response *response)
{
	const struct buf *body = &response->body;
	bool is_text = utf8_valid(body->data, body->len) &&
	               memchr(body->data, '\0', body->len) == NULL;
	struct outcome outcome;
	struct json *value;

	outcome_init(&outcome);
	MUST(http_outcome_response(&outcome, response) == is_text);
	if (!is_text) {
		outcome_release(&outcome);
		return;
	}
	MUST(outcome.event == OUTCOME_RESPONSE);
	value = report(&outcome);
	MUST(json_int(json_get(value, "status")) == 200);
	/* names that are no UTF-8 may become the same */
	MUST(json_length(json_get(value, "headers")) <= response->header_count);
	json_free(value);
}

static void
check_refused(const struct http_response *response)
{
	struct outcome outcome;

	outcome_init(&outcome);
	http_outcome_refused(&outcome, "GET http://host/", response);
	MUST(outcome.event == OUTCOME_ERROR);
	json_free(report(&outcome));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { (const char *)data, size };
	struct http_headers headers = { 0 };
	struct http_response response = {
		.end = HTTP_ANSWERED,
		.status = 200,
		.url = "http://host/",
	};
	size_t len;
	char *head = fuzz_part(&input, &len);

	known_let_go(known_hold(SECRET, strlen(SECRET)));
	read_head(&headers, head, len);
	response.headers = headers.items;
	response.header_count = headers.count;
	buf_init(&response.body, 0);
	buf_add(&response.body, input.at, input.left);
	check_answered(&response);
	check_refused(&response);
	buf_release(&response.body);
	http_headers_release(&headers);
	known_clear();
	free(head);
	return 0;
}
