/*
 * writer.h - what the files of the writer share.
 *
 * The writer is the reverse of the emitter: it reads a compiled tree and writes
 * a text that compiles to it.  Its text has no layout; the formatter gives it
 * one.
 */
#ifndef LANG_WRITER_H
#define LANG_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/compiler.h"
#include "common/json.h"
#include "console/lang/arena.h"

struct lang_result;
struct policy_rule;

/* A workflow that the text declares. */
struct declared {
	struct declared *next;
	const char *name;      /* in the text */
	const char *tree_name; /* in the tree: several may share it */
	const char *text; /* after the name; NULL: one of the file itself */
};

/* A task type that the tree uses. */
struct used_type {
	struct used_type *next;
	const char *name;
};

/*
 * Choices that the tree leaves open; only one of them compiles to the tree
 * again.
 */
enum {
	WAY_STRINGS = 1, /* "PT1H" is a string, not the duration 1h */
	WAY_BRACKETS = 2 /* a["k"], not a.k */
};

struct writer {
	struct arena *arena;
	struct lang_result *result;
	const char *path; /* what messages call the tree */
	unsigned ways;
	struct buf out;
	struct buf where;          /* in the tree, for messages */
	const struct json *types;  /* all types of the tree */
	const struct json *passed; /* the arguments for names like `__…` */
	struct declared *declared;
	const char *main_name; /* of the workflow that is `main`; or NULL */
	struct used_type *used;
	int indent;
	bool in_text;  /* in ${…} */
	bool in_value; /* in ["const", …] */
	bool failed;
};

/* write_place.c */
/*
 * Go on to a part of the tree; go back, to the length that write_enter
 * returned.
 */
size_t write_enter(struct writer *writer, const char *format, ...)
    PRINTF_LIKE(2, 3);
void write_leave(struct writer *writer, size_t before);
/* Report that this part of the tree can not be written. */
void write_fault(struct writer *writer, const char *format, ...)
    PRINTF_LIKE(2, 3);
void write_line(struct writer *writer);
/*
 * Write a name; with write_word one that may be a reserved word; joined by
 * dots.
 */
void write_name(struct writer *writer, const char *name);
void write_word(struct writer *writer, const char *word);
void write_qname(struct writer *writer, const char *name);

/* write_text.c: string literals */
void write_string(struct writer *writer, const struct json *string);
/* The key of a member, in quotes if it needs them. */
void write_key(struct writer *writer, const char *key);
/* ["text", …] */
void write_text(struct writer *writer, const struct json *expr);

/* write_expr.c */
void write_expr(struct writer *writer, const struct json *expr);
/* The same in a place where the grammar has only an `or` or an `add`. */
void write_or(struct writer *writer, const struct json *expr);
void write_add(struct writer *writer, const struct json *expr);
/* the name of the error of a catch */
void write_caught(struct writer *writer, const char *name);
/* {key: expr, …} */
void write_object(struct writer *writer, const struct json *object);
/* the expression under `key` of an object, which is part of the path */
void write_member(
    struct writer *writer, const struct json *object, const char *key);

/* write_policy.c */
/* `with …` of a node or a declaration, if there is anything to write. */
void write_with(struct writer *writer, const struct json *node);
/*
 * Whether an argument of this name passes a policy on and is not a parameter.
 */
bool is_passed(const char *name);

/* write_process.c */
void write_steps(struct writer *writer, const struct json *steps);
void write_block(struct writer *writer, const struct json *body);

/* write_decl.c */
void write_type(struct writer *writer, const struct json *type);
void write_workflow(struct writer *writer, const struct json *workflow);
void write_task_type(struct writer *writer, const struct json *type);
/* The name that the text has for the called workflow. */
const char *write_called(struct writer *writer, const struct json *call);

#endif
