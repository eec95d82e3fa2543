/*
 * screen.h - a terminal as a screen of lines and a keyboard.
 *
 * While it is open the terminal shows another page without a cursor, and keys
 * come one by one, ^C among them; closing brings back the page from before,
 * whatever ends the program, except SIGKILL.
 */
#ifndef CONSOLE_SCREEN_H
#define CONSOLE_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

struct screen;

enum key {
	KEY_NONE, /* the time has passed */
	KEY_OTHER,
	KEY_RESIZED, /* the screen has another size */
	KEY_QUIT,    /* q, ^C, a signal to end, or the terminal is gone */
	KEY_UP,
	KEY_DOWN,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_FIRST,
	KEY_LAST,
	KEY_OPEN, /* enter */
	KEY_BACK, /* b, left, backspace */
};

/* NULL if standard input and output are not a terminal that can do this. */
struct screen *screen_open(void);

/* NULL is allowed. */
void screen_close(struct screen *screen);

size_t screen_rows(const struct screen *screen);
size_t screen_columns(const struct screen *screen);

/* Add the next line from the top; what does not fit is cut. */
void screen_add(struct screen *screen, const char *line);

/* Show the lines that were added, and start a new screen. */
void screen_show(struct screen *screen);

/* Wait for a key for `ms` at most. */
enum key screen_wait(struct screen *screen, int ms);

#endif
