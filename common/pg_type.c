#include "common/pg_type.h"

#include <stdlib.h>

enum pg_kind
pg_type_kind(uint32_t type)
{
	switch (type) {
	case PG_TYPE_BOOL:
		return PG_KIND_BOOL;
	case PG_TYPE_BIGINT:
	case PG_TYPE_SMALLINT:
	case PG_TYPE_INT:
	case PG_TYPE_REAL:
	case PG_TYPE_DOUBLE:
	case PG_TYPE_NUMERIC:
		return PG_KIND_NUMBER;
	case PG_TYPE_JSON:
	case PG_TYPE_JSONB:
		return PG_KIND_JSON;
	case PG_TYPE_TIMESTAMPTZ:
		return PG_KIND_TIME;
	default:
		return PG_KIND_TEXT;
	}
}

enum pg_type
pg_type_array(enum pg_type element)
{
	switch (element) {
	case PG_TYPE_BYTEA:
		return PG_TYPE_BYTEA_ARRAY;
	case PG_TYPE_BIGINT:
		return PG_TYPE_BIGINT_ARRAY;
	case PG_TYPE_TEXT:
		return PG_TYPE_TEXT_ARRAY;
	case PG_TYPE_UUID:
		return PG_TYPE_UUID_ARRAY;
	default:
		abort();
	}
}
