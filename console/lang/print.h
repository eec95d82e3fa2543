/*
 * print.h - a compiled tree as the text of a file.
 */
#ifndef LANG_PRINT_H
#define LANG_PRINT_H

struct json;
struct lang_result;

/*
 * A text that compiles to the workflows of the tree, or to `only` one of them,
 * laid out; comments and lines are not part of a tree.  It has been compiled and compared, so it says
 * what the tree says.  NULL, and reported, if there is no such text.  `result`
 * has an arena.  The caller frees the text.
 */
char *print_spec(const char *path, const struct json *spec, const char *only,
    struct lang_result *result);

#endif
