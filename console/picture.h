/*
 * picture.h - drawings by Graphviz.
 */
#ifndef CONSOLE_PICTURE_H
#define CONSOLE_PICTURE_H

#include <stdbool.h>

struct buf;
struct error;

/* Add the SVG that `dot` makes of `source`. */
bool picture_draw(const char *source, struct buf *picture, struct error *err);

#endif
