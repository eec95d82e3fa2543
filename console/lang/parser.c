#include "console/lang/parser.h"

#include <string.h>

#include "console/lang/lang.h"
#include "console/lang/source.h"
#include "console/lang/symbol.h"

bool
parser_is(const struct parser *parser, enum token_kind kind)
{
	return parser->token->kind == kind;
}

bool
parser_is_word(const struct parser *parser, const char *word)
{
	const struct token *token = parser->token;

	return token->kind == T_NAME && token->len == strlen(word) &&
	       memcmp(parser->source->text + token->offset, word, token->len) ==
	           0;
}

enum token_kind
parser_peek(const struct parser *parser, int ahead)
{
	const struct token *token = parser->token;

	while (ahead-- > 0 && token->kind != T_END)
		token++;
	return token->kind;
}

void
parser_advance(struct parser *parser)
{
	switch (parser->token->kind) {
	case T_LBRACE:
		parser->braces++;
		break;
	case T_RBRACE:
		parser->braces--;
		break;
	case T_LPAREN:
		parser->parens++;
		break;
	case T_RPAREN:
		parser->parens--;
		break;
	case T_END:
		return;
	default:
		break;
	}
	parser->last = parser->token++;
}

bool
parser_accept(struct parser *parser, enum token_kind kind)
{
	if (!parser_is(parser, kind))
		return false;
	parser_advance(parser);
	return true;
}

bool
parser_accept_word(struct parser *parser, const char *word)
{
	if (!parser_is_word(parser, word))
		return false;
	parser_advance(parser);
	return true;
}

char *
parser_token_text(const struct parser *parser, const struct token *token)
{
	return arena_strndup(
	    parser->arena, parser->source->text + token->offset, token->len);
}

/* The next token, as messages show it. */
static const char *
found(const struct parser *parser)
{
	const struct token *token = parser->token;

	if (token->kind == T_NAME || token->kind == T_NUMBER ||
	    token->kind == T_DURATION)
		return arena_printf(
		    parser->arena, "`%s`", parser_token_text(parser, token));
	return symbol_name(token->kind);
}

/*
 * Whether an error of the scanner explains an error here: then one message is
 * enough.
 */
static bool
is_explained(const struct parser *parser)
{
	int line = source_line_at(parser->source, parser->token->offset);
	int last = source_line_at(parser->source, parser->last->offset);
	size_t i;

	for (i = parser->first_error; i < parser->scan_errors; i++)
		if (parser->result->diagnostics[i].line >= last &&
		    parser->result->diagnostics[i].line <= line)
			return true;
	return false;
}

/* What was probably meant, if one slip is much more likely than others. */
static void
hint_at_slip(struct parser *parser, const char *expected)
{
	const char *what = found(parser);

	if (strcmp(expected, "a step") == 0 && strcmp(what, "`;`") == 0)
		report_hint(
		    parser->result, "One `;` between two steps is enough.");
	else if (strcmp(expected, "`)`") == 0 && strcmp(what, "`=`") == 0)
		report_hint(parser->result, "Values are compared with `==`.");
}

bool
parser_unexpected(struct parser *parser, const char *expected)
{
	if (is_explained(parser))
		return false;
	report(parser->result, parser->source, parser->token->offset,
	    "expected %s, found %s", expected, found(parser));
	hint_at_slip(parser, expected);
	return true;
}

bool
parser_expect(struct parser *parser, enum token_kind kind)
{
	if (parser_accept(parser, kind))
		return true;
	parser_unexpected(parser, symbol_name(kind));
	return false;
}

bool
parser_word(struct parser *parser, struct name *name)
{
	if (!TOKEN_IS_WORD(parser->token->kind)) {
		parser_unexpected(parser, "a name");
		return false;
	}
	name->start = parser->token->offset;
	name->text = parser_token_text(parser, parser->token);
	parser_advance(parser);
	return true;
}

bool
parser_name(struct parser *parser, struct name *name)
{
	if (parser_is(parser, T_NAME))
		return parser_word(parser, name);
	if (TOKEN_IS_WORD(parser->token->kind)) {
		report(parser->result, parser->source, parser->token->offset,
		    "%s is a reserved word, not a name", found(parser));
		report_hint(parser->result,
		    "Reserved words can only be names of arguments, fields "
		    "and object keys.");
	} else {
		parser_unexpected(parser, "a name");
	}
	return false;
}

bool
parser_qname(struct parser *parser, struct name *name)
{
	struct name word;

	if (!parser_name(parser, name))
		return false;
	while (parser_accept(parser, T_DOT)) {
		if (!parser_word(parser, &word))
			return false;
		name->text =
		    arena_printf(parser->arena, "%s.%s", name->text, word.text);
	}
	return true;
}

bool
parser_count(struct parser *parser, int *count)
{
	if (++*count <= PARSE_LIST_MAX)
		return true;
	report(parser->result, parser->source, parser->token->offset,
	    "more than %d elements follow each other here", PARSE_LIST_MAX);
	return false;
}

bool
parser_enter(struct parser *parser)
{
	if (parser->depth == PARSE_DEPTH_MAX) {
		report(parser->result, parser->source, parser->token->offset,
		    "nested more than %d levels deep", PARSE_DEPTH_MAX);
		return false;
	}
	parser->depth++;
	return true;
}

void
parser_leave(struct parser *parser)
{
	parser->depth--;
}
