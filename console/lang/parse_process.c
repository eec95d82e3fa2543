/* Processes: sequences, parallels, calls, groups.  Other forms: parse_form.c. */
#include "console/lang/parser.h"
#include "console/lang/source.h"

struct process *
parser_process_new(struct parser *parser, enum process_kind kind)
{
	struct process *process = arena_alloc(parser->arena, sizeof(*process));

	process->kind = kind;
	process->start = parser->token->offset;
	return process;
}

static struct process *
finish(struct parser *parser, struct process *process)
{
	process->end = parser->last->offset + parser->last->len;
	return process;
}

/* call = qname "(" [args] ")" ["as" NAME] ["with" policies] */
struct process *
parse_call(struct parser *parser)
{
	struct process *call = parser_process_new(parser, P_CALL);

	if (!parser_qname(parser, &call->name) ||
	    !parse_args(parser, &call->args))
		return NULL;
	if (parser_accept(parser, T_AS) && !parser_name(parser, &call->as))
		return NULL;
	if (parser_accept(parser, T_WITH) &&
	    !parse_policies(parser, &call->policies))
		return NULL;
	return finish(parser, call);
}

/* "(" seq ")", or a block: "{" [seq] "}" */
static struct process *
parse_group(struct parser *parser, bool braces)
{
	struct process *group = parser_process_new(parser, P_SEQ);
	enum token_kind end = braces ? T_RBRACE : T_RPAREN;
	bool good;

	group->braces = braces;
	if (!parser_expect(parser, braces ? T_LBRACE : T_LPAREN) ||
	    !parser_enter(parser))
		return NULL;
	good = parse_seq(parser, &group->steps);
	parser_leave(parser);
	if (!good)
		return NULL;
	if (!group->steps && !braces) {
		parser_unexpected(parser, "a step");
		return NULL;
	}
	if (parser_accept(parser, end))
		return finish(parser, group);
	if (parser_unexpected(parser, braces ? "`;` or `}`" : "`;` or `)`"))
		report_hint(parser->result, "The %s of line %d is not closed.",
		    braces ? "`{`" : "`(`",
		    source_line_at(parser->source, group->start));
	return NULL;
}

struct process *
parse_block(struct parser *parser)
{
	return parse_group(parser, true);
}

/* "let" NAME [":" type] "=" expr */
static struct process *
parse_let(struct parser *parser)
{
	struct process *let = parser_process_new(parser, P_LET);

	parser_advance(parser);
	if (!parser_name(parser, &let->name))
		return NULL;
	if (parser_accept(parser, T_COLON) &&
	    !(let->type_syntax = parse_type(parser)))
		return NULL;
	if (!parser_expect(parser, T_ASSIGN) ||
	    !(let->value = parse_expr(parser)))
		return NULL;
	return finish(parser, let);
}

static bool
at_step_end(const struct parser *parser)
{
	return parser_is(parser, T_SEMICOLON) || parser_is(parser, T_RBRACE) ||
	       parser_is(parser, T_RPAREN) || parser_is(parser, T_END) ||
	       parser_is(parser, T_CASE) || parser_is(parser, T_DEFAULT) ||
	       parser_is(parser, T_WORKFLOW) || parser_is(parser, T_TASK);
}

/* "return" [expr] */
static struct process *
parse_return(struct parser *parser)
{
	struct process *process = parser_process_new(parser, P_RETURN);

	parser_advance(parser);
	if (!at_step_end(parser) && !(process->value = parse_expr(parser)))
		return NULL;
	return finish(parser, process);
}

/* "checkpoint" ["only"] */
static struct process *
parse_checkpoint(struct parser *parser)
{
	struct process *process = parser_process_new(parser, P_CHECKPOINT);

	parser_advance(parser);
	process->only = parser_accept_word(parser, "only");
	return finish(parser, process);
}

struct process *
parse_unary(struct parser *parser)
{
	if (parser_is(parser, T_NAME))
		return parse_call(parser);
	if (parser_is(parser, T_LPAREN))
		return parse_group(parser, false);
	if (parser_is(parser, T_LBRACE))
		return parse_group(parser, true);
	return parse_form(parser);
}

/* par = unary {"||" unary} */
struct process *
parse_par(struct parser *parser)
{
	struct process *first = parse_unary(parser), *par, **tail, *branch;

	if (!first || !parser_is(parser, T_OR))
		return first;
	par = parser_process_new(parser, P_PAR);
	par->start = first->start;
	tail = &par->steps;
	APPEND(tail, first);
	while (parser_accept(parser, T_OR)) {
		if (!(branch = parse_unary(parser)))
			return NULL;
		APPEND(tail, branch);
	}
	return finish(parser, par);
}

void
parser_no_operand(struct parser *parser, size_t start)
{
	report(parser->result, parser->source, start,
	    "`let`, `return` and `checkpoint` are steps of a sequence, never "
	    "operands of `||`");
}

/* step = par | let | return | checkpoint */
static struct process *
parse_step(struct parser *parser)
{
	struct process *step;

	if (parser_is(parser, T_LET))
		step = parse_let(parser);
	else if (parser_is(parser, T_RETURN))
		step = parse_return(parser);
	else if (parser_is(parser, T_CHECKPOINT))
		step = parse_checkpoint(parser);
	else
		return parse_par(parser);
	if (!step || !parser_is(parser, T_OR))
		return step;
	parser_no_operand(parser, parser->token->offset);
	return NULL;
}

/*
 * After an error, skip to the end of the step that began when `braces` and
 * `parens` were open.
 */
static void
skip_step(struct parser *parser, int braces, int parens, int depth)
{
	parser->depth = depth;
	while (!parser_is(parser, T_END) && !parser_is(parser, T_WORKFLOW) &&
	       !parser_is(parser, T_TASK)) {
		if (parser->braces <= braces &&
		    (parser_is(parser, T_SEMICOLON) ||
		        parser_is(parser, T_RBRACE)))
			break;
		if (parser->braces <= braces && parser->parens <= parens &&
		    parser_is(parser, T_RPAREN))
			break;
		parser_advance(parser);
	}
	parser->parens = parens;
}

/* seq = step {";" step} [";"]; may be empty; ends before its closing token */
bool
parse_seq(struct parser *parser, struct process **steps)
{
	struct process **tail = steps, *step;
	int braces = parser->braces, parens = parser->parens;
	int depth = parser->depth;

	while (!at_step_end(parser) || parser_is(parser, T_SEMICOLON)) {
		if (parser_is(parser, T_SEMICOLON)) {
			parser_unexpected(parser, "a step");
		} else if ((step = parse_step(parser))) {
			APPEND(tail, step);
			if (!at_step_end(parser)) {
				if (parser_unexpected(parser, "`;` or `}`"))
					report_hint(parser->result,
					    "Steps are separated by `;`.");
				skip_step(parser, braces, parens, depth);
			}
		} else {
			skip_step(parser, braces, parens, depth);
		}
		if (!parser_accept(parser, T_SEMICOLON))
			break;
	}
	return true;
}
