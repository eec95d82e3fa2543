/* Processes: the forms that begin with a reserved word. */
#include "console/lang/parser.h"
#include "console/lang/source.h"

static struct process *
finish(struct parser *parser, struct process *process)
{
	process->end = parser->last->offset + parser->last->len;
	return process;
}

/* expr "as" NAME; `many`: several of them, separated by commas */
static bool
parse_collect_list(struct parser *parser, struct collect **list, bool many)
{
	struct collect **tail = list, *collect;
	int count = 0;

	do {
		if (!parser_count(parser, &count))
			return false;
		collect = arena_alloc(parser->arena, sizeof(*collect));
		collect->start = parser->token->offset;
		if (!(collect->value = parse_expr(parser)) ||
		    !parser_expect(parser, T_AS) ||
		    !parser_name(parser, &collect->as))
			return false;
		collect->end = parser->last->offset + parser->last->len;
		APPEND(tail, collect);
	} while (many && parser_accept(parser, T_COMMA));
	return true;
}

/* [attrs] "(" NAME ["," NAME] "in" expr ")" block ["collect" …] */
static bool
parse_forall(struct parser *parser, struct process *forall)
{
	if (parser_is(parser, T_LT) && !parse_attrs(parser, &forall->args))
		return false;
	if (!parser_expect(parser, T_LPAREN) ||
	    !parser_name(parser, &forall->name))
		return false;
	if (parser_accept(parser, T_COMMA) &&
	    !parser_name(parser, &forall->index))
		return false;
	if (!parser_expect(parser, T_IN) ||
	    !(forall->value = parse_expr(parser)) ||
	    !parser_expect(parser, T_RPAREN) ||
	    !(forall->body = parse_block(parser)))
		return false;
	return !parser_accept(parser, T_COLLECT) ||
	       parse_collect_list(parser, &forall->collects, true);
}

/* NAME "=" expr ";", the state of a fold or while */
static bool
parse_state(struct parser *parser, struct process *process)
{
	return parser_expect(parser, T_LPAREN) &&
	       parser_name(parser, &process->name) &&
	       parser_expect(parser, T_ASSIGN) &&
	       (process->value = parse_expr(parser)) &&
	       parser_expect(parser, T_SEMICOLON);
}

/* "(" state NAME "in" expr ")" block "yield" expr "as" NAME */
static bool
parse_fold(struct parser *parser, struct process *fold)
{
	return parse_state(parser, fold) && parser_name(parser, &fold->as) &&
	       parser_expect(parser, T_IN) &&
	       (fold->condition = parse_expr(parser)) &&
	       parser_expect(parser, T_RPAREN) &&
	       (fold->body = parse_block(parser)) &&
	       parser_expect(parser, T_YIELD) &&
	       parse_collect_list(parser, &fold->collects, false);
}

/*
 * The attributes of a loop.  If they are missing, its parts are parsed anyway.
 */
static bool
parse_loop_attrs(struct parser *parser, struct process *loop)
{
	if (parser_is(parser, T_LT))
		return parse_attrs(parser, &loop->args);
	if (parser_unexpected(parser, "`<`"))
		report_hint(parser->result,
		    "A loop says how many rounds it may have at most: "
		    "%s<max = 100>.",
		    loop->kind == P_WHILE ? "while" : "repeat");
	return parser_is(parser, T_LPAREN) || parser_is(parser, T_LBRACE);
}

/* attrs "(" state expr ")" block "yield" expr "as" NAME */
static bool
parse_while(struct parser *parser, struct process *loop)
{
	return parse_loop_attrs(parser, loop) && parse_state(parser, loop) &&
	       (loop->condition = parse_expr(parser)) &&
	       parser_expect(parser, T_RPAREN) &&
	       (loop->body = parse_block(parser)) &&
	       parser_expect(parser, T_YIELD) &&
	       parse_collect_list(parser, &loop->collects, false);
}

/* attrs block "until" "(" expr ")" ["yield" expr "as" NAME] */
static bool
parse_repeat(struct parser *parser, struct process *loop)
{
	return parse_loop_attrs(parser, loop) &&
	       (loop->body = parse_block(parser)) &&
	       parser_expect(parser, T_UNTIL) &&
	       parse_paren_expr(parser, &loop->condition) &&
	       (!parser_accept(parser, T_YIELD) ||
	           parse_collect_list(parser, &loop->collects, false));
}

