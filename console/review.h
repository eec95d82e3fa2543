/*
 * review.h - what a version of a workflow does, as text.
 *
 * The text is printed from the tree, because the tree is what runs.  The source
 * that was installed with it may say anything, and is never shown instead.
 */
#ifndef CONSOLE_REVIEW_H
#define CONSOLE_REVIEW_H

#include <stdbool.h>

struct buf;
struct error;

/* The tree of a version, or of `workflow` in a file, as text; the caller frees
 * it.  `what` names it in messages.  NULL if no text compiles to the tree. */
char *review_text(const char *what, const char *tree, const char *workflow,
    struct error *err);

/* The output of `diff -u` for two texts, under their labels. */
bool review_diff(const char *const *texts, const char *const *labels,
    struct buf *output, struct error *err);

#endif
