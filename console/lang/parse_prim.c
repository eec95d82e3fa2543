/* Expressions: the operands of operators. */
#include <stdlib.h>
#include <string.h>

#include "console/lang/parser.h"

#include "console/lang/duration.h"
#include "console/lang/source.h"
#include "console/lang/symbol.h"
#include "console/lang/text.h"

enum {
	PIECES_MAX = 1000, /* of one string */
	DIGITS_MAX = 1000, /* of one number, and its largest exponent */
};

static struct expr *
parse_token(struct parser *parser, enum expr_kind kind)
{
	struct expr *expr = parser_expr_new(parser, kind);

	expr->text = parser_token_text(parser, parser->token);
	parser_advance(parser);
	return parser_expr_end(parser, expr);
}

static struct expr *
parse_bool(struct parser *parser)
{
	struct expr *expr = parse_token(parser, E_BOOL);

	expr->is_true = parser->last->kind == T_TRUE;
	return expr;
}

/* Numbers are kept exactly, but their length has a limit. */
static struct expr *
parse_number(struct parser *parser)
{
	struct expr *expr = parse_token(parser, E_NUMBER);
	const char *exponent = expr->text + strcspn(expr->text, "eE");

	if (exponent - expr->text <= DIGITS_MAX &&
	    (*exponent == '\0' ||
	        labs(strtol(exponent + 1, NULL, 10)) <= DIGITS_MAX))
		return expr;
	report(parser->result, parser->source, expr->start,
	    "this number is out of range");
	return NULL;
}

static struct expr *
parse_duration(struct parser *parser)
{
	struct expr *expr = parse_token(parser, E_DURATION);
	char *iso = duration_literal(parser->arena,
	    parser->source->text + expr->start, expr->end - expr->start);

	if (iso) {
		expr->text = iso;
		return expr;
	}
	report(parser->result, parser->source, expr->start,
	    "`%s` is not a duration", expr->text);
	report_hint(parser->result,
	    "Units are w d h m s ms, each at most once and in this order: "
	    "1h30m, 250ms.");
	return NULL;
}

/* Take the next token of a string as a piece, without quotes, ${ and }. */
static void
add_piece(struct parser *parser, struct text_piece *piece, size_t quotes)
{
	const struct token *token = parser->token;
	enum token_kind kind = token->kind;
	bool opens = kind == T_STRING || kind == T_TEXT_START;
	bool closes = kind == T_STRING || kind == T_TEXT_END;
	size_t skip = opens ? quotes : 1;

	piece->start = token->offset + skip;
	piece->end = token->offset + token->len;
	if (!closes)
		piece->end -= 2;
	else if (piece->end >= piece->start + quotes)
		piece->end -= quotes;
	if (piece->end < piece->start) /* not closed; already reported */
		piece->end = piece->start;
	parser_advance(parser);
}

static void
append_string(
    struct parser *parser, struct expr ***tail, const struct text_piece *piece)
{
	struct expr *part;

	if (!*piece->value)
		return;
	part = parser_expr_new(parser, E_STRING);
	part->start = piece->start;
	part->end = piece->end;
	part->text = piece->value;
	APPEND(*tail, part);
}

/* Put the decoded pieces and the expressions between them in order. */
static void
join_parts(struct parser *parser, struct expr *expr,
    const struct text_piece *pieces, struct expr *inner)
{
	struct expr **tail = &expr->items, *next;

	for (append_string(parser, &tail, pieces++); inner; inner = next) {
		next = inner->next;
		inner->next = NULL;
		APPEND(tail, inner);
		append_string(parser, &tail, pieces++);
	}
}

/* "…${expr}…${expr}…": pieces and expressions alternate. */
static struct expr *
parse_text(struct parser *parser, size_t quotes)
{
	struct expr *expr = parser_expr_new(parser, E_TEXT), *inner = NULL;
	struct expr **tail = &inner, *part;
	struct text_piece *pieces =
	    arena_alloc(parser->arena, PIECES_MAX * sizeof(struct text_piece));
	size_t count = 0;

	do {
		if (count == PIECES_MAX - 1) {
			report(parser->result, parser->source, expr->start,
			    "more than %d ${…} in one string", PIECES_MAX - 2);
			return NULL;
		}
		add_piece(parser, &pieces[count++], quotes);
		if (!(part = parse_expr(parser)))
			return NULL;
		APPEND(tail, part);
	} while (parser_is(parser, T_TEXT_MIDDLE));
	if (!parser_is(parser, T_TEXT_END)) {
		parser_unexpected(parser, "`}`");
		return NULL;
	}
	add_piece(parser, &pieces[count++], quotes);
	if (!text_decode(parser->arena, parser->source, pieces, count,
	        (int)quotes, false, parser->result))
		return NULL;
	join_parts(parser, expr, pieces, inner);
	return parser_expr_end(parser, expr);
}

struct expr *
parse_string(struct parser *parser)
{
	const char *at = parser->source->text + parser->token->offset;
	size_t quotes = at[1] == at[0] && at[2] == at[0] ? 3 : 1;
	struct text_piece piece;
	struct expr *expr;

	if (parser_is(parser, T_TEXT_START))
		return parse_text(parser, quotes);
	expr = parser_expr_new(parser, E_STRING);
	add_piece(parser, &piece, quotes);
	if (!text_decode(parser->arena, parser->source, &piece, 1, (int)quotes,
	        *at == '\'', parser->result))
		return NULL;
	expr->text = piece.value;
	return parser_expr_end(parser, expr);
}

