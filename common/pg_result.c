/* pg_result.c - the result of a query. */
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "common/pg.h"

static PGresult *
to_libpq(const struct pg_result *result)
{
	return (PGresult *)result;
}

void
pg_result_free(struct pg_result *result)
{
	PQclear(to_libpq(result));
}

int
pg_rows(const struct pg_result *result)
{
	return PQntuples(to_libpq(result));
}

int
pg_columns(const struct pg_result *result)
{
	return PQnfields(to_libpq(result));
}

int64_t
pg_affected(const struct pg_result *result)
{
	return strtoll(PQcmdTuples(to_libpq(result)), NULL, 10);
}

const char *
pg_column_name(const struct pg_result *result, int column)
{
	return PQfname(to_libpq(result), column);
}

int
pg_column(const struct pg_result *result, const char *name)
{
	for (int i = 0; i < pg_columns(result); i++)
		if (strcmp(pg_column_name(result, i), name) == 0)
			return i;
	return -1;
}

enum pg_kind
pg_column_kind(const struct pg_result *result, int column)
{
	return pg_type_kind(PQftype(to_libpq(result), column));
}

const char *
pg_value(const struct pg_result *result, int row, int column)
{
	if (PQgetisnull(to_libpq(result), row, column))
		return NULL;
	return PQgetvalue(to_libpq(result), row, column);
}

size_t
pg_value_length(const struct pg_result *result, int row, int column)
{
	return (size_t)PQgetlength(to_libpq(result), row, column);
}

int64_t
pg_value_bigint(const struct pg_result *result, int row, int column)
{
	const char *value = pg_value(result, row, column);

	return value != NULL ? strtoll(value, NULL, 10) : 0;
}

bool
pg_value_bool(const struct pg_result *result, int row, int column)
{
	const char *value = pg_value(result, row, column);

	return value != NULL && value[0] == 't';
}
