/*
 * terminal.h - what standard output is, and what may be written to it.
 */
#ifndef CONSOLE_TERMINAL_H
#define CONSOLE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

struct error;

enum style {
	STYLE_PLAIN,
	STYLE_BOLD,
	STYLE_DIM,
	STYLE_GOOD,
	STYLE_BUSY,
	STYLE_WAIT,
	STYLE_BAD,
	STYLE_COUNT,
};

/* Characters to draw with, in UTF-8 or plain ASCII. */
struct glyphs {
	const char *more;   /* what was cut */
	const char *branch; /* a child with siblings below it */
	const char *corner; /* the last child */
	const char *trunk;  /* beside the children of an earlier sibling */
	const char *gap;    /* beside the children of the last one */
	const char *good, *busy, *wait, *bad, *gone; /* marks for states */
	const char *arrow;
	const char *waited, *ran; /* a column of a bar */
};

struct terminal {
	bool is_tty; /* standard output is a terminal */
	bool has_colour;
	size_t width; /* columns to fit into; 0: no limit */
	const struct glyphs *glyphs;
};

/*
 * Look at standard output and the environment: NO_COLOR, COLUMNS, TERM and
 * the locale, which is set here (characters only; numbers stay C).
 */
void terminal_init(struct terminal *terminal, bool no_colour);

/* Escape sequences around text of this style; "" without colour. */
const char *terminal_begin(const struct terminal *terminal, enum style style);
const char *terminal_end(const struct terminal *terminal, enum style style);

/* The style of a state, a result or an answer, and the mark of a state. */
enum style terminal_state_style(const char *state);
const char *terminal_state_mark(
    const struct terminal *terminal, const char *state);

/* Whether someone can be asked: standard input and error are terminals. */
bool terminal_can_ask(void);

/*
 * Ask on standard error; returns the line of the answer without its end, or
 * NULL.
 */
char *terminal_read(const char *question);

/* Ask on standard error; true if the answer is yes. */
bool terminal_ask(const char *question);

#endif
