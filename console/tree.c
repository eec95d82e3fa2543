#include "console/tree.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "common/pg.h"
#include "console/cell.h"
#include "console/terminal.h"
#include "console/text.h"

/*
 * Deeper than a tree of the workspace may be; processes below are drawn flat.
 */
#define DEEPEST 256
#define WIDEST_LABEL 60 /* without a terminal; states line up no further */
#define NARROWEST_LABEL 16

/* Where the columns of wf.tree are. */
struct layout {
	int id, depth, label, kind, state, attempt, note, progress, elapsed;
};

/* One process as it is printed. */
struct line {
	const char *id;
	int depth;
	bool is_last; /* of the children of its parent */
	char *label;  /* mark and label, safe; owned */
	const char *state;
	char *note;    /* attempt, progress and note, safe; owned */
	char *elapsed; /* how long it took, or is in its state; owned */
};

/* Widths that all lines share. */
struct widths {
	size_t id, label;
};

static int64_t
depth_of(const struct pg_result *rows, int row, int column)
{
	int64_t depth = pg_value_bigint(rows, row, column);

	return depth < 0 ? 0 : depth < DEEPEST ? depth : DEEPEST - 1;
}

/* The progress of the instance, and of tasks that report it. */
static const char *
progress_of(const struct pg_result *rows, const struct layout *at, int row)
{
	const char *kind = pg_value(rows, row, at->kind);

	if (depth_of(rows, row, at->depth) > 0 && kind != NULL &&
	    strcmp(kind, "sync") != 0 && strcmp(kind, "async") != 0)
		return NULL;
	return pg_value(rows, row, at->progress);
}

static void
read_line(struct line *line, const struct terminal *terminal,
    const struct pg_result *rows, const struct layout *at, int row)
{
	const char *label = pg_value(rows, row, at->label);
	const char *note = pg_value(rows, row, at->note);
	const char *state = pg_value(rows, row, at->state);
	const char *progress = progress_of(rows, at, row);
	const char *elapsed = pg_value(rows, row, at->elapsed);
	int64_t attempt = pg_value_bigint(rows, row, at->attempt);
	struct buf text;

	line->id = pg_value(rows, row, at->id);
	line->depth = (int)depth_of(rows, row, at->depth);
	line->state = state != NULL ? state : "";
	buf_init(&text, 0);
	buf_addf(&text, "%s ", terminal_state_mark(terminal, line->state));
	text_add_safe(&text, label != NULL ? label : "", "");
	line->label = buf_take(&text);
	if (elapsed != NULL && strtod(elapsed, NULL) >= 1)
		cell_add_duration(&text, elapsed);
	line->elapsed = buf_take(&text);
	if (attempt > 1)
		buf_addf(&text, "attempt %lld", (long long)attempt);
	if (progress != NULL) {
		buf_adds(&text, text.len > 0 ? ", " : "");
		buf_addf(&text, "%.0f %%", strtod(progress, NULL) * 100);
	}
	if (note != NULL && note[0] != '\0') {
		buf_adds(&text, text.len > 0 ? ", " : "");
		text_add_safe(&text, note, "");
	}
	line->note = buf_take(&text);
}

/*
 * Read from the end, where the last line of its depth has no sibling below it.
 * `open` gets the depths at which trunks come from above.
 */
static struct line *
read_lines(
    const struct terminal *terminal, const struct pg_result *rows, bool *open)
{
	const struct layout at = {
		.id = pg_column(rows, "process_id"),
		.depth = pg_column(rows, "depth"),
		.label = pg_column(rows, "label"),
		.kind = pg_column(rows, "kind"),
		.state = pg_column(rows, "state"),
		.attempt = pg_column(rows, "attempt"),
		.note = pg_column(rows, "note"),
		.progress = pg_column(rows, "progress"),
		.elapsed = pg_column(rows, "elapsed_s"),
	};
	struct line *lines = xcalloc((size_t)pg_rows(rows), sizeof(*lines));
	int row, depth;

	for (row = pg_rows(rows) - 1; row >= 0; row--) {
		read_line(&lines[row], terminal, rows, &at, row);
		depth = lines[row].depth;
		lines[row].is_last = !open[depth];
		open[depth] = true;
		memset(open + depth + 1, 0, (size_t)(DEEPEST - depth - 1));
	}
	return lines;
}

