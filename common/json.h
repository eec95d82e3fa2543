/*
 * json.h - JSON values, read and written.  The only user of json-c.
 *
 * A value is a `struct json *`; NULL is JSON's null, so every reader accepts
 * NULL.  A value belongs to the document it came from: only a document that
 * json_parse gave is freed, and its values are freed with it.  As with mem.h,
 * out of memory is fatal.
 */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct error;
struct json;

enum json_type {
	JSON_NULL,
	JSON_BOOL,
	JSON_INT, /* a whole number that fits int64_t */
	/* any other number; json_text gives it as it was written */
	JSON_NUMBER,
	JSON_STRING,
	JSON_LIST,
	JSON_OBJECT,
};

/*
 * Read one document, strictly: nothing may follow it, text is UTF-8, nesting
 * ends at a depth of 500.  `*value` is the caller's to json_free.
 */
bool json_parse(
    const char *text, size_t len, struct json **value, struct error *err);

/*
 * The same for a document with secrets in it: its strings are only in the
 * document and in `text`.  Release it with json_free_secret().
 */
bool json_parse_secret(
    const char *text, size_t len, struct json **value, struct error *err);

/* Release a document.  NULL is allowed. */
void json_free(struct json *value);

/* Overwrite its strings, then release it. */
void json_free_secret(struct json *value);

enum json_type json_type(const struct json *value);

/*
 * The member called `key`; NULL if `object` has no such member or is not an
 * object.
 */
struct json *json_get(const struct json *object, const char *key);

/* Whether the member exists, even if its value is null. */
bool json_has(const struct json *object, const char *key);

/* Elements of a list, members of an object; 0 for the rest. */
size_t json_length(const struct json *value);

/* Element `i` of a list; NULL outside of it. */
struct json *json_at(const struct json *list, size_t i);

/*
 * Member `i` of an object, as it was written; NULL outside of it.  Walks
 * from the first member: for objects of a few dozen members.
 */
const char *json_key_at(const struct json *object, size_t i);
struct json *json_value_at(const struct json *object, size_t i);

/* NUL-terminated, though it may hold NULs too; NULL unless a string. */
const char *json_string(const struct json *value);
size_t json_string_length(const struct json *value);

/* A string without a NUL in it, as programs and shells take it; else NULL. */
const char *json_c_string(const struct json *value);

/* 0 unless a number; a JSON_NUMBER loses what int64_t can't hold. */
int64_t json_int(const struct json *value);

/* False unless true. */
bool json_bool(const struct json *value);

/* Compact text, for the caller to free(). */
char *json_text(const struct json *value);

/*
 * Add the compact text to a buffer, which may be secret.  False: over its
 * limit.
 */
bool json_add(struct buf *buf, const struct json *value);

/*
 * Write `text` as a JSON string, quoted and escaped.  False, and nothing
 * written, if it is not valid UTF-8 or `buf` has no room for it.  A NUL byte
 * becomes \u0000, which PostgreSQL's jsonb refuses.
 */
bool json_add_string(struct buf *buf, const char *text, size_t len);

/* How many bytes json_add_string writes between the quotes. */
size_t json_string_size(const char *text, size_t len);

#endif
