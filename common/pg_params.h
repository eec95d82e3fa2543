/*
 * pg_params.h - the parameters of one query, in the forms that libpq sends.
 *
 * Arrays are sent as binary: one parameter carries a whole batch, and nothing
 * is quoted or parsed on the way.
 */
#ifndef COMMON_PG_PARAMS_H
#define COMMON_PG_PARAMS_H

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/pg_type.h"

/* An array of one dimension, filled from its first element to its last. */
struct pg_array {
	enum pg_type type; /* of the items: bigint, text, bytea, uuid */
	int32_t count;
	struct buf items; /* each with its length before it */
};

void pg_array_init(struct pg_array *array, enum pg_type type);
void pg_array_add_bigint(struct pg_array *array, int64_t value);
void pg_array_add_text(struct pg_array *array, const char *text);
void pg_array_add_bytes(struct pg_array *array, const void *data, size_t len);

/* `uuid` as PostgreSQL prints it: 8-4-4-4-12 hexadecimal digits. */
void pg_array_add_uuid(struct pg_array *array, const char *uuid);
void pg_array_add_null(struct pg_array *array);

/* Release the items; the array is empty and may be used again. */
void pg_array_release(struct pg_array *array);

/* The same, but keep some memory for more items. */
void pg_array_clear(struct pg_array *array);

/*
 * The arrays that libpq wants side by side; read by pg.c.  Values are owned
 * copies.
 */
struct pg_params {
	int count;
	int size;
	uint32_t *types; /* 0: the server infers it */
	char **values;   /* NULL: SQL's null */
	int *lengths;
	int *formats; /* 0 text, 1 binary */
};

/* Begin without parameters.  They become $1, $2, … in the order of adding. */
void pg_params_init(struct pg_params *params);

/* Add text in the server's notation for the type of $n; NULL is null. */
void pg_params_add(struct pg_params *params, const char *text);
void pg_params_add_int(struct pg_params *params, int32_t value);
void pg_params_add_bigint(struct pg_params *params, int64_t value);
void pg_params_add_bytes(
    struct pg_params *params, const void *data, size_t len);

/* Add a copy of `array`, which stays the caller's. */
void pg_params_add_array(
    struct pg_params *params, const struct pg_array *array);

/* Release the copies; then there are no parameters, and more may be added. */
void pg_params_release(struct pg_params *params);

#endif
