#include "console/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/mem.h"

static const struct glyphs utf8_glyphs = {
	.more = "…",
	.branch = "├─ ",
	.corner = "└─ ",
	.trunk = "│  ",
	.gap = "   ",
	.good = "✓",
	.busy = "▶",
	.wait = "·",
	.bad = "✗",
	.gone = "○",
	.arrow = "→",
	.waited = "░",
	.ran = "█",
};

static const struct glyphs ascii_glyphs = {
	.more = "~",
	.branch = "|- ",
	.corner = "`- ",
	.trunk = "|  ",
	.gap = "   ",
	.good = "+",
	.busy = ">",
	.wait = ".",
	.bad = "x",
	.gone = "o",
	.arrow = "->",
	.waited = ".",
	.ran = "=",
};

static const char *const styles[STYLE_COUNT] = {
	[STYLE_PLAIN] = "",
	[STYLE_BOLD] = "\033[1m",
	[STYLE_DIM] = "\033[2m",
	[STYLE_GOOD] = "\033[32m",
	[STYLE_BUSY] = "\033[36m",
	[STYLE_WAIT] = "\033[33m",
	[STYLE_BAD] = "\033[31m",
};

/*
 * How states, results and answers look.  Any other state is under way:
 * STYLE_BUSY. Keep sorted.
 */
static const struct state_look {
	const char *state;
	enum style style;
} state_looks[] = {
	{ "ABORTED", STYLE_DIM },
	{ "END", STYLE_GOOD },
	{ "FAILED", STYLE_BAD },
	{ "INIT", STYLE_WAIT },
	{ "PAUSED", STYLE_WAIT },
	{ "RAISED", STYLE_BAD },
	{ "SUSPENDED", STYLE_WAIT },
	{ "WAITING", STYLE_WAIT },
	{ "aborted", STYLE_DIM },
	{ "done", STYLE_GOOD },
	{ "draining", STYLE_WAIT },
	{ "error", STYLE_BAD },
	{ "installed", STYLE_GOOD },
	{ "left", STYLE_DIM },
	{ "live", STYLE_GOOD },
	{ "lost", STYLE_BAD },
	{ "refused", STYLE_BAD },
	{ "success", STYLE_GOOD },
	{ "warning", STYLE_WAIT },
};

static size_t
find_width(bool is_tty)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (columns != NULL && atoi(columns) > 0)
		return (size_t)atoi(columns);
	if (is_tty && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		return size.ws_col;
	return 0;
}

static bool
find_colour(bool is_tty, bool no_colour)
{
	const char *wish = getenv("NO_COLOR"), *term = getenv("TERM");

	return is_tty && !no_colour && (wish == NULL || wish[0] == '\0') &&
	       term != NULL && strcmp(term, "dumb") != 0;
}

/* The name of the locale, by the variables in their order of precedence. */
static const char *
locale_name(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *name = NULL;
	size_t i;

	for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (name == NULL || name[0] == '\0')
			name = getenv(variables[i]);
	return name != NULL ? name : "";
}

/*
 * Take the locale, and say whether the terminal understands UTF-8.  Setting a
 * locale fails if it is not installed, or if memory runs out, and the error is
 * the same.  The terminal does not depend on that: the name of the locale
 * tells.
 */
static bool
take_locale(void)
{
	const char *name = locale_name();

	if (setlocale(LC_CTYPE, "") != NULL)
		return strcasecmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (strcasestr(name, ".UTF-8") == NULL &&
	    strcasestr(name, ".utf8") == NULL)
		return false;
	/* this locale knows the width of letters */
	(void)setlocale(LC_CTYPE, "C.UTF-8");
	return true;
}

void
terminal_init(struct terminal *terminal, bool no_colour)
{
	bool is_utf8 = take_locale();

	terminal->is_tty = isatty(STDOUT_FILENO);
	terminal->has_colour = find_colour(terminal->is_tty, no_colour);
	terminal->width = find_width(terminal->is_tty);
	terminal->glyphs = is_utf8 ? &utf8_glyphs : &ascii_glyphs;
}

const char *
terminal_begin(const struct terminal *terminal, enum style style)
{
	return terminal->has_colour ? styles[style] : "";
}

const char *
terminal_end(const struct terminal *terminal, enum style style)
{
	return terminal->has_colour && style != STYLE_PLAIN ? "\033[0m" : "";
}

enum style
terminal_state_style(const char *state)
{
	size_t i;

	for (i = 0; i < sizeof(state_looks) / sizeof(state_looks[0]); i++)
		if (strcmp(state_looks[i].state, state) == 0)
			return state_looks[i].style;
	return state[0] >= 'A' && state[0] <= 'Z' ? STYLE_BUSY : STYLE_PLAIN;
}

const char *
terminal_state_mark(const struct terminal *terminal, const char *state)
{
	switch (terminal_state_style(state)) {
	case STYLE_GOOD:
		return terminal->glyphs->good;
	case STYLE_WAIT:
		return terminal->glyphs->wait;
	case STYLE_BAD:
		return terminal->glyphs->bad;
	case STYLE_DIM:
		return terminal->glyphs->gone;
	default:
		return terminal->glyphs->busy;
	}
}

bool
terminal_can_ask(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

char *
terminal_read(const char *question)
{
	char *line = NULL;
	size_t size = 0;

	fputs(question, stderr);
	fflush(stderr);
	if (getline(&line, &size, stdin) <= 0) {
		free(line);
		return NULL;
	}
	line[strcspn(line, "\n")] = '\0';
	return line;
}

bool
terminal_ask(const char *question)
{
	char *asked = xasprintf("%s [y/N] ", question);
	char *answer = terminal_read(asked);
	bool yes = answer != NULL && (strcasecmp(answer, "y") == 0 ||
	                                 strcasecmp(answer, "yes") == 0);

	free(answer);
	free(asked);
	return yes;
}
