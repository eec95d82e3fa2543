/* Expressions: operators, by precedence.  Their operands: parse_prim.c. */
#include "console/lang/parser.h"
#include "console/lang/symbol.h"

struct expr *
parser_expr_new(struct parser *parser, enum expr_kind kind)
{
	struct expr *expr = arena_alloc(parser->arena, sizeof(*expr));

	expr->kind = kind;
	expr->start = expr->text_start = parser->token->offset;
	return expr;
}

static int
deepest(const struct expr *expr, int depth)
{
	for (; expr; expr = expr->next)
		if (expr->depth > depth)
			depth = expr->depth;
	return depth;
}

struct expr *
parser_expr_end(struct parser *parser, struct expr *expr)
{
	const struct member *member;
	int depth = deepest(expr->items, 0);

	depth = deepest(expr->a, depth);
	depth = deepest(expr->b, depth);
	depth = deepest(expr->c, depth);
	for (member = expr->members; member; member = member->next)
		depth = deepest(member->value, depth);
	expr->depth = depth + 1;
	expr->end = parser->last->offset + parser->last->len;
	if (expr->depth <= PARSE_TREE_MAX)
		return expr;
	report(parser->result, parser->source, expr->start,
	    "this expression is more than %d operators deep", PARSE_TREE_MAX);
	return NULL;
}

static struct expr *
binary_new(struct parser *parser, struct expr *left, enum expr_kind kind)
{
	struct expr *expr = parser_expr_new(parser, kind);

	expr->start = left->start;
	expr->op = parser->token->kind;
	expr->text_start = parser->token->offset;
	expr->a = left;
	parser_advance(parser);
	return expr;
}

/* post = prim {"." WORD | "[" expr "]"} */
static struct expr *
parse_post(struct parser *parser)
{
	struct expr *expr = parse_prim(parser), *outer;
	struct name field;

	while (expr &&
	       (parser_is(parser, T_DOT) || parser_is(parser, T_LBRACKET))) {
		outer = binary_new(
		    parser, expr, parser_is(parser, T_DOT) ? E_FIELD : E_INDEX);
		if (outer->kind == E_FIELD) {
			if (!parser_word(parser, &field))
				return NULL;
			outer->text = field.text;
			outer->text_start = field.start;
		} else if (!(outer->b = parse_expr(parser)) ||
		           !parser_expect(parser, T_RBRACKET)) {
			return NULL;
		}
		expr = parser_expr_end(parser, outer);
	}
	return expr;
}

/* un = ("!" | "-") un | post */
static struct expr *
parse_un(struct parser *parser)
{
	struct expr *expr;

	if (!parser_is(parser, T_NOT) && !parser_is(parser, T_MINUS))
		return parse_post(parser);
	if (!parser_enter(parser))
		return NULL;
	expr = parser_expr_new(parser, E_UNARY);
	expr->op = parser->token->kind;
	parser_advance(parser);
	expr->a = parse_un(parser);
	parser_leave(parser);
	return expr->a ? parser_expr_end(parser, expr) : NULL;
}

/*
 * The binary operators, loosest first.  A level that does not repeat takes
 * one operator: comparisons and ranges do not chain, ?? nests to the right.
 */
enum {
	LEVEL_OR,
	LEVEL_AND,
	LEVEL_CMP,
	LEVEL_COALESCE,
	LEVEL_RANGE,
	LEVEL_ADD,
	LEVEL_MUL,
	LEVELS
};

static const struct level {
	enum token_kind ops[7]; /* ends with T_END */
	enum { REPEATS, ONCE, RIGHT } chain;
} levels[LEVELS] = {
	[LEVEL_OR] = { { T_OR }, REPEATS },
	[LEVEL_AND] = { { T_AND }, REPEATS },
	[LEVEL_CMP] = { { T_EQ, T_NE, T_LT, T_LE, T_GT, T_GE }, ONCE },
	[LEVEL_COALESCE] = { { T_COALESCE }, RIGHT },
	[LEVEL_RANGE] = { { T_RANGE }, ONCE },
	[LEVEL_ADD] = { { T_PLUS, T_MINUS }, REPEATS },
	[LEVEL_MUL] = { { T_STAR, T_SLASH, T_PERCENT }, REPEATS },
};

static bool
at_operator(const struct parser *parser, const struct level *level)
{
	const enum token_kind *op;

	for (op = level->ops; *op != T_END; op++)
		if (parser_is(parser, *op))
			return true;
	return false;
}

static bool
check_chain(struct parser *parser, const struct level *level)
{
	if (!at_operator(parser, level))
		return true;
	report(parser->result, parser->source, parser->token->offset,
	    level == &levels[LEVEL_CMP] ? "comparisons do not chain"
	                                : "ranges do not chain");
	if (level == &levels[LEVEL_CMP])
		report_hint(parser->result,
		    "Write a < b && b < c, or put parentheses around one "
		    "comparison.");
	return false;
}

static struct expr *
parse_level(struct parser *parser, int number)
{
	const struct level *level = &levels[number];
	struct expr *expr, *outer;

	if (number == LEVELS)
		return parse_un(parser);
	expr = parse_level(parser, number + 1);
	while (expr && at_operator(parser, level)) {
		outer = binary_new(parser, expr, E_BINARY);
		if (level->chain == RIGHT) {
			if (!parser_enter(parser))
				return NULL;
			outer->b = parse_level(parser, number);
			parser_leave(parser);
		} else {
			outer->b = parse_level(parser, number + 1);
		}
		if (!outer->b)
			return NULL;
		expr = parser_expr_end(parser, outer);
		if (level->chain == ONCE)
			return expr && check_chain(parser, level) ? expr : NULL;
	}
	return expr;
}

struct expr *
parse_or(struct parser *parser)
{
	return parse_level(parser, LEVEL_OR);
}

struct expr *
parse_add(struct parser *parser)
{
	return parse_level(parser, LEVEL_ADD);
}

/* expr = or ["?" expr ":" expr] */
struct expr *
parse_expr(struct parser *parser)
{
	struct expr *expr, *choice;

	if (!parser_enter(parser))
		return NULL;
	expr = parse_or(parser);
	if (expr && parser_is(parser, T_QUESTION)) {
		choice = binary_new(parser, expr, E_CHOICE);
		if (!(choice->b = parse_expr(parser)) ||
		    !parser_expect(parser, T_COLON) ||
		    !(choice->c = parse_expr(parser)))
			expr = NULL;
		else
			expr = parser_expr_end(parser, choice);
	}
	parser_leave(parser);
	return expr;
}
