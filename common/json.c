#include "common/json.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* Two of json-c's types have the names of our functions. */
#define json_type json_c_type
#define json_bool json_c_bool
#include <json-c/json.h>
#include <json-c/printbuf.h>
#undef json_type
#undef json_bool

#include "common/buf.h"
#include "common/error.h"
#include "common/json_token.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/utf8.h"

enum {
	USUAL_DEPTH = 20,
	MAX_DEPTH = 500,
};

/* struct json is json-c's object under our name; it is never looked into. */
static struct json *
from_json_c(struct json_object *object)
{
	return (struct json *)object;
}

static struct json_object *
to_json_c(const struct json *value)
{
	return (struct json_object *)value;
}

/*
 * json-c (0.16) reports no error when memory runs out.  It goes on without the
 * name of a member, without the member or without the rest of a string, or it
 * stops as if the text were not JSON.
 */
static void
check_memory(void)
{
	if (errno == ENOMEM)
		fatal("cannot allocate a JSON value");
}

static struct json_object *
feed_piece(struct json_tokener *tokener, const char *text, size_t len)
{
	struct json_object *object;

	errno = 0;
	object = json_tokener_parse_ex(tokener, text, (int)len);
	check_memory();
	return object;
}

/*
 * Feed all of `text`.  It is fed in pieces for two reasons: a number makes
 * json-c forget errno, and when there is no memory for a name, json-c asks for
 * the length of that name at the next token.  The tokener stops at a NUL byte,
 * and takes one as the end: a number at the very end is complete only when
 * something follows it.
 */
static enum json_tokener_error
feed(struct json_tokener *tokener, const char *text, size_t len,
    struct json_object **object)
{
	enum json_tokener_error reason = json_tokener_continue;
	const char *end = text + len;
	size_t piece;

	while (reason == json_tokener_continue && text < end) {
		piece = json_tokens_piece(text, end);
		*object = feed_piece(tokener, text, piece);
		reason = json_tokener_get_error(tokener);
		text += json_tokener_get_parse_end(tokener);
	}
	if (reason == json_tokener_continue) {
		*object = feed_piece(tokener, "", 1);
		return json_tokener_get_error(tokener);
	}
	while (text < end && strchr(" \t\r\n", *text) != NULL && *text)
		text++;
	if (reason == json_tokener_success && text < end)
		return json_tokener_error_parse_unexpected;
	return reason;
}

/*
 * The tokener gathers each string in one buffer.  If the buffer is long enough
 * from the beginning, it is never moved.  So only one place has to be
 * overwritten.
 */
static void
make_room(struct json_tokener *tokener, size_t len)
{
	if (printbuf_memset(tokener->pb, 0, 0, (int)len) < 0)
		fatal("cannot allocate %zu bytes for JSON", len);
}

/* `secret`: freed memory has no part of `text`. */
static enum json_tokener_error
parse_to(int depth, bool secret, const char *text, size_t len,
    struct json_object **object)
{
	struct json_tokener *tokener = json_tokener_new_ex(depth);
	/* a locale that json-c need not copy for each piece; it takes no
	 * memory */
	locale_t former = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
	enum json_tokener_error reason;

	if (tokener == NULL)
		fatal("cannot allocate a JSON tokener");
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	if (secret)
		make_room(tokener, len);
	reason = feed(tokener, text, len, object);
	if (secret)
		explicit_bzero(tokener->pb->buf, (size_t)tokener->pb->size);
	json_tokener_free(tokener);
	uselocale(former);
	return reason;
}

static void
wipe(struct json_object *object)
{
	const struct json *value = from_json_c(object);
	enum json_type type = json_type(value);
	size_t i;

	if (type == JSON_STRING)
		explicit_bzero((char *)json_object_get_string(object),
		    json_string_length(value));
	for (i = 0; type == JSON_LIST && i < json_length(value); i++)
		wipe(to_json_c(json_at(value, i)));
	for (i = 0; type == JSON_OBJECT && i < json_length(value); i++)
		wipe(to_json_c(json_value_at(value, i)));
}

static bool
parse(bool secret, const char *text, size_t len, struct json_object **object,
    struct error *err)
{
	enum json_tokener_error reason;

