/* What is JSON is read, nothing else is, and it is written as it was read. */
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "common/utf8.h"
#include "tests/fuzz/fuzz.h"

/* Every reader on every value. */
static void
look_at(const struct json *value)
{
	const char *text = json_string(value);
	size_t i;

	MUST((text != NULL) == (json_type(value) == JSON_STRING));
	MUST(text == NULL || utf8_valid(text, json_string_length(value)));
	(void)json_int(value);
	(void)json_bool(value);
	for (i = 0; i < json_length(value); i++)
		if (json_type(value) == JSON_LIST) {
			look_at(json_at(value, i));
		} else {
			MUST(json_key_at(value, i) != NULL);
			MUST(json_has(value, json_key_at(value, i)));
			look_at(json_value_at(value, i));
		}
	MUST(json_at(value, i) == NULL && json_value_at(value, i) == NULL);
}

/* Written, read and written again it is the same. */
static void
check_text(const struct json *value)
{
	char *text = json_text(value), *again;
	struct error err = { 0 };
	struct json *copy = NULL;

	MUST(fuzz_is_json(text, strlen(text)));
	MUST(json_parse(text, strlen(text), &copy, &err));
	again = json_text(copy);
	MUST(strcmp(text, again) == 0);
	json_free(copy);
	free(again);
	free(text);
}

/* A number that stands alone is not changed. */
static void
check_number(const struct json *value, const char *text, size_t len)
{
	char *written;

	if (json_type(value) != JSON_INT && json_type(value) != JSON_NUMBER)
		return;
	written = json_text(value);
	MUST(fuzz_has(text, len, written, strlen(written)));
	free(written);
}

static void
check_string(const char *text, size_t len)
{
	struct error err = { 0 };
	struct json *value = NULL;
	struct buf buf;

	buf_init(&buf, 0);
	MUST(json_add_string(&buf, text, len) == utf8_valid(text, len));
	if (buf.len > 0) {
		MUST(json_parse(buf.data, buf.len, &value, &err));
		MUST(json_string_length(value) == len);
		MUST(memcmp(json_string(value), text, len) == 0);
		json_free(value);
	}
	buf_release(&buf);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct error err = { 0 };
	struct json *value = NULL;
	bool ok = json_parse(text, size, &value, &err);

	MUST(ok == fuzz_is_json(text, size));
	MUST(ok == (err.message == NULL));
	if (ok) {
		look_at(value);
		check_text(value);
		check_number(value, text, size);
		json_free(value);
	}
	check_string(text, size);
	error_release(&err);
	return 0;
}
