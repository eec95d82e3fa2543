/*
 * ast.h - a file as it was written.
 *
 * The parser builds it, the formatter prints it, the checker fills in the
 * fields under "checker", and the emitter reads these fields.  Every `start`
 * and `end` is a range of bytes in the source.  Lists are linked by `next`.
 */
#ifndef LANG_AST_H
#define LANG_AST_H

#include <stdbool.h>
#include <stddef.h>

#include "console/lang/token.h"

struct module;
struct type;

/* A name or qualified name; `text` is NULL where it was left out. */
struct name {
	const char *text;
	size_t start;
};

/* Expressions */

enum expr_kind {
	E_NULL,
	E_BOOL,
	E_NUMBER,
	E_DURATION,
	E_STRING,
	E_TEXT, /* items: strings and the expressions in ${…} */
	E_NAME,
	E_CALL, /* text: the function; items: its arguments */
	E_SECRET,
	E_PAREN, /* a */
	E_LIST,  /* items; braces: written {a, b} */
	E_EACH,  /* [a for text in b if c] */
	E_OBJECT,
	E_FIELD,  /* a.text */
	E_INDEX,  /* a[b] */
	E_UNARY,  /* op a */
	E_BINARY, /* a op b */
	E_CHOICE, /* a ? b : c */
};

struct member {
	struct member *next;
	struct name key;
	struct expr *value;
};

/* A name that an expression reads, and the depth of its scope. */
struct read {
	struct read *next;
	const char *name;
	int depth;
};

struct expr {
	enum expr_kind kind;
	size_t start, end;
	struct expr *next;
	const char
	    *text; /* decoded: a string's value, a duration as ISO 8601 */
	size_t text_start; /* of the name in E_FIELD, E_EACH */
	int depth;         /* levels of the tree from here down */
	bool is_true, braces;
	enum token_kind op;
	struct expr *a, *b, *c, *items;
	struct member *members;
	/* checker */
	bool secret_place; /* a secret may stand here */
	const struct type *type;
	const struct type *cast; /* convert the value to it; NULL: as it is */
	const char *form;        /* the operator in the compiled tree */
	const char *tree_name;   /* the name in the tree, if another one */
	struct read *reads;      /* only at the root of an expression */
};

/* Types, as written: a name, [element] or {members} */
struct type_syntax {
	struct type_syntax *next; /* among the members of an object */
	size_t start, end;
	struct name key;
	const char *name;
	struct type_syntax *element, *members;
	bool is_object, optional;
};

struct param {
	struct param *next;
	size_t start, end;
	const struct comment *doc;
	struct name name;
	struct type_syntax *type_syntax;
	struct expr *value; /* the default, or NULL */
	/* checker */
	const struct type *type;
};

/* name = value; also positional (no name) in policies */
struct arg {
	struct arg *next;
	size_t start, end;
	struct name name;
	struct expr *value;
};

struct policy {
	struct policy *next;
	size_t start, end;
	struct name name;
	bool each, parens;
	struct arg *args;
	struct process *undo; /* the block of `undo { … }` */
};

/* Processes */

enum process_kind {
	P_CALL,
	P_SEQ, /* ( … ) or, with braces, { … } */
	P_PAR,
	P_FORALL,
	P_FOLD,
	P_WHILE,
	P_REPEAT,
	P_DAG,
	P_RACE,
	P_IF,
	P_SWITCH,
	P_TRY,
	P_ATOMIC,
	P_WITH,
	P_LET,
	P_RETURN,
	P_CHECKPOINT,
};

/* collect or yield: value as name */
struct collect {
	struct collect *next;
	size_t start, end;
	struct expr *value;
	struct name as;
};

/*
 * A case of a switch (no values: default), a catch, or the finally after them.
 */
struct branch {
	struct branch *next;
	size_t start, end;
	struct expr *values;
	struct name name;
	struct expr *when;
	struct process *body;
	bool is_finally;
	const char *tree_name; /* checker: what the tree calls `name` */
};

struct process {
	enum process_kind kind;
	size_t start, end;
	struct process *next;
	struct name name;  /* called, or bound by let, forall, fold, while */
	struct name as;    /* call; the element of a fold */
	struct name index; /* forall */
	struct arg *args;  /* call; the attributes in < > */
	struct policy *policies;
	struct type_syntax *type_syntax; /* let */
	struct expr *value;     /* let, return, switch; source or first state */
	struct expr *condition; /* if, while, until; the source of a fold */
	struct process *steps;  /* of seq, par, dag, race, atomic */
	struct process *body;   /* of loops, with and try; then */
	struct process *otherwise; /* else */
	struct branch *branches;
	struct collect *collects;
	struct name *after; /* of a step of a dag; ends with text NULL */
	bool braces, only;
	/* checker */
	struct decl *target;     /* call */
	bool off_line;           /* call: something may run beside it */
	const struct type *type; /* let */
	size_t *before;          /* step of a dag: the steps before it, */
	size_t before_count;     /* by their ordinals */
	struct read *reads;      /* of its own expressions */
	struct read *collect_reads;
};

/* Declarations */

enum request_kind {
	R_START,
	R_POLL,
	R_FETCH,
	R_CANCEL,
	R_CLEANUP,
	R_CALLBACK,
	R_WAIT,
	R_KINDS,
};

enum sub_kind {
	S_EVERY,
	S_HANDLE,
	S_OUTPUT,
	S_PROGRESS,
	S_SUCCESS,
	S_FAILURE,
	S_KINDS,
};

struct sub {
	struct sub *next;
	enum sub_kind kind;
	size_t start, end;
	struct arg *args;   /* every */
	struct expr *value; /* the object or condition */
	struct expr *as;    /* failure when … as */
};

struct clause {
	struct clause *next;
	enum request_kind kind;
	size_t start, end;
	struct name transport;
	struct arg *args;
	struct sub *subs;
};

struct decl {
	struct decl *next;
	size_t start, end;
	const struct comment *doc;
	bool is_task, is_main;
	struct name name; /* as written; `main` for main */
	bool has_params;
	struct param *params;
	struct type_syntax *returns_syntax;
	struct policy *policies;
	struct process *body;   /* of a workflow: a P_SEQ */
	struct clause *clauses; /* of a task */
	/* checker */
	struct module *module;
	const char *full_name;
	const struct type *returns; /* NULL: not declared */
	bool used;                  /* it is called */
	bool has_checkpoint;        /* in it, or in what it calls */
	enum { DECL_NEW, DECL_ACTIVE, DECL_DONE } mark;
	size_t tree_size; /* nodes when expanded */
	int tree_depth;
};

struct import {
	struct import *next;
	size_t start, end;
	struct name name, as;
};

struct file {
	struct import *imports;
	struct decl *decls;
	const struct tokens *tokens;
	bool broken; /* there were errors: it is not complete */
};

#endif