	if (len > INT_MAX - 1) {
		error_set(err, "JSON of %zu bytes is too long", len);
		return false;
	}
	/*
	 * clearing a tokener for the greatest depth takes longer than reading
	 * most documents; but a tokener that finds out that it is too shallow
	 * leaves behind the strings that it has read
	 */
	reason = parse_to(
	    secret ? MAX_DEPTH : USUAL_DEPTH, secret, text, len, object);
	if (reason == json_tokener_error_depth && !secret)
		reason = parse_to(MAX_DEPTH, secret, text, len, object);
	if (reason == json_tokener_success)
		return true;
	json_object_put(*object);
	error_set(err, "not JSON: %s", json_tokener_error_desc(reason));
	return false;
}

/* Have the number written without the JSON_TOKEN_MARK behind it. */
static void
remove_mark(struct json_object *number)
{
	static const size_t mark = sizeof(JSON_TOKEN_MARK) - 1;
	char *text = json_text(from_json_c(number));
	size_t len = strlen(text);

	if (len < mark || strcmp(text + len - mark, JSON_TOKEN_MARK) != 0) {
		free(text);
		return;
	}
	text[len - mark] = '\0';
	json_object_set_serializer(number, json_object_userdata_to_json_string,
	    text, json_object_free_userdata);
}

static void
remove_marks(struct json_object *object)
{
	const struct json *value = from_json_c(object);
	enum json_type type = json_type(value);
	struct lh_entry *entry;
	size_t i;

	if (type == JSON_NUMBER)
		remove_mark(object);
	for (i = 0; type == JSON_LIST && i < json_length(value); i++)
		remove_marks(to_json_c(json_at(value, i)));
	if (type != JSON_OBJECT)
		return;
	/* lh_foreach is a word that cppcheck does not know */
	for (entry = lh_table_head(json_object_get_object(object));
	     entry != NULL; entry = lh_entry_next(entry))
		remove_marks(lh_entry_v(entry));
}

static bool
read_document(bool secret, const char *text, size_t len, struct json **value,
    struct error *err)
{
	struct json_object *object;
	struct buf marked;
	bool big, ok;

	if (!json_tokens_check(text, len, &big, err))
		return false;
	if (!big) {
		ok = parse(secret, text, len, &object, err);
	} else {
		buf_init_secret(&marked, 0);
		json_tokens_mark(&marked, text, len);
		ok = parse(secret, marked.data, marked.len, &object, err);
		buf_release(&marked);
		if (ok)
			remove_marks(object);
	}
	if (ok)
		*value = from_json_c(object);
	return ok;
}

bool
json_parse(const char *text, size_t len, struct json **value, struct error *err)
{
	return read_document(false, text, len, value, err);
}

bool
json_parse_secret(
    const char *text, size_t len, struct json **value, struct error *err)
{
	return read_document(true, text, len, value, err);
}

void
json_free(struct json *value)
{
	json_object_put(to_json_c(value));
}

void
json_free_secret(struct json *value)
{
	wipe(to_json_c(value));
	json_free(value);
}

enum json_type
json_type(const struct json *value)
{
	struct json_object *object = to_json_c(value);

	switch (json_object_get_type(object)) {
	case json_type_boolean:
		return JSON_BOOL;
	case json_type_int:
		return JSON_INT;
	case json_type_double:
		return JSON_NUMBER;
	case json_type_string:
		return JSON_STRING;
	case json_type_array:
		return JSON_LIST;
	case json_type_object:
		return JSON_OBJECT;
	case json_type_null:
		break;
	}
	return JSON_NULL;
}

struct json *
json_get(const struct json *object, const char *key)
{
	struct json_object *member = NULL;

	json_object_object_get_ex(to_json_c(object), key, &member);
	return from_json_c(member);
}

bool
json_has(const struct json *object, const char *key)
{
	return json_object_object_get_ex(to_json_c(object), key, NULL);
}

size_t
json_length(const struct json *value)
{
	struct json_object *object = to_json_c(value);

	switch (json_type(value)) {
	case JSON_LIST:
		return json_object_array_length(object);
	case JSON_OBJECT:
		return (size_t)json_object_object_length(object);
	default:
		return 0;
	}
}

struct json *
json_at(const struct json *list, size_t i)
{
	if (json_type(list) != JSON_LIST || i >= json_length(list))
		return NULL;
	return from_json_c(json_object_array_get_idx(to_json_c(list), i));
}

static struct lh_entry *
entry_at(const struct json *object, size_t i)
{
	struct lh_entry *entry;

	if (json_type(object) != JSON_OBJECT)
		return NULL;
	entry = lh_table_head(json_object_get_object(to_json_c(object)));
	while (entry != NULL && i-- > 0)
		entry = lh_entry_next(entry);
	return entry;
}

const char *
json_key_at(const struct json *object, size_t i)
{
	struct lh_entry *entry = entry_at(object, i);

	return entry != NULL ? lh_entry_k(entry) : NULL;
}

