/*
 * pg_type.h - PostgreSQL's own numbers of its built-in types.
 *
 * libpq has no names for them; they never change.
 */
#ifndef COMMON_PG_TYPE_H
#define COMMON_PG_TYPE_H

#include <stdint.h>

enum pg_type {
	PG_TYPE_BOOL = 16,
	PG_TYPE_BYTEA = 17,
	PG_TYPE_BIGINT = 20,
	PG_TYPE_SMALLINT = 21,
	PG_TYPE_INT = 23,
	PG_TYPE_TEXT = 25,
	PG_TYPE_JSON = 114,
	PG_TYPE_REAL = 700,
	PG_TYPE_DOUBLE = 701,
	PG_TYPE_BYTEA_ARRAY = 1001,
	PG_TYPE_TEXT_ARRAY = 1009,
	PG_TYPE_BIGINT_ARRAY = 1016,
	PG_TYPE_TIMESTAMPTZ = 1184,
	PG_TYPE_NUMERIC = 1700,
	PG_TYPE_UUID = 2950,
	PG_TYPE_UUID_ARRAY = 2951,
	PG_TYPE_JSONB = 3802,
};

enum pg_kind {
	PG_KIND_TEXT, /* everything else */
	PG_KIND_NUMBER,
	PG_KIND_BOOL, /* t or f */
	PG_KIND_JSON,
	PG_KIND_TIME, /* in ISO style, or infinity */
};

/* How values of a type are to be shown. */
enum pg_kind pg_type_kind(uint32_t type);

/* The type of arrays of `element`, a type that pg_array takes. */
enum pg_type pg_type_array(enum pg_type element);

#endif
