/*
 * emitter.h - what the files of the emitter share.
 */
#ifndef LANG_EMITTER_H
#define LANG_EMITTER_H

#include "common/buf.h"
#include "console/lang/arena.h"
#include "console/lang/ast.h"
#include "console/lang/module.h"
#include "console/lang/policy.h"
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

/* Policies, in the order of the table; NULL: none. */
struct effects {
	const struct policy *of[POLICIES];
};

/* The names that a node's expressions read, each once. */
struct reads {
	struct arena *arena;
	struct read *list;
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
/* The policies that reach the tasks inside a node with these policies. */
struct effects effects_inside(struct emitter *emitter,
    const struct effects *around, const struct policy *policies);
/* The effects that no nearer policy overrides. */
struct effects effects_reaching(struct emitter *emitter,
    const struct effects *effects, const struct policy *policies);
/*
 * The policies of a task with these, or of a task type (with none around it).
 */
struct effects effects_of_task(struct emitter *emitter,
    const struct effects *around, const struct policy *policies);
/* The policies of a call, a block or a workflow that stay there. */
struct effects effects_of_node(
    struct emitter *emitter, const struct policy *policies);
/* A called workflow may itself decide what its failures do. */
struct effects effects_of_call(
    struct emitter *emitter, const struct process *call);
/* The policies of a workflow that hold for its steps as a whole. */
struct effects effects_of_steps(
    struct emitter *emitter, const struct policy *policies);
bool effects_any(const struct effects *effects);
/*
 * The effects as a call's steps see them.  If a value reads names of the
 * caller, the call passes it as one more argument, after those in `out`.
 */
struct effects effects_pass(struct emitter *emitter,
    const struct effects *effects, struct reads *reads);
/* `,"policies":{…}`, if there are any */
void emit_policies(struct emitter *emitter, const struct effects *effects);

/* emit_process.c */
void reads_add(struct reads *reads, const struct expr *expr);
void emit_steps(struct emitter *emitter, const struct process *steps,
    const struct effects *effects);
int emit_line(const struct emitter *emitter, size_t start);

/* emit_task.c */
/* with their `lines`, if they are a workflow's: lines of a library may change
 * without making it another version */
void emit_params(
    struct emitter *emitter, const struct param *params, bool lines);
void emit_task_type(struct emitter *emitter, const struct decl *decl);

#endif