struct json *
json_value_at(const struct json *object, size_t i)
{
	struct lh_entry *entry = entry_at(object, i);

	return entry != NULL ? lh_entry_v(entry) : NULL;
}

const char *
json_string(const struct json *value)
{
	if (json_type(value) != JSON_STRING)
		return NULL;
	return json_object_get_string(to_json_c(value));
}

size_t
json_string_length(const struct json *value)
{
	if (json_type(value) != JSON_STRING)
		return 0;
	return (size_t)json_object_get_string_len(to_json_c(value));
}

const char *
json_c_string(const struct json *value)
{
	const char *text = json_string(value);

	return text != NULL && strlen(text) == json_string_length(value) ? text
	                                                                 : NULL;
}

int64_t
json_int(const struct json *value)
{
	enum json_type type = json_type(value);

	if (type != JSON_INT && type != JSON_NUMBER)
		return 0;
	return json_object_get_int64(to_json_c(value));
}

bool
json_bool(const struct json *value)
{
	return json_type(value) == JSON_BOOL &&
	       json_object_get_boolean(to_json_c(value));
}

char *
json_text(const struct json *value)
{
	const char *text;

	errno = 0;
	text = json_object_to_json_string_ext(to_json_c(value),
	    JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	check_memory();
	return xstrdup(text);
}

/* The bytes that JSON escapes by one letter. */
static const char letters[] = {
	['"'] = '"',
	['\\'] = '\\',
	['\b'] = 'b',
	['\f'] = 'f',
	['\n'] = 'n',
	['\r'] = 'r',
	['\t'] = 't',
};

static bool
has_letter(unsigned char c)
{
	return c < sizeof(letters) && letters[c] != 0;
}

static bool
is_control(unsigned char c)
{
	return c < 0x20 || c == 0x7f;
}

static bool
is_plain(unsigned char c)
{
	return !has_letter(c) && !is_control(c);
}

/* One byte that has to be escaped. */
static bool
add_escaped(struct buf *buf, unsigned char c)
{
	if (has_letter(c))
		return buf_addf(buf, "\\%c", letters[c]);
	return buf_addf(buf, "\\u%04x", c);
}

size_t
json_string_size(const char *text, size_t len)
{
	size_t size = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		size += has_letter(c) ? 2 : is_control(c) ? 6 : 1;
	}
	return size;
}

bool
json_add_string(struct buf *buf, const char *text, size_t len)
{
	size_t before = buf->len, i, end;
	bool added;

	if (!utf8_valid(text, len))
		return false;
	added = buf_addc(buf, '"');
	for (i = 0; added && i < len; i = end) {
		for (end = i; end < len && is_plain((unsigned char)text[end]);)
			end++;
		added = end > i ? buf_add(buf, text + i, end - i)
		                : add_escaped(buf, (unsigned char)text[end++]);
	}
	if (added && buf_addc(buf, '"'))
		return true;
	buf_truncate(buf, before);
	return false;
}

static bool
add_list(struct buf *buf, const struct json *list)
{
	bool added = buf_addc(buf, '[');
	size_t i;

	for (i = 0; added && i < json_length(list); i++)
		added = (i == 0 || buf_addc(buf, ',')) &&
		        json_add(buf, json_at(list, i));
	return added && buf_addc(buf, ']');
}

static bool
add_object(struct buf *buf, const struct json *object)
{
	struct lh_entry *entry =
	    lh_table_head(json_object_get_object(to_json_c(object)));
	bool added = buf_addc(buf, '{'), first = true;
	const char *key;

	for (; added && entry != NULL; entry = lh_entry_next(entry)) {
		key = lh_entry_k(entry);
		added = (first || buf_addc(buf, ',')) &&
		        json_add_string(buf, key, strlen(key)) &&
		        buf_addc(buf, ':') && json_add(buf, lh_entry_v(entry));
		first = false;
	}
	return added && buf_addc(buf, '}');
}

bool
json_add(struct buf *buf, const struct json *value)
{
	char *text;
	bool added;

	switch (json_type(value)) {
	case JSON_STRING:
		return json_add_string(
		    buf, json_string(value), json_string_length(value));
	case JSON_LIST:
		return add_list(buf, value);
	case JSON_OBJECT:
		return add_object(buf, value);
	case JSON_NULL:
	case JSON_BOOL:
	case JSON_INT:
	case JSON_NUMBER:
		break;
	}
	text = json_text(value);
	added = buf_adds(buf, text);
	free(text);
	return added;
}
