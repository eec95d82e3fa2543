/*
 * checker.h - what the files of the checker share.
 *
 * The checker reports everything that is wrong with a file, and writes into the
 * syntax tree what the emitter needs: types, operators, conversions, the
 * declarations to which calls refer, and which names each expression reads.
 */
#ifndef LANG_CHECKER_H
#define LANG_CHECKER_H

#include "console/lang/arena.h"
#include "console/lang/ast.h"
#include "console/lang/diagnostic.h"
#include "console/lang/module.h"
#include "console/lang/narrow.h"
#include "console/lang/policy.h"
#include "console/lang/scope.h"
#include "console/lang/type.h"

/* The tree's name for the error of a catch. */
struct caught {
	struct caught *next;
	const char *name;
};

struct checker {
	struct arena *arena;
	struct lang_result *result;
	struct program *program;
	struct module *module;
	struct decl *decl;
	const struct decl *rated; /* whose rates without a name were counted */
	int rates;                /* how many of them */
	struct scope *scope;      /* NULL: no names may be read here */
	struct names *names;      /* bound in the workflow or task type */
	struct binding *locals;   /* of list comprehensions */
	struct known *known;      /* known not to be null here */
	struct beside *beside;    /* the parallel branches around it */
	struct caught *caught;    /* of the workflow's catches so far */
	struct read *reads;       /* of the expression being checked */
	bool in_request;          /* an argument of a request */
	const char *no_secret;    /* why no secret may stand here; or NULL */
};

/* Report an error at a place in the module that is being checked. */
#define COMPLAIN(checker, start, ...) \
	report((checker)->result, (checker)->module->source, start, __VA_ARGS__)
#define HINT(checker, ...) report_hint((checker)->result, __VA_ARGS__)

/*
 * check_expr.c, check_operator.c: find the type of an expression.  The first
 * three are for whole expressions and leave in `expr->reads` what it reads.
 */
void check_value(struct checker *checker, struct expr *expr);
void check_value_as(struct checker *checker, struct expr *expr,
    const struct type *type, const char *what);
void check_condition(
    struct checker *checker, struct expr *expr, const char *what);
void check_expr(struct checker *checker, struct expr *expr);
void check_operator(struct checker *checker, struct expr *expr);
void check_bool(struct checker *checker, struct expr *expr, const char *what);
/* false, and reported, if the value may be null */
bool check_not_null(struct checker *checker, struct expr *expr);
/* Report a case whose value can never equal the value of the switch. */
void check_case(
    struct checker *checker, struct expr *value, struct expr *compared);
/* the expression without parentheses around it */
struct expr *check_bare(struct expr *expr);

/* convert.c: make a checked expression fit, or report that it never does. */
void convert(struct checker *checker, struct expr *expr,
    const struct type *type, const char *what);

/* check_type.c: types as written to types; the headers of declarations. */
const struct type *check_type(
    struct checker *checker, const struct type_syntax *syntax);
void check_header(struct checker *checker, struct decl *decl);

/*
 * check_secret.c: secrets stand in arguments of tasks and of requests, alone,
 * in a list or object, or in a text.  The first function allows that in an
 * argument before it is checked.  The second reports a secret that stands
 * elsewhere.  The third reports one that the task type does not pass on
 * unchanged.
 */
void secret_allow(struct expr *expr);
void check_secret_place(struct checker *checker, struct expr *expr);
void check_secret_argument(
    struct checker *checker, const struct decl *target, const struct arg *arg);
/* report a credential in `headers` that is not a secret */
void check_secret_header(struct checker *checker, const struct arg *arg);
void check_secret(struct checker *checker, struct expr *expr);
/* the first secret(…) in such a place of an argument; NULL: none */
const struct expr *find_secret(const struct expr *expr);

/*
 * check_http.c: literals that a workflow may not set, in an argument of the
 * transport, or in an argument of a task type that passes it on unchanged.
 */
void check_http_arg(
    struct checker *checker, const char *name, struct expr *value);
void check_http_given(struct checker *checker, const struct decl *type,
    const char *param, struct expr *value);

/* check_call.c: arguments against parameters. */
void check_call(struct checker *checker, struct process *call);

/* driver_meta.c: the `driver_meta` of a call becomes its policies. */
void check_driver_meta(struct checker *checker, struct process *call);

/* check_policy.c */
void check_policies(
    struct checker *checker, struct policy *policies, enum policy_place place);

/*
 * Refuse a literal number out of bounds, as install would, but name its line.
 */
enum { CHECK_INT_MAX = 999999999 };
void check_between(struct checker *checker, struct expr *expr, const char *what,
    double least, double most);

/*
 * check_undo.c: whether an undo may stand there, and its block.  The block can
 * read the names that can be read after the node.
 */
void check_undo_place(struct checker *checker, const struct policy *undo,
    enum policy_place place);
void check_no_undo(struct checker *checker, const struct policy *policies);
void check_undo(struct checker *checker, const struct policy *policies);

/* check_process.c: a workflow's body, and a process in it, which is on the main
 * line if nothing runs beside it. */
void check_workflow(struct checker *checker, struct decl *decl);
void check_process(
    struct checker *checker, struct process *process, bool main_line);

/* check_loop.c */
void check_forall(
    struct checker *checker, struct process *forall, bool main_line);
void check_fold(struct checker *checker, struct process *fold, bool main_line);
void check_while(struct checker *checker, struct process *loop, bool main_line);
void check_repeat(
    struct checker *checker, struct process *loop, bool main_line);

/*
 * A form that cannot be checked still binds its names, because steps after it
 * may read them.
 */
void check_unknown(struct checker *checker, const struct process *process);

/* check_dag.c */
void check_dag(
    struct checker *checker, struct process *process, bool main_line);

/* check_atomic.c: the calls of an atomic; whether a block has an atomic and
 * nothing else: then the block has the policies of a task. */
void check_atomic(struct checker *checker, struct process *atomic);
bool is_only_atomic(const struct process *block);

/* check_task.c: the clauses of a task type. */
void check_task(struct checker *checker, struct decl *decl);

/* check_tree.c: recursion and size of a checked workflow. */
void check_tree(struct checker *checker, struct decl *decl);

/*
 * Report a feature that the language does not have yet, and what does its work
 * until then; NULL: nothing does.
 */
void check_unsupported(struct checker *checker, size_t start,
    const char *feature, const char *instead);

#endif
