/*
 * formatter.h - what the files of the formatter share.
 *
 * Comments are not part of the syntax tree.  Each is printed together with the
 * text that follows it in the source, so none is lost.
 */
#ifndef LANG_FORMATTER_H
#define LANG_FORMATTER_H

#include "console/lang/arena.h"
#include "console/lang/ast.h"
#include "console/lang/layout.h"
#include "console/lang/source.h"

struct formatter {
	struct arena *arena;
	const struct source *source;
	const struct tokens *tokens;
	size_t next_comment;
	struct layout *layout;
};

/* format_comment.c */

/* The line end before the text that begins at `start`, and a blank line if the
 * source has one. */
void format_separate(struct formatter *formatter, size_t start);
/* The comments before `start`. */
void format_leading(struct formatter *formatter, size_t start);
/* The comments that follow on the line where something ended. */
void format_trailing(struct formatter *formatter, size_t end);
/* Where the bracket that closes a list stands; `end`: of its last item. */
size_t format_closer(const struct formatter *formatter, size_t end);
/* The comments before a closing bracket, each on its line. */
void format_rest(struct formatter *formatter, size_t closer);
/* The text up to `end` is printed verbatim: skip the comments in it. */
void format_skip(struct formatter *formatter, size_t end);

/* format_expr.c */
void format_expr(struct formatter *formatter, const struct expr *expr);
void format_object(struct formatter *formatter, const struct expr *expr);
void format_key(struct formatter *formatter, const struct name *key);

/* format_part.c */
void format_text(struct formatter *formatter, const char *text);
void format_args(struct formatter *formatter, const struct arg *args,
    size_t start, const char *brackets);
void format_params(
    struct formatter *formatter, const struct param *params, size_t start);
void format_type(struct formatter *formatter, const struct type_syntax *type);
void format_policies(
    struct formatter *formatter, const struct policy *policies);
/* `with …` on a line of its own */
void format_with(struct formatter *formatter, const struct policy *policies);

/* format_process.c */
void format_block(struct formatter *formatter, const struct process *block);
void format_clauses(
    struct formatter *formatter, const struct clause *clauses, size_t end);

#endif