/* "after" NAME {"," NAME} */
static bool
parse_after(struct parser *parser, struct process *step)
{
	size_t count = 0, room = 0;
	struct name *names = NULL, name, *more;

	do {
		if (!parser_name(parser, &name))
			return false;
		if (count + 1 >= room) {
			room = room * 2 + 4;
			more = arena_alloc(parser->arena, room * sizeof(name));
			for (size_t i = 0; i < count; i++)
				more[i] = names[i];
			names = more;
		}
		names[count++] = name;
	} while (parser_accept(parser, T_COMMA));
	step->after = names;
	return true;
}

/* "{" dstep {"||" dstep} "}" */
static bool
parse_dag(struct parser *parser, struct process *dag)
{
	struct process **tail = &dag->steps, *step;

	if (!parser_expect(parser, T_LBRACE))
		return false;
	do {
		if (!(step = parse_unary(parser)))
			return false;
		if (parser_accept(parser, T_AFTER) &&
		    !parse_after(parser, step))
			return false;
		APPEND(tail, step);
	} while (parser_accept(parser, T_OR));
	if (parser_accept(parser, T_RBRACE))
		return true;
	if (parser_unexpected(parser, "`||`, `after` or `}`") &&
	    parser_is(parser, T_SEMICOLON))
		report_hint(parser->result,
		    "In a dag, write (A ; B) to make two steps one.");
	return false;
}

/* "{" unary "||" par "}" */
static bool
parse_race(struct parser *parser, struct process *race)
{
	struct process **tail = &race->steps, *branch;

	if (!parser_expect(parser, T_LBRACE))
		return false;
	do {
		if (!(branch = parse_unary(parser)))
			return false;
		APPEND(tail, branch);
	} while (parser_accept(parser, T_OR));
	if (race->steps->next)
		return parser_expect(parser, T_RBRACE);
	parser_unexpected(parser, "`||`");
	return false;
}

/* "(" expr ")" block ["else" (block | if)] */
static bool
parse_if(struct parser *parser, struct process *process)
{
	if (!parse_paren_expr(parser, &process->condition) ||
	    !(process->body = parse_block(parser)))
		return false;
	if (!parser_accept(parser, T_ELSE))
		return true;
	process->otherwise =
	    parser_is(parser, T_IF) ? parse_form(parser) : parse_block(parser);
	return process->otherwise != NULL;
}

/* ("case" or {"," or} | "default") ":" [seq] */
static bool
parse_case(struct parser *parser, struct branch *branch)
{
	struct expr **tail = &branch->values, *value;
	bool is_case = parser_accept(parser, T_CASE);

	if (!is_case && !parser_accept(parser, T_DEFAULT)) {
		parser_unexpected(parser, "`case` or `default`");
		return false;
	}
	while (is_case) {
		if (!(value = parse_or(parser)))
			return false;
		APPEND(tail, value);
		is_case = parser_accept(parser, T_COMMA);
	}
	if (!parser_expect(parser, T_COLON))
		return false;
	branch->body = parser_process_new(parser, P_SEQ);
	return parse_seq(parser, &branch->body->steps);
}

/* "(" expr ")" "{" case {case} ["default" ":" [seq]] "}" */
static bool
parse_switch(struct parser *parser, struct process *process)
{
	struct branch **tail = &process->branches, *branch;

	if (!parse_paren_expr(parser, &process->value) ||
	    !parser_expect(parser, T_LBRACE))
		return false;
	do {
		branch = arena_alloc(parser->arena, sizeof(*branch));
		branch->start = parser->token->offset;
		if (!parse_case(parser, branch))
			return false;
		branch->end = branch->body->end =
		    parser->last->offset + parser->last->len;
		APPEND(tail, branch);
	} while (branch->values && !parser_is(parser, T_RBRACE));
	return parser_expect(parser, T_RBRACE);
}

