#include "common/pg_params.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

enum {
	FORMAT_TEXT = 0,
	FORMAT_BINARY = 1,

	UUID_SIZE = 16,
	KEPT_SIZE = 64 << 10, /* bytes of an array kept for more items */
};

static void
add_int32(struct buf *buf, int32_t value)
{
	uint32_t wire = htobe32((uint32_t)value);

	buf_add(buf, &wire, sizeof(wire));
}

static void
add_item(struct pg_array *array, const void *data, size_t len)
{
	assert(len <= INT32_MAX);
	add_int32(&array->items, (int32_t)len);
	buf_add(&array->items, data, len);
	array->count++;
}

void
pg_array_init(struct pg_array *array, enum pg_type type)
{
	*array = (struct pg_array){ .type = type };
	buf_init(&array->items, 0);
}

void
pg_array_add_bigint(struct pg_array *array, int64_t value)
{
	uint64_t wire = htobe64((uint64_t)value);

	assert(array->type == PG_TYPE_BIGINT);
	add_item(array, &wire, sizeof(wire));
}

void
pg_array_add_text(struct pg_array *array, const char *text)
{
	assert(array->type == PG_TYPE_TEXT);
	add_item(array, text, strlen(text));
}

void
pg_array_add_bytes(struct pg_array *array, const void *data, size_t len)
{
	assert(array->type == PG_TYPE_BYTEA);
	add_item(array, data, len);
}

static unsigned
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	assert((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
	return ((unsigned)c & 0xfU) + 9;
}

void
pg_array_add_uuid(struct pg_array *array, const char *uuid)
{
	unsigned char bytes[UUID_SIZE];

	assert(array->type == PG_TYPE_UUID);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		if (*uuid == '-')
			uuid++;
		bytes[i] = (unsigned char)(hex_digit(uuid[0]) << 4 |
		                           hex_digit(uuid[1]));
		uuid += 2;
	}
	add_item(array, bytes, sizeof(bytes));
}

void
pg_array_add_null(struct pg_array *array)
{
	add_int32(&array->items, -1);
	array->count++;
}

void
pg_array_release(struct pg_array *array)
{
	buf_release(&array->items);
	array->count = 0;
}

void
pg_array_clear(struct pg_array *array)
{
	if (array->items.size > KEPT_SIZE)
		buf_release(&array->items);
	buf_truncate(&array->items, 0);
	array->count = 0;
}

/* PostgreSQL's binary form: a header, one dimension from 1, the items. */
static void
encode_array(struct buf *wire, const struct pg_array *array)
{
	add_int32(wire, array->count > 0 ? 1 : 0);
	add_int32(wire, 1); /* it may hold nulls */
	add_int32(wire, (int32_t)array->type);
	if (array->count == 0)
		return;
	add_int32(wire, array->count);
	add_int32(wire, 1);
	buf_add(wire, array->items.data, array->items.len);
}

/* Add a parameter, and take `value` over. */
static void
add_param(
    struct pg_params *p, uint32_t type, char *value, size_t len, int format)
{
	assert(len <= INT32_MAX);
	if (p->count == p->size) {
		size_t size = p->size > 0 ? (size_t)p->size * 2 : 8;

		p->types = xreallocarray(p->types, size, sizeof(*p->types));
		p->values = xreallocarray(p->values, size, sizeof(*p->values));
		p->lengths =
		    xreallocarray(p->lengths, size, sizeof(*p->lengths));
		p->formats =
		    xreallocarray(p->formats, size, sizeof(*p->formats));
		p->size = (int)size;
	}
	p->types[p->count] = type;
	p->values[p->count] = value;
	p->lengths[p->count] = (int)len;
	p->formats[p->count] = format;
	p->count++;
}

void
pg_params_init(struct pg_params *params)
{
	*params = (struct pg_params){ 0 };
}

void
pg_params_add(struct pg_params *params, const char *text)
{
	add_param(
	    params, 0, text != NULL ? xstrdup(text) : NULL, 0, FORMAT_TEXT);
}

void
pg_params_add_int(struct pg_params *params, int32_t value)
{
	uint32_t wire = htobe32((uint32_t)value);
	char *copy = xmalloc(sizeof(wire));

	memcpy(copy, &wire, sizeof(wire));
	add_param(params, PG_TYPE_INT, copy, sizeof(wire), FORMAT_BINARY);
}

void
pg_params_add_bigint(struct pg_params *params, int64_t value)
{
	uint64_t wire = htobe64((uint64_t)value);
	char *copy = xmalloc(sizeof(wire));

	memcpy(copy, &wire, sizeof(wire));
	add_param(params, PG_TYPE_BIGINT, copy, sizeof(wire), FORMAT_BINARY);
}

void
pg_params_add_bytes(struct pg_params *params, const void *data, size_t len)
{
	char *copy = xmalloc(len);

	if (len > 0)
		memcpy(copy, data, len);
	add_param(params, PG_TYPE_BYTEA, copy, len, FORMAT_BINARY);
}

void
pg_params_add_array(struct pg_params *params, const struct pg_array *array)
{
	struct buf wire;
	size_t len;

	buf_init(&wire, 0);
	encode_array(&wire, array);
	len = wire.len;
	add_param(params, pg_type_array(array->type), buf_take(&wire), len,
	    FORMAT_BINARY);
}

void
pg_params_release(struct pg_params *params)
{
	for (int i = 0; i < params->count; i++)
		free(params->values[i]);
	free(params->types);
	free(params->values);
	free(params->lengths);
	free(params->formats);
	pg_params_init(params);
}
