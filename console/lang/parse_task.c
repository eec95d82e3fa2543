/* Task types: the clauses and their parts. */
#include "console/lang/parser.h"
#include "console/lang/source.h"

static const struct {
	const char *word;
	enum request_kind kind;
} requests[] = {
	{ "callback", R_CALLBACK },
	{ "cancel", R_CANCEL },
	{ "cleanup", R_CLEANUP },
	{ "fetch", R_FETCH },
	{ "poll", R_POLL },
	{ "start", R_START },
	{ "wait", R_WAIT },
};

static bool
parse_when(struct parser *parser, struct sub *sub)
{
	return parser_expect(parser, T_WHEN) &&
	       parse_paren_expr(parser, &sub->value);
}

static bool
parse_failure(struct parser *parser, struct sub *sub)
{
	return parse_when(parser, sub) && (!parser_accept(parser, T_AS) ||
	                                      (sub->as = parse_object(parser)));
}

static bool
parse_every(struct parser *parser, struct sub *sub)
{
	return parse_pargs(parser, &sub->args);
}

static bool
parse_sub_object(struct parser *parser, struct sub *sub)
{
	return (sub->value = parse_object(parser));
}

static bool
parse_progress(struct parser *parser, struct sub *sub)
{
	return parse_paren_expr(parser, &sub->value);
}

static const struct {
	const char *word;
	enum sub_kind kind;
	bool (*parse)(struct parser *, struct sub *);
} subs[] = {
	{ "every", S_EVERY, parse_every },
	{ "failure", S_FAILURE, parse_failure },
	{ "handle", S_HANDLE, parse_sub_object },
	{ "output", S_OUTPUT, parse_sub_object },
	{ "progress", S_PROGRESS, parse_progress },
	{ "success", S_SUCCESS, parse_when },
};

/* 1: a clause was read, 0: no clause follows, -1: an error */
static int
parse_sub(struct parser *parser, struct sub *sub)
{
	size_t i;

	sub->start = parser->token->offset;
	for (i = 0; i < sizeof(subs) / sizeof(subs[0]); i++) {
		if (!parser_accept_word(parser, subs[i].word))
			continue;
		sub->kind = subs[i].kind;
		if (!subs[i].parse(parser, sub))
			return -1;
		sub->end = parser->last->offset + parser->last->len;
		return 1;
	}
	return 0;
}

static bool
parse_subs(struct parser *parser, struct sub **list)
{
	struct sub **tail = list, *sub;
	int found, count = 0;

	while (parser_count(parser, &count)) {
		sub = arena_alloc(parser->arena, sizeof(*sub));
		if ((found = parse_sub(parser, sub)) <= 0)
			return found == 0;
		APPEND(tail, sub);
	}
	return false;
}

static bool
parse_clause(struct parser *parser, struct clause *clause)
{
	size_t i;

	clause->start = parser->token->offset;
	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		if (parser_accept_word(parser, requests[i].word))
			break;
	if (i == sizeof(requests) / sizeof(requests[0])) {
		parser_unexpected(parser,
		    "`start`, `poll`, `fetch`, `cancel`, `cleanup`, "
		    "`callback`, `wait` or `}`");
		return false;
	}
	clause->kind = requests[i].kind;
	if (clause->kind != R_CALLBACK &&
	    !parser_name(parser, &clause->transport))
		return false;
	if (clause->kind != R_WAIT) {
		if (clause->kind != R_CALLBACK &&
		    !parse_args(parser, &clause->args))
			return false;
		if (!parse_subs(parser, &clause->subs))
			return false;
	}
	clause->end = parser->last->offset + parser->last->len;
	return true;
}

/*
 * After an error, skip to the next line that begins with a clause, or to the
 * end.
 */
static void
skip_clause(struct parser *parser, int braces, int depth)
{
	size_t i;

	parser->depth = depth;
	while (!parser_is(parser, T_END) && !parser_is(parser, T_WORKFLOW) &&
	       !parser_is(parser, T_TASK)) {
		if (parser->braces <= braces) {
			if (parser_is(parser, T_RBRACE))
				return;
			for (i = 0; i < sizeof(requests) / sizeof(requests[0]);
			     i++)
				if (parser_is_word(parser, requests[i].word) &&
				    parser_peek(parser, 1) == T_NAME)
					return;
		}
		parser_advance(parser);
	}
}

/* clause {clause}, up to the closing brace */
bool
parse_clauses(struct parser *parser, struct clause **clauses)
{
	struct clause **tail = clauses, *clause;
	int braces = parser->braces, depth = parser->depth, count = 0;

	do {
		if (!parser_count(parser, &count))
			return false;
		clause = arena_alloc(parser->arena, sizeof(*clause));
		if (parse_clause(parser, clause))
			APPEND(tail, clause);
		else
			skip_clause(parser, braces, depth);
	} while (!parser_is(parser, T_RBRACE) && !parser_is(parser, T_END) &&
	         !parser_is(parser, T_WORKFLOW) && !parser_is(parser, T_TASK));
	return true;
}