/* "catch" "(" NAME ")" ["when" "(" expr ")"] block */
static bool
parse_catch(struct parser *parser, struct branch *branch)
{
	branch->start = parser->last->offset;
	if (!parser_expect(parser, T_LPAREN) ||
	    !parser_name(parser, &branch->name) ||
	    !parser_expect(parser, T_RPAREN))
		return false;
	if (parser_accept(parser, T_WHEN) &&
	    !parse_paren_expr(parser, &branch->when))
		return false;
	branch->body = parse_block(parser);
	branch->end = parser->last->offset + parser->last->len;
	return branch->body != NULL;
}

/* ["(" NAME ")"] block */
static bool
parse_finally(struct parser *parser, struct branch *branch)
{
	branch->is_finally = true;
	branch->start = parser->last->offset;
	if (parser_accept(parser, T_LPAREN) &&
	    (!parser_name(parser, &branch->name) ||
	        !parser_expect(parser, T_RPAREN)))
		return false;
	branch->body = parse_block(parser);
	branch->end = parser->last->offset + parser->last->len;
	return branch->body != NULL;
}

/* block ( catch {catch} ["finally" fin] | "finally" fin ) */
static bool
parse_try(struct parser *parser, struct process *process)
{
	struct branch **tail = &process->branches, *branch;

	if (!(process->body = parse_block(parser)))
		return false;
	while (parser_accept(parser, T_CATCH)) {
		branch = arena_alloc(parser->arena, sizeof(*branch));
		if (!parse_catch(parser, branch))
			return false;
		APPEND(tail, branch);
	}
	if (parser_accept(parser, T_FINALLY)) {
		branch = arena_alloc(parser->arena, sizeof(*branch));
		if (!parse_finally(parser, branch))
			return false;
		APPEND(tail, branch);
	}
	if (!process->branches)
		parser_unexpected(parser, "`catch` or `finally`");
	return process->branches != NULL;
}

/* "{" call {";" call} [";"] "}" */
static bool
parse_atomic(struct parser *parser, struct process *atomic)
{
	struct process **tail = &atomic->steps, *call;

	if (!parser_expect(parser, T_LBRACE))
		return false;
	do {
		if (!parser_is(parser, T_NAME)) {
			if (parser_unexpected(parser, "the call of a SQL task"))
				report_hint(parser->result,
				    "An `atomic` holds calls, separated by "
				    "`;`, and nothing else.");
			return false;
		}
		if (!(call = parse_call(parser)))
			return false;
		APPEND(tail, call);
	} while (
	    parser_accept(parser, T_SEMICOLON) && !parser_is(parser, T_RBRACE));
	if (parser_accept(parser, T_RBRACE))
		return true;
	parser_unexpected(parser, "`;` or `}`");
	return false;
}

/* policies block */
static bool
parse_with(struct parser *parser, struct process *with)
{
	return parse_policies(parser, &with->policies) &&
	       (with->body = parse_block(parser));
}

static const struct form {
	enum token_kind word;
	enum process_kind kind;
	bool (*parse)(struct parser *, struct process *);
} forms[] = {
	{ T_ATOMIC, P_ATOMIC, parse_atomic },
	{ T_DAG, P_DAG, parse_dag },
	{ T_FOLD, P_FOLD, parse_fold },
	{ T_FORALL, P_FORALL, parse_forall },
	{ T_IF, P_IF, parse_if },
	{ T_RACE, P_RACE, parse_race },
	{ T_REPEAT, P_REPEAT, parse_repeat },
	{ T_SWITCH, P_SWITCH, parse_switch },
	{ T_TRY, P_TRY, parse_try },
	{ T_WHILE, P_WHILE, parse_while },
	{ T_WITH, P_WITH, parse_with },
};

struct process *
parse_form(struct parser *parser)
{
	struct process *process;
	bool good;
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (!parser_is(parser, forms[i].word))
			continue;
		if (!parser_enter(parser))
			return NULL;
		process = parser_process_new(parser, forms[i].kind);
		parser_advance(parser);
		good = forms[i].parse(parser, process);
		parser_leave(parser);
		return good ? finish(parser, process) : NULL;
	}
	if (parser_is(parser, T_LET) || parser_is(parser, T_RETURN) ||
	    parser_is(parser, T_CHECKPOINT))
		parser_no_operand(parser, parser->token->offset);
	else
		parser_unexpected(parser, "a step");
	return NULL;
}