bool
parse_paren_expr(struct parser *parser, struct expr **expr)
{
	return parser_expect(parser, T_LPAREN) &&
	       (*expr = parse_expr(parser)) && parser_expect(parser, T_RPAREN);
}

/* exprs = expr {"," expr} [","], up to and with `end`; may be empty */
bool
parse_exprs(struct parser *parser, enum token_kind end, struct expr **list)
{
	struct expr **tail = list, *expr;

	while (*tail)
		tail = &(*tail)->next;
	while (!parser_is(parser, end)) {
		if (!(expr = parse_expr(parser)))
			return false;
		APPEND(tail, expr);
		if (!parser_accept(parser, T_COMMA))
			break;
	}
	return parser_expect(parser, end);
}

/* NAME, or NAME "(" [exprs] ")" */
static struct expr *
parse_name(struct parser *parser)
{
	struct expr *expr = parse_token(parser, E_NAME);

	if (!parser_accept(parser, T_LPAREN))
		return expr;
	expr->kind = E_CALL;
	if (!parse_exprs(parser, T_RPAREN, &expr->items))
		return NULL;
	return parser_expr_end(parser, expr);
}

static struct expr *
parse_secret(struct parser *parser)
{
	struct expr *expr = parser_expr_new(parser, E_SECRET);

	parser_advance(parser);
	if (!parser_expect(parser, T_LPAREN))
		return NULL;
	if (!parser_is(parser, T_STRING)) {
		parser_unexpected(parser, "the secret's name, a string");
		return NULL;
	}
	if (!(expr->a = parse_string(parser)) ||
	    !parser_expect(parser, T_RPAREN))
		return NULL;
	return parser_expr_end(parser, expr);
}

static struct expr *
parse_paren(struct parser *parser)
{
	struct expr *expr = parser_expr_new(parser, E_PAREN);

	return parse_paren_expr(parser, &expr->a)
	           ? parser_expr_end(parser, expr)
	           : NULL;
}

/* the rest of [e for x in xs if c], after the e */
static struct expr *
parse_each(struct parser *parser, struct expr *expr)
{
	struct name name;

	parser_advance(parser);
	expr->kind = E_EACH;
	expr->a = expr->items;
	expr->items = NULL;
	if (!parser_name(parser, &name) || !parser_expect(parser, T_IN) ||
	    !(expr->b = parse_or(parser)))
		return NULL;
	expr->text = name.text;
	expr->text_start = name.start;
	if (parser_accept(parser, T_IF) && !(expr->c = parse_expr(parser)))
		return NULL;
	return parser_expect(parser, T_RBRACKET) ? parser_expr_end(parser, expr)
	                                         : NULL;
}

static struct expr *
parse_list(struct parser *parser, enum token_kind end)
{
	struct expr *expr = parser_expr_new(parser, E_LIST);

	expr->braces = end == T_RBRACE;
	parser_advance(parser);
	if (!parser_is(parser, end) && !(expr->items = parse_expr(parser)))
		return NULL;
	if (end == T_RBRACKET && expr->items && parser_is_word(parser, "for"))
		return parse_each(parser, expr);
	if (expr->items && !parser_is(parser, end) &&
	    !parser_expect(parser, T_COMMA))
		return NULL;
	return parse_exprs(parser, end, &expr->items)
	           ? parser_expr_end(parser, expr)
	           : NULL;
}

static bool
parse_member(struct parser *parser, struct member *member)
{
	if (!parse_key(parser, &member->key))
		return false;
	return parser_expect(parser, T_COLON) &&
	       (member->value = parse_expr(parser));
}

struct expr *
parse_object(struct parser *parser)
{
	struct expr *expr = parser_expr_new(parser, E_OBJECT);
	struct member **tail = &expr->members, *member;
	int count = 0;

	if (!parser_expect(parser, T_LBRACE))
		return NULL;
	while (!parser_is(parser, T_RBRACE)) {
		if (!parser_count(parser, &count))
			return NULL;
		member = arena_alloc(parser->arena, sizeof(*member));
		if (!parse_member(parser, member))
			return NULL;
		APPEND(tail, member);
		if (!parser_accept(parser, T_COMMA))
			break;
	}
	return parser_expect(parser, T_RBRACE) ? parser_expr_end(parser, expr)
	                                       : NULL;
}

/* {key: …} is an object, {a, b} a list, {} whichever is needed */
static struct expr *
parse_braces(struct parser *parser)
{
	enum token_kind first = parser_peek(parser, 1);

	if (first == T_RBRACE || ((TOKEN_IS_WORD(first) || first == T_STRING) &&
	                             parser_peek(parser, 2) == T_COLON))
		return parse_object(parser);
	return parse_list(parser, T_RBRACE);
}

struct expr *
parse_prim(struct parser *parser)
{
	switch (parser->token->kind) {
	case T_NULL:
		return parse_token(parser, E_NULL);
	case T_TRUE:
	case T_FALSE:
		return parse_bool(parser);
	case T_NUMBER:
		return parse_number(parser);
	case T_DURATION:
		return parse_duration(parser);
	case T_STRING:
	case T_TEXT_START:
		return parse_string(parser);
	case T_NAME:
		return parse_name(parser);
	case T_SECRET:
		return parse_secret(parser);
	case T_LPAREN:
		return parse_paren(parser);
	case T_LBRACKET:
		return parse_list(parser, T_RBRACKET);
	case T_LBRACE:
		return parse_braces(parser);
	default:
		parser_unexpected(parser, "an expression");
		return NULL;
	}
}
