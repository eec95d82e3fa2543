/*
 * print.h - a compiled tree as the text of a file.
 */
#ifndef LANG_PRINT_H
#define LANG_PRINT_H

struct json;
struct lang_result;

/*
 * A text that compiles to the workflows of the tree, or to `only` one of them,
 * laid out; comments and lines are not part of a tree.  It was compiled and
 * compared with the tree, so both say the same.  NULL, and reported, if there
 * is no such text.  `result` has an arena.  The caller frees the text.
 */
char *print_spec(const char *path, const struct json *spec, const char *only,
    struct lang_result *result);

#endif
