/*
 * cmd_log.c - what the programs of tasks have written, and go on writing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/pg.h"
#include "common/pg_params.h"
#include "console/commands.h"
#include "console/console.h"
#include "console/text.h"
#include "console/value.h"

#define REST_MS 500

/* $1 instance, $2 process or null; whether nothing more comes by itself. */
static const char state_sql[] =
    "select i.state in ('END', 'ABORTED') or i.failed > 0 and not exists ("
    "           select from wf.task_v t"
    "            where t.instance_id = i.instance_id and t.state not in"
    "                  ('END', 'FAILED', 'RAISED', 'ABORTED'))"
    "  from wf.instance_v i"
    " where i.instance_id = $1::bigint and $2::bigint is null"
    " union all "
    "select p.state in ('END', 'FAILED', 'RAISED', 'ABORTED')"
    "  from wf.process_v p"
    " where p.instance_id = $1::bigint and p.process_id = $2::bigint";

/* $3 attempt or null for the latest, $4 where each attempt was read to. */
static const char output_sql[] =
    "select o.process_id, o.process_id || '/' || o.attempt,"
    "       o.start + o.size, o.dropped, o.label, o.body"
    "  from wf.output_v o join wf.process_v p"
    "       on p.instance_id = o.instance_id and p.process_id = o.process_id"
    " where o.instance_id = $1::bigint"
    "   and ($2::bigint is null or o.process_id = $2::bigint)"
    "   and o.attempt = coalesce($3::int, p.attempt)"
    "   and o.start >= coalesce(($4::jsonb ->>"
    "           (o.process_id || '/' || o.attempt))::bigint, 0)"
    " order by o.at, o.process_id, o.start";

struct reader {
	const struct console *console;
	struct target target;
	struct buf seen;  /* members of an object; the last of a name counts */
	size_t last;      /* where the last one begins */
	char process[24]; /* that wrote last */
	bool in_line;     /* and has not ended its line */
	bool is_for_eyes; /* a terminal: nothing may move its cursor */
};

static struct pg_result *
ask(const struct reader *reader, const char *sql, bool output,
    struct error *err)
{
	struct pg_params params;
	struct pg_result *result;
	char *seen;

	pg_params_init(&params);
	pg_params_add_bigint(&params, reader->target.instance);
	if (reader->target.process != 0)
		pg_params_add_bigint(&params, reader->target.process);
	else
		pg_params_add(&params, NULL);
	if (output) {
		struct buf object;

		buf_init(&object, 0);
		buf_addf(&object, "{%s}", reader->seen.data);
		seen = buf_take(&object);
		pg_params_add(
		    &params, console_value(reader->console, "attempt"));
		pg_params_add(&params, seen);
		free(seen);
	}
	result = console_query_params(reader->console, sql, &params, err);
	pg_params_release(&params);
	return result;
}

/* Of several tasks each line says whose it is. */
static void
begin_line(struct reader *reader, const char *process, const char *label)
{
	struct buf safe;

	if (reader->target.process != 0)
		return;
	buf_init(&safe, 0);
	text_add_safe(&safe, label, "");
	printf("%s %s | ", process, safe.data);
	buf_release(&safe);
}

static void
print_text(struct reader *reader, const char *process, const char *label,
    const char *text)
{
	struct buf safe;
	size_t len;

	buf_init(&safe, 0);
	if (reader->is_for_eyes)
		text_add_safe(&safe, text, "\n\t");
	else
		buf_adds(&safe, text);
	for (text = safe.data; *text != '\0'; text += len) {
		if (!reader->in_line)
			begin_line(reader, process, label);
		len = strcspn(text, "\n");
		len += text[len] == '\n';
		fwrite(text, 1, len, stdout);
		reader->in_line = text[len - 1] != '\n';
	}
	buf_release(&safe);
}

/* The attempt was read to there; over what was said of it just before. */
static void
remember(struct reader *reader, const char *attempt, const char *end)
{
	struct buf *seen = &reader->seen;
	char name[64];

	snprintf(name, sizeof(name), "\"%s\":", attempt);
	if (strncmp(seen->data + reader->last, name, strlen(name)) == 0)
		buf_truncate(seen, reader->last);
	else if (seen->len > 0)
		buf_addc(seen, ',');
	reader->last = seen->len;
	buf_addf(seen, "%s%s", name, end);
}

static void
print_row(struct reader *reader, const struct pg_result *rows, int row)
{
	const char *process = pg_value(rows, row, 0);
	const char *label = pg_value(rows, row, 4);
	const char *dropped = pg_value(rows, row, 3);
	char gap[64];

	if (reader->in_line && strcmp(process, reader->process) != 0)
		print_text(reader, process, label, "\n");
	if (strcmp(dropped, "0") != 0) {
		snprintf(gap, sizeof(gap), "%s[%s bytes dropped]\n",
		    reader->in_line ? "\n" : "", dropped);
		print_text(reader, process, label, gap);
	}
	print_text(reader, process, label, pg_value(rows, row, 5));
	snprintf(reader->process, sizeof(reader->process), "%s", process);
	remember(reader, pg_value(rows, row, 1), pg_value(rows, row, 2));
}

static bool
print_output(struct reader *reader, struct error *err)
{
	struct pg_result *rows = ask(reader, output_sql, true, err);
	int row;

	if (rows == NULL)
		return false;
	for (row = 0; row < pg_rows(rows); row++)
		print_row(reader, rows, row);
	pg_result_free(rows);
	fflush(stdout);
	return true;
}

/* Look whether it ends, then print: so nothing is missed. */
static bool
step(struct reader *reader, bool *is_over, struct error *err)
{
	struct pg_result *state = ask(reader, state_sql, false, err);
	bool found;

	if (state == NULL)
		return false;
	found = pg_rows(state) > 0;
	*is_over = found && pg_value_bool(state, 0, 0);
	pg_result_free(state);
	if (found)
		return print_output(reader, err);
	error_set(err, "no such instance or process");
	error_hint(err, "`wf-console list` and `wf-console tree` show them.");
	return false;
}

enum exit_code
cmd_log(struct console *console, struct error *err)
{
	static const struct timespec pause = { .tv_nsec = REST_MS * 1000000L };
	struct reader reader = { .console = console };
	bool follow = console_flag(console, "follow"), over = false, ok;

	if (console_is_script(console))
		return console_run_sql(console, err);
	(void)target_parse(console_value(console, "TARGET"), &reader.target);
	reader.is_for_eyes = isatty(STDOUT_FILENO);
	buf_init(&reader.seen, 0);
	ok = step(&reader, &over, err);
	while (ok && follow && !over && !ferror(stdout)) {
		nanosleep(&pause, NULL);
		ok = step(&reader, &over, err);
	}
	if (reader.in_line)
		putchar('\n');
	buf_release(&reader.seen);
	return ok ? EXIT_DONE : EXIT_FAILED;
}
