#include "console/at_rest.h"

#include <stdio.h>
#include <time.h>

#include "common/error.h"
#include "common/pg.h"
#include "common/pg_params.h"
#include "console/console.h"
#include "console/value.h"

#define WAIT_MS 500

/* $1 instance, $2 process or null. */
static const char state_sql[] =
    "select i.is_over or i.has_only_failures"
    "  from wf.instance_v i"
    " where i.instance_id = $1::bigint and $2::bigint is null"
    " union all "
    "select p.is_over or p.state = 'FAILED'"
    "  from wf.process_v p"
    " where p.instance_id = $1::bigint and p.process_id = $2::bigint";

bool
at_rest(struct console *console, const struct target *target, bool *is_at_rest,
    struct error *err)
{
	struct pg_result *state;
	struct pg_params params;
	bool found;

	pg_params_init(&params);
	pg_params_add_bigint(&params, target->instance);
	if (target->process != 0)
		pg_params_add_bigint(&params, target->process);
	else
		pg_params_add(&params, NULL);
	state = console_query_params(console, state_sql, &params, err);
	pg_params_release(&params);
	if (state == NULL)
		return false;
	found = pg_rows(state) > 0;
	*is_at_rest = found && pg_value_bool(state, 0, 0);
	pg_result_free(state);
	if (!found)
		console_set_missing(console,
		    console_value(console, "TARGET") != NULL
		        ? "there is no :TARGET"
		        : "there is no :INSTANCE",
		    err);
	return found;
}

bool
at_rest_wait(const struct console *console)
{
	static const struct timespec pause = { .tv_nsec = WAIT_MS * 1000000L };

	fflush(console->out);
	if (ferror(console->out))
		return false;
	nanosleep(&pause, NULL);
	return true;
}
