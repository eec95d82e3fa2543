#include "driver/transport/http/form.h"

#include <curl/curl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "common/log.h"
#include "common/mem.h"

enum {
	BOUNDARY = 32, /* bytes, at most */
};

/* One name and its value.  Borrowed, but for `text`. */
struct field {
	const char *name;
	const char *filename; /* NULL: the field is not a file */
	const char *type;     /* of a file */
	const char *content;
	size_t len;
	char *text; /* owned: the content, if the value is not a string */
};

struct fields {
	struct field *items;
	size_t count;
	bool has_file;
};

char *
http_form_scalar(const struct json *value)
{
	switch (json_type(value)) {
	case JSON_STRING:
		return xstrdup(json_string(value));
	case JSON_BOOL:
	case JSON_INT:
	case JSON_NUMBER:
		return json_text(value);
	default:
		return NULL;
	}
}

/* Fields ------------------------------------------------------------------- */

/* Whether no byte ends the line of a header: all are from ' ' on. */
static bool
is_line(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

static bool
read_file(struct field *field, const struct json *value, struct error *err)
{
	const struct json *content = json_get(value, "content");
	const struct json *type = json_get(value, "type");

	field->filename = json_string(json_get(value, "filename"));
	field->type =
	    type != NULL ? json_string(type) : "text/plain; charset=utf-8";
	if (json_type(content) != JSON_STRING || field->filename == NULL ||
	    field->type == NULL || !is_line(field->type)) {
		error_set(err,
		    "form: %s must be a file {filename, content, type}",
		    field->name);
		error_hint(err, "All three are strings; type may be left out.");
		return false;
	}
	field->content = json_string(content);
	field->len = json_string_length(content);
	return true;
}

static bool
add_field(struct fields *fields, const char *name, const struct json *value,
    struct error *err)
{
	struct field *field;

	fields->items = xreallocarray(
	    fields->items, fields->count + 1, sizeof(fields->items[0]));
	field = &fields->items[fields->count++];
	*field = (struct field){ .name = name };
	if (json_type(value) == JSON_OBJECT) {
		fields->has_file = true;
		return read_file(field, value, err);
	}
	if (json_type(value) == JSON_STRING) {
		field->content = json_string(value);
		field->len = json_string_length(value);
		return true;
	}
	field->text = http_form_scalar(value);
	if (field->text == NULL) {
		error_set(err,
		    "form: %s must be a scalar, a file or a list of those",
		    name);
		error_hint(
		    err, "A file is an object {filename, content, type}.");
		return false;
	}
	field->content = field->text;
	field->len = strlen(field->text);
	return true;
}

static bool
read_fields(struct fields *fields, const struct json *form, struct error *err)
{
	const struct json *value;
	const char *name;
	bool ok = true;
	size_t i, k;

	for (i = 0; ok && i < json_length(form); i++) {
		name = json_key_at(form, i);
		value = json_value_at(form, i);
		if (value != NULL && json_type(value) != JSON_LIST)
			ok = add_field(fields, name, value, err);
		for (k = 0; ok && json_type(value) == JSON_LIST &&
		            k < json_length(value);
		     k++)
			ok = add_field(fields, name, json_at(value, k), err);
	}
	return ok;
}

static void
release_fields(struct fields *fields)
{
	while (fields->count > 0)
		free(fields->items[--fields->count].text);
	free(fields->items);
}

/* application/x-www-form-urlencoded ---------------------------------------- */

static void
add_encoded(struct buf *body, const char *text, size_t len)
{
	char *encoded;

	if (len == 0) /* libcurl would measure it */
		return;
	encoded =
	    len <= INT_MAX ? curl_easy_escape(NULL, text, (int)len) : NULL;
	if (encoded == NULL)
		fatalx("cannot encode a form");
	buf_adds(body, encoded);
	curl_free(encoded);
}

static void
write_encoded(const struct fields *fields, struct buf *body)
{
	const struct field *field;
	size_t i;

	for (i = 0; i < fields->count; i++) {
		field = &fields->items[i];
		buf_adds(body, i > 0 ? "&" : "");
		add_encoded(body, field->name, strlen(field->name));
		buf_addc(body, '=');
		add_encoded(body, field->content, field->len);
	}
}

/* multipart/form-data, RFC 7578 -------------------------------------------- */

/* Quote as browsers do. */
static void
add_quoted(struct buf *body, const char *text)
{
	buf_addc(body, '"');
	for (; *text != '\0'; text++)
		switch (*text) {
		case '"':
			buf_adds(body, "%22");
			break;
		case '\r':
			buf_adds(body, "%0D");
			break;
		case '\n':
			buf_adds(body, "%0A");
			break;
		default:
			buf_addc(body, *text);
		}
	buf_addc(body, '"');
}

static bool
is_in_use(const struct fields *fields, const char *boundary)
{
	size_t i, len = strlen(boundary);

	for (i = 0; i < fields->count; i++)
		if (memmem(fields->items[i].content, fields->items[i].len,
		        boundary, len) != NULL)
			return true;
	return false;
}

static void
write_parts(const struct fields *fields, const char *boundary, struct buf *body)
{
	const struct field *field;
	size_t i;

	for (i = 0; i < fields->count; i++) {
		field = &fields->items[i];
		buf_addf(body,
		    "--%s\r\nContent-Disposition: form-data; name=", boundary);
		add_quoted(body, field->name);
		if (field->filename != NULL) {
			buf_adds(body, "; filename=");
			add_quoted(body, field->filename);
			buf_addf(body, "\r\nContent-Type: %s", field->type);
		}
		buf_adds(body, "\r\n\r\n");
		buf_add(body, field->content, field->len);
		buf_adds(body, "\r\n");
	}
	buf_addf(body, "--%s--\r\n", boundary);
}

bool
http_form_make(
    struct http_form *made, const struct json *form, struct error *err)
{
	struct fields fields = { 0 };
	char boundary[BOUNDARY];
	unsigned count = 0;
	struct buf body;
	bool ok;

	if (json_type(form) != JSON_OBJECT) {
		error_set(err, "form must be an object");
		return false;
	}
	ok = read_fields(&fields, form, err);
	if (ok) {
		buf_init_secret(&body, 0);
		do
			snprintf(boundary, sizeof(boundary), "pgwf-form-%u",
			    count++);
		while (is_in_use(&fields, boundary));
		if (fields.has_file)
			write_parts(&fields, boundary, &body);
		else
			write_encoded(&fields, &body);
		made->type = fields.has_file
		                 ? xasprintf("multipart/form-data; boundary=%s",
		                       boundary)
		                 : xstrdup("application/x-www-form-urlencoded");
		made->len = body.len;
		made->body = buf_take(&body);
	}
	release_fields(&fields);
	return ok;
}
