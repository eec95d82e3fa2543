/*
 * layout.h - text in lines of bounded width.
 *
 * What is to be printed is put down in order, with groups around what belongs
 * together.  A group that fits on the rest of its line is printed flat;
 * otherwise its own lines break, and the groups in it are tried in turn.
 */
#ifndef LANG_LAYOUT_H
#define LANG_LAYOUT_H

#include <stddef.h>

struct arena;

struct layout;

struct layout *layout_new(struct arena *arena);

/* `text` is borrowed; one that holds line ends breaks the groups around. */
void layout_text(struct layout *layout, const char *text);
void layout_text_n(struct layout *layout, const char *text, size_t len);

/* A space, or the end of the line if the group around is broken. */
void layout_line(struct layout *layout);

/* Nothing, or the end of the line if the group around is broken. */
void layout_soft(struct layout *layout);

/* The end of the line, `blank` with an empty line after it; breaks groups. */
void layout_hard(struct layout *layout, int blank);

/* Nothing; breaks the groups around. */
void layout_break(struct layout *layout);

void layout_open(struct layout *layout);
void layout_close(struct layout *layout);

/* Change the indentation of the lines that follow. */
void layout_indent(struct layout *layout, int by);

/* All of it.  The caller frees it. */
char *layout_print(struct layout *layout, int width);

#endif