/* The branches before a line; `open` says which trunks go on below it. */
static void
add_branches(struct buf *text, const struct glyphs *glyphs,
    const struct line *line, bool *open)
{
	int i;

	for (i = 1; i < line->depth; i++)
		buf_adds(text, open[i] ? glyphs->trunk : glyphs->gap);
	if (line->depth > 0)
		buf_adds(text, line->is_last ? glyphs->corner : glyphs->branch);
	open[line->depth] = !line->is_last;
}

static void
add_note(struct buf *text, const struct terminal *terminal, const char *note,
    size_t used)
{
	size_t width = text_width(note);

	if (terminal->width > used + 8 && width > terminal->width - used)
		width = terminal->width - used;
	text_add_fitted(text, note, width, false, terminal->glyphs->more);
}

static void
print_line(const struct terminal *terminal, const struct line *line,
    const char *branches, const struct widths *widths, FILE *out)
{
	enum style style = terminal_state_style(line->state);
	size_t used = text_width(branches);
	struct buf text;

	buf_init(&text, 0);
	buf_addf(&text, "%s%*s  %s%s", terminal_begin(terminal, STYLE_DIM),
	    (int)widths->id, line->id, branches,
	    terminal_end(terminal, STYLE_DIM));
	text_add_fitted(&text, line->label,
	    used < widths->label ? widths->label - used : 1, false,
	    terminal->glyphs->more);
	buf_addf(&text, "  %s%s%s", terminal_begin(terminal, style),
	    line->state, terminal_end(terminal, style));
	used = widths->id + 2 + widths->label + 2 + strlen(line->state) + 2;
	if (line->note[0] != '\0') {
		buf_adds(&text, "  ");
		add_note(&text, terminal, line->note, used);
	}
	used += text_width(line->note) + 2;
	if (line->elapsed[0] != '\0' &&
	    (terminal->width == 0 ||
	        used + strlen(line->elapsed) <= terminal->width))
		buf_addf(&text, "%s%s", line->note[0] != '\0' ? ", " : "  ",
		    line->elapsed);
	fprintf(out, "%s\n", text.data);
	buf_release(&text);
}

static struct widths
measure(const struct terminal *terminal, const struct line *lines, int count)
{
	size_t branch = text_width(terminal->glyphs->branch), width, limit;
	struct widths widest = { 0 };
	int i;

	for (i = 0; i < count; i++) {
		width = text_width(lines[i].label) +
		        (size_t)lines[i].depth * branch;
		if (width > widest.label)
			widest.label = width;
		if (strlen(lines[i].id) > widest.id)
			widest.id = strlen(lines[i].id);
	}
	limit = terminal->width > 0 ? terminal->width * 3 / 5 : WIDEST_LABEL;
	if (limit < NARROWEST_LABEL)
		limit = NARROWEST_LABEL;
	if (widest.label > limit)
		widest.label = limit;
	return widest;
}

void
tree_print(const struct terminal *terminal, const struct pg_result *rows,
    int count, FILE *out)
{
	bool open[DEEPEST] = { false };
	struct line *lines = read_lines(terminal, rows, open);
	struct widths widths = measure(terminal, lines, count);
	struct buf branches;
	int i;

	buf_init(&branches, 0);
	for (i = 0; i < pg_rows(rows); i++) {
		buf_truncate(&branches, 0);
		add_branches(&branches, terminal->glyphs, &lines[i], open);
		if (i < count)
			print_line(
			    terminal, &lines[i], branches.data, &widths, out);
		free(lines[i].label);
		free(lines[i].note);
		free(lines[i].elapsed);
	}
	buf_release(&branches);
	free(lines);
}
