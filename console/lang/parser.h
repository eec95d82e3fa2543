/*
 * parser.h - what the files of the parser share: the token at hand, errors,
 * and one function per rule of the grammar.
 *
 * A function for a rule returns what it read, or NULL after it has reported an
 * error; then its caller gives up too.  A list of steps, clauses or
 * declarations goes on after the error.
 */
#ifndef LANG_PARSER_H
#define LANG_PARSER_H

#include "console/lang/arena.h"
#include "console/lang/ast.h"
#include "console/lang/diagnostic.h"

enum {
	PARSE_DEPTH_MAX = 100, /* brackets in brackets */
	PARSE_TREE_MAX = 500,  /* levels of one expression's tree */
	PARSE_LIST_MAX = 1000, /* declarations, parameters, arguments, keys */
};

struct parser {
	struct arena *arena;
	const struct source *source;
	struct lang_result *result;
	const struct token *token; /* the token after it */
	const struct token *last;  /* the token before it */
	int depth;                 /* of nested processes and expressions */
	int braces, parens;        /* open ones */
	/* the errors of the scanner, in diagnostics */
	size_t first_error, scan_errors;
};

/* Link `item` to the end of a list whose end is `tail`. */
#define APPEND(tail, item) (*(tail) = (item), (tail) = &(*(tail))->next)

/* parser.c */
bool parser_is(const struct parser *parser, enum token_kind kind);
bool parser_is_word(const struct parser *parser, const char *word);
enum token_kind parser_peek(const struct parser *parser, int ahead);
void parser_advance(struct parser *parser);
bool parser_accept(struct parser *parser, enum token_kind kind);
bool parser_accept_word(struct parser *parser, const char *word);
/* false, and reported, if the next token is another one */
bool parser_expect(struct parser *parser, enum token_kind kind);
/* report an error; false if an error of the scanner explains it */
bool parser_unexpected(struct parser *parser, const char *expected);
char *parser_token_text(const struct parser *parser, const struct token *token);
bool parser_name(struct parser *parser, struct name *name);
bool parser_word(struct parser *parser, struct name *name);
bool parser_qname(struct parser *parser, struct name *name);
/* count one more item in a list of named items; false, and reported, if there
 * are too many */
bool parser_count(struct parser *parser, int *count);
/* false, and reported, if it is nested too deeply */
bool parser_enter(struct parser *parser);
void parser_leave(struct parser *parser);

/* parse_expr.c, parse_prim.c */
struct expr *parse_expr(struct parser *parser);
struct expr *parse_or(struct parser *parser);
struct expr *parse_add(struct parser *parser);
struct expr *parse_prim(struct parser *parser);
struct expr *parse_object(struct parser *parser);
struct expr *parse_string(struct parser *parser);
struct expr *parser_expr_new(struct parser *parser, enum expr_kind kind);
/* it ends with the last token; NULL, and reported, if it is too deep */
struct expr *parser_expr_end(struct parser *parser, struct expr *expr);
bool parse_exprs(
    struct parser *parser, enum token_kind end, struct expr **list);
bool parse_paren_expr(struct parser *parser, struct expr **expr);

/* parse_part.c: arguments, policies, types, parameters */
bool parse_key(struct parser *parser, struct name *key);
bool parse_args(struct parser *parser, struct arg **args);
bool parse_attrs(struct parser *parser, struct arg **args);
bool parse_pargs(struct parser *parser, struct arg **args);
bool parse_policies(struct parser *parser, struct policy **policies);
struct type_syntax *parse_type(struct parser *parser);
bool parse_params(struct parser *parser, struct param **params, bool of_task);

/* parse_process.c, parse_form.c */
struct process *parser_process_new(
    struct parser *parser, enum process_kind kind);
struct process *parse_par(struct parser *parser);
struct process *parse_call(struct parser *parser);
struct process *parse_block(struct parser *parser);
struct process *parse_unary(struct parser *parser);
struct process *parse_form(struct parser *parser);
/* report a step that stands where an operand of `||` is expected */
void parser_no_operand(struct parser *parser, size_t start);
bool parse_seq(struct parser *parser, struct process **steps);
bool parse_collects(struct parser *parser, struct collect **collects);

/* parse_task.c */
bool parse_clauses(struct parser *parser, struct clause **clauses);

#endif
