/*
 * layout.h - text in lines of bounded width.
 *
 * The caller adds text in order, with groups around parts that belong together.
 * A group that fits on the rest of its line is printed flat; otherwise its own
 * lines break, and the groups in it are tried in turn.
 */
#ifndef LANG_LAYOUT_H
#define LANG_LAYOUT_H

#include <stddef.h>

struct arena;

struct layout;

struct layout *layout_new(struct arena *arena);

/* `text` is borrowed; if it has line ends, it breaks the groups around it. */
void layout_text(struct layout *layout, const char *text);
void layout_text_n(struct layout *layout, const char *text, size_t len);

/* A space, or a line end if the group around it is broken. */
void layout_line(struct layout *layout);

/* Nothing, or a line end if the group around it is broken. */
void layout_soft(struct layout *layout);

/* A line end, and if `blank` an empty line after it; it breaks groups. */
void layout_hard(struct layout *layout, int blank);

/* Adds nothing, and breaks the groups around it. */
void layout_break(struct layout *layout);

void layout_open(struct layout *layout);
void layout_close(struct layout *layout);

/* Change the indentation of the lines that follow. */
void layout_indent(struct layout *layout, int by);

/* The whole text.  The caller frees it. */
char *layout_print(struct layout *layout, int width);

#endif
