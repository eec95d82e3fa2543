/*
 * emitter.h - what the files of the emitter share.
 */
#ifndef LANG_EMITTER_H
#define LANG_EMITTER_H

#include "common/buf.h"
#include "console/lang/arena.h"
#include "console/lang/ast.h"
#include "console/lang/module.h"
#include "console/lang/type.h"

/* A task type that the trees use. */
struct used {
	struct used *next;
	struct decl *decl;
};

struct emitter {
	struct arena *arena;
	struct buf out;
	const struct source *source; /* of the declaration being emitted */
	struct used *used;           /* sorted by name */
};

/* Policies that reach every task inside; NULL: none. */
struct effects {
	const struct expr *group, *max, *queue, *requires, *priority,
	    *idempotent;
};

/* emit_expr.c */
void emit_string(struct emitter *emitter, const char *text);
void emit_expr(struct emitter *emitter, const struct expr *expr);
/* `,"key":` and the expression */
void emit_member(
    struct emitter *emitter, const char *key, const struct expr *expr);
void emit_args(struct emitter *emitter, const struct arg *args);

/* emit_doc.c: `,"doc":…` of a doc comment, if there is one */
void emit_doc(struct emitter *emitter, const struct comment *doc);

/* emit_policy.c */
struct effects effects_add(
    const struct effects *effects, const struct policy *policies);
/* What is left of effects that nearer policies override in part. */
struct effects effects_reaching(
    const struct effects *effects, const struct policy *policies);
const struct expr *policies_title(const struct policy *policies);
/* Argument number `i` of a retry, NULL if it is not given; there are seven. */
enum { RETRY_ARGS = 7 };
const struct expr *policies_retry(const struct policy *policies, int i);
/* `,"policies":{…}`, if there are any: effects, and a node's own */
void emit_policies(struct emitter *emitter, const struct effects *effects,
    const struct policy *own);

/* emit_process.c */
void emit_steps(struct emitter *emitter, const struct process *steps,
    const struct effects *effects);
int emit_line(const struct emitter *emitter, size_t start);

/* emit_task.c */
/* with their `lines`, if they are a workflow's: those of a library may move
 * without making it another one */
void emit_params(
    struct emitter *emitter, const struct param *params, bool lines);
void emit_task_type(struct emitter *emitter, const struct decl *decl);

#endif
