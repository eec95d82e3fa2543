#include "console/gantt.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "common/pg.h"
#include "console/terminal.h"
#include "console/text.h"

#define WIDEST_LABEL 60
#define NARROWEST_CHART 10
#define USUAL_CHART 40 /* columns, if the width is unlimited */

/* One attempt.  Its times are seconds since the first task could begin. */
struct bar {
	const char *id;
	const char *state;
	char *label;                  /* and attempt, safe; owned */
	double enabled, begun, ended; /* begun == ended: not begun yet */
};

struct chart {
	struct bar *bars; /* owned */
	int count;
	double seconds;   /* all of it */
	const char *from; /* the first time */
};

static double
seconds_of(const struct pg_result *rows, int row, int column, double otherwise)
{
	const char *text = pg_value(rows, row, column);

	return text != NULL ? strtod(text, NULL) : otherwise;
}

static void
read_bar(struct bar *bar, const struct pg_result *rows, int row)
{
	const char *label = pg_value(rows, row, pg_column(rows, "label"));
	const char *state = pg_value(rows, row, pg_column(rows, "state"));
	int64_t attempt =
	    pg_value_bigint(rows, row, pg_column(rows, "attempt"));
	double now = seconds_of(rows, row, pg_column(rows, "now_s"), 0);
	struct buf text;

	buf_init(&text, 0);
	text_add_safe(&text, label != NULL ? label : "", "");
	if (attempt > 1)
		buf_addf(&text, " attempt %lld", (long long)attempt);
	bar->label = buf_take(&text);
	bar->id = pg_value(rows, row, pg_column(rows, "process_id"));
	bar->state = state != NULL ? state : "";
	bar->enabled = seconds_of(rows, row, pg_column(rows, "enabled_s"), 0);
	bar->ended = seconds_of(rows, row, pg_column(rows, "ended_s"), now);
	bar->begun =
	    seconds_of(rows, row, pg_column(rows, "started_s"), bar->ended);
}

static struct chart
read_chart(const struct pg_result *rows, int count)
{
	struct chart chart = { .count = count };
	int row;

	chart.bars = xcalloc((size_t)count, sizeof(*chart.bars));
	chart.from = pg_value(rows, 0, pg_column(rows, "from_at"));
	for (row = 0; row < count; row++) {
		read_bar(&chart.bars[row], rows, row);
		if (chart.bars[row].ended > chart.seconds)
			chart.seconds = chart.bars[row].ended;
	}
	return chart;
}

static void
release_chart(struct chart *chart)
{
	int i;

	for (i = 0; i < chart->count; i++)
		free(chart->bars[i].label);
	free(chart->bars);
}

/* Three digits are enough: 0.1 s, 12.5 s, 3 min 05 s, 2 h 07 min. */
static void
add_duration(struct buf *text, double seconds)
{
	long whole = (long)(seconds + 0.5);

	if (seconds < 59.95)
		buf_addf(text, "%.1f s", seconds);
	else if (whole < 3600)
		buf_addf(text, "%ld min %02ld s", whole / 60, whole % 60);
	else
		buf_addf(
		    text, "%ld h %02ld min", whole / 3600, whole / 60 % 60);
}

/* Text ---------------------------------------------------------------------- */

/*
 * The place of a time on a scale with so many places, including the last one.
 */
static size_t
place(const struct chart *chart, double seconds, size_t places)
{
	size_t at = chart->seconds > 0
	                ? (size_t)(seconds / chart->seconds * (double)places)
	                : 0;

	return at < places ? at : places - 1;
}

static void
add_bar(struct buf *text, const struct chart *chart, const struct bar *bar,
    const struct glyphs *glyphs, size_t width)
{
	size_t enabled = place(chart, bar->enabled, width);
	size_t begun = place(chart, bar->begun, width);
	size_t ended = place(chart, bar->ended, width), i;
	bool ran = bar->begun < bar->ended || strcmp(bar->state, "END") == 0;

	for (i = 0; i < width; i++)
		buf_adds(text, i < enabled || i > ended ? " "
		               : i >= begun && ran      ? glyphs->ran
		                                        : glyphs->waited);
}

struct widths {
	size_t id, label, state, chart;
};

static struct widths
measure(const struct terminal *terminal, const struct chart *chart)
{
	struct widths widths = { .chart = USUAL_CHART };
	size_t limit =
	    terminal->width > 60 ? terminal->width * 2 / 5 : WIDEST_LABEL;
	size_t used, width;
	int i;

	for (i = 0; i < chart->count; i++) {
		width = text_width(chart->bars[i].label) + 2;
		if (width > widths.label)
			widths.label = width < limit ? width : limit;
		if (strlen(chart->bars[i].id) > widths.id)
			widths.id = strlen(chart->bars[i].id);
		if (strlen(chart->bars[i].state) > widths.state)
			widths.state = strlen(chart->bars[i].state);
	}
	used = widths.id + widths.label + widths.state + 8 + 12;
	if (terminal->width > used + NARROWEST_CHART)
		widths.chart = terminal->width - used;
	else if (terminal->width > 0)
		widths.chart = NARROWEST_CHART;
	return widths;
}

