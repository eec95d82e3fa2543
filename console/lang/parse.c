/* Files: imports and declarations. */
#include "console/lang/parse.h"

#include "console/lang/lang.h"
#include "console/lang/parser.h"
#include "console/lang/scan.h"
#include "console/lang/source.h"

/* "import" qname ["as" NAME] [";"] */
static struct import *
parse_import(struct parser *parser)
{
	struct import *import = arena_alloc(parser->arena, sizeof(*import));

	import->start = parser->token->offset;
	parser_advance(parser);
	if (!parser_qname(parser, &import->name))
		return NULL;
	if (parser_accept(parser, T_AS) && !parser_name(parser, &import->as))
		return NULL;
	import->end = parser->last->offset + parser->last->len;
	parser_accept(parser, T_SEMICOLON);
	return import;
}

/* [params] ["->" type] ["with" policies] */
static bool
parse_header(struct parser *parser, struct decl *decl)
{
	decl->has_params = parser_is(parser, T_LPAREN);
	if ((decl->has_params || decl->is_task) &&
	    !parse_params(parser, &decl->params, decl->is_task))
		return false;
	if (parser_accept(parser, T_ARROW) &&
	    !(decl->returns_syntax = parse_type(parser)))
		return false;
	return !parser_accept(parser, T_WITH) ||
	       parse_policies(parser, &decl->policies);
}

/* ("workflow" qname | "main") header block */
static bool
parse_workflow(struct parser *parser, struct decl *decl)
{
	if (parser_accept(parser, T_WORKFLOW)) {
		if (!parser_qname(parser, &decl->name))
			return false;
	} else {
		decl->is_main = true;
		parser_word(parser, &decl->name);
	}
	return parse_header(parser, decl) && (decl->body = parse_block(parser));
}

/* "task" qname header "{" clause {clause} "}" */
static bool
parse_task(struct parser *parser, struct decl *decl)
{
	parser_advance(parser);
	decl->is_task = true;
	return parser_qname(parser, &decl->name) &&
	       parse_header(parser, decl) && parser_expect(parser, T_LBRACE) &&
	       parse_clauses(parser, &decl->clauses) &&
	       parser_expect(parser, T_RBRACE);
}

static bool
at_decl(const struct parser *parser)
{
	return parser_is(parser, T_WORKFLOW) || parser_is(parser, T_TASK) ||
	       (parser_is_word(parser, "main") &&
	           (parser_peek(parser, 1) == T_LBRACE ||
	               parser_peek(parser, 1) == T_LPAREN ||
	               parser_peek(parser, 1) == T_ARROW ||
	               parser_peek(parser, 1) == T_WITH));
}

static struct decl *
parse_decl(struct parser *parser)
{
	struct decl *decl = arena_alloc(parser->arena, sizeof(*decl));
	bool good;

	decl->start = parser->token->offset;
	decl->doc = parser->token->doc;
	if (!at_decl(parser)) {
		if (parser_unexpected(
		        parser, "`workflow`, `task` or `main {`") &&
		    parser_is(parser, T_IMPORT))
			report_hint(parser->result,
			    "Imports stand at the beginning of a file.");
		return NULL;
	}
	good = parser_is(parser, T_TASK) ? parse_task(parser, decl)
	                                 : parse_workflow(parser, decl);
	decl->end = parser->last->offset + parser->last->len;
	return good ? decl : NULL;
}

/* After an error, skip to the next place where a declaration seems to begin. */
static void
skip_decl(struct parser *parser)
{
	while (!parser_is(parser, T_END) && !parser_is(parser, T_WORKFLOW) &&
	       !parser_is(parser, T_TASK) &&
	       !(parser->braces <= 0 && at_decl(parser)))
		parser_advance(parser);
}

struct file *
parse(struct arena *arena, const struct source *source,
    struct lang_result *result)
{
	struct parser parser = {
		.arena = arena,
		.source = source,
		.result = result,
		.first_error = result->length,
	};
	struct file *file = arena_alloc(arena, sizeof(*file));
	struct import **imports = &file->imports, *import;
	struct decl **decls = &file->decls, *decl;
	int count = 0;

	file->tokens = scan(arena, source, result);
	parser.token = parser.last = file->tokens->list;
	parser.scan_errors = result->length;
	while (parser_is(&parser, T_IMPORT)) {
		if (!parser_count(&parser, &count))
			break;
		if ((import = parse_import(&parser)))
			APPEND(imports, import);
		else
			skip_decl(&parser);
	}
	while (!parser_is(&parser, T_END)) {
		parser.depth = parser.braces = parser.parens = 0;
		if (!parser_count(&parser, &count))
			break;
		if ((decl = parse_decl(&parser)))
			APPEND(decls, decl);
		else
			skip_decl(&parser);
	}
	file->broken = result->length > parser.first_error;
	return file;
}
