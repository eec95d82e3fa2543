/*
 * text.h - strings as a terminal shows them.
 *
 * Everything that comes from a database or a file passes through here before
 * it is printed, so that no value can move the cursor, change colours or turn
 * the line around.
 */
#ifndef CONSOLE_TEXT_H
#define CONSOLE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/*
 * Add `text` with an escape for each character that is not printable: \n, \t,
 * \x1b, \u202e.  `keep` lists characters below space that stay.
 */
void text_add_safe(struct buf *buf, const char *text, const char *keep);

/*
 * As text_add_safe, for text that is JSON: \u001b, so that it stays JSON, and a
 * blank for line ends and tabs.
 */
void text_add_safe_json(struct buf *buf, const char *text, const char *keep);

/* How many columns `text`, already safe, takes. */
size_t text_width(const char *text);

/*
 * Add `text`, already safe, in exactly `width` columns: padded with spaces
 * (on the left if `right`), or cut and closed with `mark`.
 */
void text_add_fitted(struct buf *buf, const char *text, size_t width,
    bool right, const char *mark);

/*
 * Add `text`, already safe, in lines that end before column `width`.  It
 * begins at column `indent`, and so does each further line.  Lines break
 * between words, and in a word only where that is longer than a line.
 */
void text_add_wrapped(
    struct buf *buf, const char *text, size_t indent, size_t width);

#endif