static void
add_line(struct buf *text, const struct terminal *terminal,
    const struct chart *chart, const struct bar *bar,
    const struct widths *widths)
{
	enum style style = terminal_state_style(bar->state);
	struct buf label;

	buf_init(&label, 0);
	buf_addf(&label, "%s %s", terminal_state_mark(terminal, bar->state),
	    bar->label);
	buf_addf(text, "%s%*s%s  ", terminal_begin(terminal, STYLE_DIM),
	    (int)widths->id, bar->id, terminal_end(terminal, STYLE_DIM));
	text_add_fitted(
	    text, label.data, widths->label, false, terminal->glyphs->more);
	buf_addf(text, "  %s%-*s  ", terminal_begin(terminal, style),
	    (int)widths->state, bar->state);
	add_bar(text, chart, bar, terminal->glyphs, widths->chart);
	buf_addf(text, "%s  ", terminal_end(terminal, style));
	add_duration(text, bar->ended - bar->begun);
	buf_addc(text, '\n');
	buf_release(&label);
}

void
gantt_print(const struct terminal *terminal, const struct pg_result *rows,
    int count, FILE *out)
{
	struct chart chart = read_chart(rows, count);
	struct widths widths = measure(terminal, &chart);
	struct buf text;
	int i;

	buf_init(&text, 0);
	buf_addf(&text, "from %s, ", chart.from);
	add_duration(&text, chart.seconds);
	buf_addc(&text, '\n');
	for (i = 0; i < count; i++)
		add_line(&text, terminal, &chart, &chart.bars[i], &widths);
	fputs(text.data, out);
	buf_release(&text);
	release_chart(&chart);
}

/* SVG ----------------------------------------------------------------------- */

enum {
	LABELS = 320, /* pixels to the left of the bars */
	BARS = 800,
	LINE = 20,
};

/* The colours that a picture has for the styles of states. */
static const char *
colour_of(const char *state)
{
	static const char *const colours[STYLE_COUNT] = {
		[STYLE_GOOD] = "#74c476",
		[STYLE_BUSY] = "#6baed6",
		[STYLE_WAIT] = "#fdd049",
		[STYLE_BAD] = "#fb6a4a",
	};
	const char *colour = colours[terminal_state_style(state)];

	return colour != NULL ? colour : "#bdbdbd";
}

static void
add_xml(struct buf *text, const char *value)
{
	for (; *value != '\0'; value++) {
		switch (*value) {
		case '&':
			buf_adds(text, "&amp;");
			break;
		case '<':
			buf_adds(text, "&lt;");
			break;
		case '>':
			buf_adds(text, "&gt;");
			break;
		case '"':
			buf_adds(text, "&quot;");
			break;
		default:
			buf_addc(text, *value);
		}
	}
}

static void
add_rectangle(struct buf *text, const struct chart *chart, double from,
    double to, int y, const char *colour)
{
	double scale = chart->seconds > 0 ? BARS / chart->seconds : 0;
	double width = (to - from) * scale;

	buf_addf(text,
	    "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" "
	    "fill=\"%s\"/>\n",
	    LABELS + from * scale, y + 3, width > 1 ? width : 1, LINE - 6,
	    colour);
}

static void
add_drawn(
    struct buf *text, const struct chart *chart, const struct bar *bar, int y)
{
	buf_adds(text, "<g><title>");
	add_xml(text, bar->label);
	buf_addf(text, ": %s, ", bar->state);
	add_duration(text, bar->ended - bar->begun);
	buf_addf(text, "</title>\n<text x=\"4\" y=\"%d\">%s ", y + 14, bar->id);
	add_xml(text, bar->label);
	buf_adds(text, "</text>\n");
	if (bar->begun > bar->enabled)
		add_rectangle(
		    text, chart, bar->enabled, bar->begun, y, "#e0e0e0");
	if (bar->ended > bar->begun || strcmp(bar->state, "END") == 0)
		add_rectangle(text, chart, bar->begun, bar->ended, y,
		    colour_of(bar->state));
	buf_adds(text, "</g>\n");
}

void
gantt_print_svg(const struct pg_result *rows, FILE *out)
{
	struct chart chart = read_chart(rows, pg_rows(rows));
	struct buf text;
	int i;

	buf_init(&text, 0);
	buf_addf(&text,
	    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
	    "height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n"
	    "<text x=\"%d\" y=\"14\">from %s, ",
	    LABELS + BARS + 4, (chart.count + 1) * LINE, LABELS, chart.from);
	add_duration(&text, chart.seconds);
	buf_adds(&text, "</text>\n");
	for (i = 0; i < chart.count; i++)
		add_drawn(&text, &chart, &chart.bars[i], (i + 1) * LINE);
	buf_adds(&text, "</svg>\n");
	fputs(text.data, out);
	buf_release(&text);
	release_chart(&chart);
}
