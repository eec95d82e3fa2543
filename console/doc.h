/*
 * doc.h - a workflow as a document: its purpose, parameters and result, its
 * steps, its policies, and the task types that it uses.
 */
#ifndef CONSOLE_DOC_H
#define CONSOLE_DOC_H

#include <stdbool.h>

struct buf;
struct json;

/*
 * Add the document of all workflows of a compiled file, or of the one called
 * `only` (NULL: all): plain text, or a page of HTML. `draw` gives the drawing
 * of a workflow for the page, or nothing; NULL: the page has no drawings.
 */
void doc_write(struct buf *buf, const struct json *spec, const char *only,
    bool html,
    void (*draw)(struct buf *buf, const struct json *workflow, void *context),
    void *context);

/* doc_expr.c: a name, an expression, and a type, of docs/spec.md as they are written. */
void doc_add_name(struct buf *buf, const char *name);
void doc_add_expr(struct buf *buf, const struct json *expr);
void doc_add_type(struct buf *buf, const struct json *type);

#endif
