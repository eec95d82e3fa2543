#include "console/bind.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/buf.h"
#include "common/mem.h"
#include "common/pg_params.h"
#include "console/command.h"
#include "console/invocation.h"
#include "console/value.h"

static const struct option *
find_option(const char *name)
{
	size_t i;

	for (i = 0; i < command_option_count; i++)
		if (strcasecmp(command_options[i].name, name) == 0)
			return &command_options[i];
	return NULL;
}

/* The parts of a target: an instance alone has no process. */
static bool
add_target_part(struct pg_params *params, const struct invocation *invocation,
    const char *name)
{
	const char *text = invocation_value(invocation, "TARGET");
	bool is_process = strcmp(name, "process") == 0;
	struct target target;

	if (text == NULL)
		text = invocation_value(invocation, "PROCESS");
	if ((!is_process && strcmp(name, "instance") != 0) || text == NULL ||
	    !target_parse(text, &target))
		return false;
	if (is_process && target.process == 0)
		pg_params_add(params, NULL);
	else
		pg_params_add_bigint(
		    params, is_process ? target.process : target.instance);
	return true;
}

/*
 * All values as a text array; the server converts it to the type that it needs.
 */
static void
add_all(struct pg_params *params, const struct invocation *invocation,
    const char *name)
{
	struct pg_array array;
	const char *value;
	size_t at = 0;

	if (invocation_value(invocation, name) == NULL) {
		pg_params_add(params, NULL);
		return;
	}
	pg_array_init(&array, PG_TYPE_TEXT);
	while ((value = invocation_next(invocation, name, &at)) != NULL)
		pg_array_add_text(&array, value);
	pg_params_add_array(params, &array);
	pg_array_release(&array);
}

/* Add the value of `name` to `params`.  Returns the SQL type of that value. */
static const char *
add_value(struct pg_params *params, const struct invocation *invocation,
    const char *name)
{
	const struct option *option = find_option(name);
	const char *value = invocation_value(invocation, name), *type;
	size_t i;

	if (add_target_part(params, invocation, name))
		return "bigint";
	if (option != NULL && option->repeats) {
		add_all(params, invocation, name);
		return "text[]";
	}
	if (option != NULL && option->value == NULL) {
		pg_params_add(params, value != NULL ? "true" : "false");
		return "boolean";
	}
	pg_params_add(params, value);
	type = option != NULL ? option->value : NULL;
	for (i = 0; type == NULL && i < invocation->given_count; i++)
		if (strcasecmp(invocation->given[i].name, name) == 0)
			type = invocation->given[i].type;
	return type != NULL ? value_sql_type(type) : "text";
}

char *
bind_sql(const char *sql, const struct invocation *invocation,
    struct pg_params *params)
{
	struct buf text;
	const char *type;
	size_t len;
	char *name;

	buf_init(&text, 0);
	for (;;) {
		len = strcspn(sql, ":");
		buf_add(&text, sql, len);
		sql += len;
		if (*sql == '\0')
			return buf_take(&text);
		len = strspn(sql, ":");
		if (len > 1) { /* a cast */
			buf_add(&text, sql, len);
			sql += len;
			continue;
		}
		len = strspn(sql + 1, "abcdefghijklmnopqrstuvwxyz-_");
		name = xstrndup(sql + 1, len);
		type = add_value(params, invocation, name);
		buf_addf(&text, "$%d::%s", params->count, type);
		free(name);
		sql += 1 + len;
	}
}
