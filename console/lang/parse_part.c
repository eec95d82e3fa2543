/* The parts that calls and declarations share: arguments, policies, types. */
#include "console/lang/parser.h"
#include "console/lang/source.h"

static size_t
last_end(const struct parser *parser)
{
	return parser->last->offset + parser->last->len;
}

/* key = WORD | STRING */
bool
parse_key(struct parser *parser, struct name *key)
{
	struct expr *string;

	if (!parser_is(parser, T_STRING))
		return parser_word(parser, key);
	if (!(string = parse_string(parser)))
		return false;
	key->text = string->text;
	key->start = string->start;
	return true;
}

/* WORD "=" value; `value` reads what follows the equals sign */
static struct arg *
parse_arg(
    struct parser *parser, bool named, struct expr *(*value)(struct parser *))
{
	struct arg *arg = arena_alloc(parser->arena, sizeof(*arg));

	arg->start = parser->token->offset;
	if (named || parser_peek(parser, 1) == T_ASSIGN) {
		if (named && parser_peek(parser, 1) != T_ASSIGN) {
			if (parser_unexpected(parser, "`name = value`"))
				report_hint(parser->result,
				    "Arguments are always given by name.");
			return NULL;
		}
		if (!parser_word(parser, &arg->name) ||
		    !parser_expect(parser, T_ASSIGN))
			return NULL;
	}
	if (!(arg->value = value(parser)))
		return NULL;
	arg->end = last_end(parser);
	return arg;
}

static bool
parse_arg_list(struct parser *parser, bool named, struct arg **args)
{
	struct arg **tail = args, *arg;
	int count = 0;

	if (!parser_expect(parser, T_LPAREN))
		return false;
	while (!parser_is(parser, T_RPAREN)) {
		if (!parser_count(parser, &count) ||
		    !(arg = parse_arg(parser, named, parse_expr)))
			return false;
		APPEND(tail, arg);
		if (!parser_accept(parser, T_COMMA))
			break;
	}
	if (parser_accept(parser, T_RPAREN))
		return true;
	parser_unexpected(parser, "`,` or `)`");
	return false;
}

/* "(" [args] ")" */
bool
parse_args(struct parser *parser, struct arg **args)
{
	return parse_arg_list(parser, true, args);
}

/* "(" [pargs] ")" */
bool
parse_pargs(struct parser *parser, struct arg **args)
{
	return parse_arg_list(parser, false, args);
}

/* attrs = "<" NAME "=" add {"," NAME "=" add} ">" */
bool
parse_attrs(struct parser *parser, struct arg **args)
{
	struct arg **tail = args, *arg;
	int count = 0;

	if (!parser_expect(parser, T_LT))
		return false;
	do {
		if (!parser_count(parser, &count) ||
		    !(arg = parse_arg(parser, true, parse_add)))
			return false;
		APPEND(tail, arg);
	} while (parser_accept(parser, T_COMMA));
	return parser_expect(parser, T_GT);
}

/* policy = NAME | ["each"] NAME "(" [pargs] ")" | "undo" block */
static struct policy *
parse_policy(struct parser *parser)
{
	struct policy *policy = arena_alloc(parser->arena, sizeof(*policy));

	policy->start = parser->token->offset;
	if (parser_is(parser, T_UNDO)) {
		parser_word(parser, &policy->name);
		if (!(policy->undo = parse_block(parser)))
			return NULL;
	} else {
		if (parser_peek(parser, 1) == T_NAME)
			policy->each = parser_accept_word(parser, "each");
		if (!parser_name(parser, &policy->name))
			return NULL;
		policy->parens = parser_is(parser, T_LPAREN);
		if (policy->parens && !parse_pargs(parser, &policy->args))
			return NULL;
	}
	policy->end = last_end(parser);
	return policy;
}

bool
parse_policies(struct parser *parser, struct policy **policies)
{
	struct policy **tail = policies, *policy;
	int count = 0;

	do {
		if (!parser_count(parser, &count) ||
		    !(policy = parse_policy(parser)))
			return false;
		APPEND(tail, policy);
	} while (parser_accept(parser, T_COMMA));
	return true;
}

static bool
parse_member_types(struct parser *parser, struct type_syntax **members)
{
	struct type_syntax **tail = members, *member;
	struct name key;
	int count = 0;

	while (!parser_is(parser, T_RBRACE)) {
		if (!parser_count(parser, &count) || !parse_key(parser, &key) ||
		    !parser_expect(parser, T_COLON) ||
		    !(member = parse_type(parser)))
			return false;
		member->key = key;
		APPEND(tail, member);
		if (!parser_accept(parser, T_COMMA))
			break;
	}
	return parser_expect(parser, T_RBRACE);
}

/* ( NAME | "[" type "]" | "{" … "}" | "secret" ) ["?"] */
static bool
parse_type_body(struct parser *parser, struct type_syntax *type)
{
	struct name name;

	if (parser_accept(parser, T_LBRACKET))
		return (type->element = parse_type(parser)) &&
		       parser_expect(parser, T_RBRACKET);
	if (parser_accept(parser, T_LBRACE)) {
		type->is_object = true;
		return parse_member_types(parser, &type->members);
	}
	if (!parser_is(parser, T_NAME) && !parser_is(parser, T_SECRET)) {
		parser_unexpected(parser, "a type");
		return false;
	}
	parser_word(parser, &name);
	type->name = name.text;
	return true;
}

struct type_syntax *
parse_type(struct parser *parser)
{
	struct type_syntax *type = arena_alloc(parser->arena, sizeof(*type));
	bool good;

	if (!parser_enter(parser))
		return NULL;
	type->start = parser->token->offset;
	good = parse_type_body(parser, type);
	parser_leave(parser);
	if (!good)
		return NULL;
	type->optional = parser_accept(parser, T_QUESTION);
	type->end = last_end(parser);
	return type;
}

/* param = [DOC] NAME [":" type] ["=" expr] */
static struct param *
parse_param(struct parser *parser, bool of_task)
{
	struct param *param = arena_alloc(parser->arena, sizeof(*param));

	param->start = parser->token->offset;
	param->doc = parser->token->doc;
	/* a wait names its parameters in the workspace, where no word is reserved */
	if (!(of_task ? parser_word : parser_name)(parser, &param->name))
		return NULL;
	if (parser_accept(parser, T_COLON) &&
	    !(param->type_syntax = parse_type(parser)))
		return NULL;
	if (parser_accept(parser, T_ASSIGN) &&
	    !(param->value = parse_expr(parser)))
		return NULL;
	param->end = last_end(parser);
	return param;
}

/* "(" [params] ")" */
bool
parse_params(struct parser *parser, struct param **params, bool of_task)
{
	struct param **tail = params, *param;
	int count = 0;

	if (!parser_expect(parser, T_LPAREN))
		return false;
	while (!parser_is(parser, T_RPAREN)) {
		if (!parser_count(parser, &count) ||
		    !(param = parse_param(parser, of_task)))
			return false;
		APPEND(tail, param);
		if (!parser_accept(parser, T_COMMA))
			break;
	}
	return parser_expect(parser, T_RPAREN);
}
