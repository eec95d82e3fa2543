#include "driver/sql_failure.h"

#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "driver/outcome.h"

void
sql_failure_stopped(
    struct outcome *outcome, const char *why, int64_t timeout_ms)
{
	if (strcmp(why, "timeout") == 0)
		outcome_error(outcome, "timeout", NULL,
		    "the statement did not end within %lld ms",
		    (long long)timeout_ms);
	else
		outcome_error(
		    outcome, "cancelled", NULL, "the statement was cancelled");
}

void
sql_failure_refused(struct outcome *outcome, const struct error *err)
{
	struct buf detail;

	buf_init(&detail, 0);
	buf_addc(&detail, '{');
	outcome_add_member(&detail, "sqlstate", err->sqlstate);
	outcome_add_member(&detail, "detail", err->detail);
	outcome_add_member(&detail, "hint", err->hint);
	buf_addc(&detail, '}');
	outcome_error(outcome, "sql", detail.data, "%s", err->message);
	buf_release(&detail);
}
