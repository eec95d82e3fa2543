/*
 * cmd_log.c - the output of the programs of tasks, also as it comes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"
#include "common/pg.h"
#include "console/at_rest.h"
#include "console/cell.h"
#include "console/commands.h"
#include "console/console.h"
#include "console/text.h"
#include "console/value.h"

/* Put around the SQL of the command table: only rows that were not read yet. */
static const char output_sql[] =
    "select process_id, process_id || '/' || attempt, start + size, dropped,"
    "       label, body, at"
    "  from (%s) o"
    " where start >= coalesce((:seen::jsonb ->>"
    "           (process_id || '/' || attempt))::bigint, 0)"
    " order by at, process_id, start";

/* How far the output of an attempt has been read. */
struct place {
	char attempt[48]; /* "42/1" */
	char end[24];
};

struct reader {
	struct console *console;
	struct target target;
	struct place *places; /* one for each attempt that has written */
	size_t place_count;
	char process[24]; /* the last writer */
	bool in_line;     /* it has not ended its line */
	bool has_times;   /* each line begins with when it was written */
	bool is_for_eyes; /* a terminal: nothing may move its cursor */
};

static struct pg_result *
ask_output(const struct reader *reader, struct error *err)
{
	struct console *console = reader->console;
	char *sql = xasprintf(output_sql, console->invocation.command->sql);
	struct pg_result *result;
	struct buf seen;
	size_t i;

	buf_init(&seen, 0);
	buf_addc(&seen, '{');
	for (i = 0; i < reader->place_count; i++)
		buf_addf(&seen, "%s\"%s\":%s", i > 0 ? "," : "",
		    reader->places[i].attempt, reader->places[i].end);
	buf_addc(&seen, '}');
	invocation_add(&console->invocation, "seen", "JSON", seen.data);
	result = console_query(console, sql, err);
	invocation_drop(&console->invocation, 1);
	buf_release(&seen);
	free(sql);
	return result;
}

/* One row of the output: of which task it is, and when it was written. */
struct writer {
	const char *process;
	const char *label;
	const char *at;
};

/* With --times each line says when; if there are several tasks, whose it is. */
static void
begin_line(struct reader *reader, const struct writer *writer)
{
	static const struct column time = { "at", VALUE_TIME };
	struct buf safe;

	buf_init(&safe, 0);
	if (reader->has_times) {
		cell_add(&safe, &time, writer->at);
		buf_adds(&safe, "  ");
	}
	if (reader->target.process == 0) {
		buf_addf(&safe, "%s ", writer->process);
		text_add_safe(&safe, writer->label, "");
		buf_adds(&safe, " | ");
	}
	fwrite(safe.data, 1, safe.len, reader->console->out);
	buf_release(&safe);
}

static void
print_text(struct reader *reader, const struct writer *writer, const char *text)
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
			begin_line(reader, writer);
		len = strcspn(text, "\n");
		len += text[len] == '\n';
		fwrite(text, 1, len, reader->console->out);
		reader->in_line = text[len - 1] != '\n';
	}
	buf_release(&safe);
}

/* Note how far it has been read. */
static void
remember(struct reader *reader, const char *attempt, const char *end)
{
	struct place *place;
	size_t i = 0;

	while (i < reader->place_count &&
	       strcmp(reader->places[i].attempt, attempt) != 0)
		i++;
	if (i == reader->place_count) {
		reader->places = xreallocarray(
		    reader->places, ++reader->place_count, sizeof(*place));
		place = &reader->places[i];
		snprintf(place->attempt, sizeof(place->attempt), "%s", attempt);
	}
	place = &reader->places[i];
	snprintf(place->end, sizeof(place->end), "%s", end);
}

static void
print_row(struct reader *reader, const struct pg_result *rows, int row)
{
	const struct writer writer = { .process = pg_value(rows, row, 0),
		.label = pg_value(rows, row, 4),
		.at = pg_value(rows, row, 6) };
	const char *dropped = pg_value(rows, row, 3);
	char gap[64];

	if (reader->in_line && strcmp(writer.process, reader->process) != 0)
		print_text(reader, &writer, "\n");
	if (strcmp(dropped, "0") != 0) {
		snprintf(gap, sizeof(gap), "%s[%s bytes dropped]\n",
		    reader->in_line ? "\n" : "", dropped);
		print_text(reader, &writer, gap);
	}
	print_text(reader, &writer, pg_value(rows, row, 5));
	snprintf(
	    reader->process, sizeof(reader->process), "%s", writer.process);
	remember(reader, pg_value(rows, row, 1), pg_value(rows, row, 2));
}

static bool
print_output(struct reader *reader, struct error *err)
{
	struct pg_result *rows = ask_output(reader, err);
	int row;

	if (rows == NULL)
		return false;
	for (row = 0; row < pg_rows(rows); row++)
		print_row(reader, rows, row);
	pg_result_free(rows);
	fflush(reader->console->out);
	return true;
}

enum exit_code
cmd_log(struct console *console, struct error *err)
{
	struct reader reader = { .console = console };
	bool follow = console_flag(console, "follow"), over = false, ok;

	if (console_is_script(console))
		return console_run_sql(console, err);
	(void)target_parse(console_value(console, "TARGET"), &reader.target);
	reader.is_for_eyes = isatty(STDOUT_FILENO);
	reader.has_times = console_flag(console, "times");
	do {
		/* ask first whether it has ended, then for output: none is
		 * missed */
		ok = at_rest(console, &reader.target, &over, err) &&
		     print_output(&reader, err);
	} while (ok && follow && !over && at_rest_wait(console));
	if (reader.in_line)
		putc('\n', console->out);
	free(reader.places);
	return ok ? EXIT_DONE : EXIT_FAILED;
}
