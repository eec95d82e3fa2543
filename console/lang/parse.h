/*
 * parse.h - tokens to a file's declarations.
 */
#ifndef LANG_PARSE_H
#define LANG_PARSE_H

struct arena;
struct file;
struct lang_result;
struct source;

/*
 * Scan and parse a whole file.  After an error the parser goes on at the next
 * step, clause or declaration; the tree is then incomplete, but sound.
 */
struct file *parse(struct arena *arena, const struct source *source,
    struct lang_result *result);

#endif
