/* Types as written, and the headers of declarations. */
#include <string.h>

#include "common/suggestion.h"
#include "console/lang/checker.h"

enum { NAME_MAX_BYTES = 63 };

static const struct type *
named_type(struct checker *checker, const struct type_syntax *syntax)
{
	const struct type *type = type_named(syntax->name);
	struct suggestion suggestion;
	int i;

	if (type && type->kind == TYPE_SECRET) {
		COMPLAIN(checker, syntax->start,
		    "only a parameter of a task type can be a `secret`");
		HINT(checker, "Name the secret where a task needs it: "
		              "secret(\"…\").");
		return &type_basic[TYPE_ERROR];
	}
	if (type && type_is_code(type)) {
		COMPLAIN(checker, syntax->start, "only a parameter can be `%s`",
		    syntax->name);
		HINT(checker,
		    "It is handed on from one parameter to the next, so that "
		    "its literal can always be found.");
		return &type_basic[TYPE_ERROR];
	}
	if (type)
		return type;
	COMPLAIN(checker, syntax->start, "there is no type `%s`", syntax->name);
	suggestion_init(&suggestion, syntax->name);
	for (i = 0; type_name_at(i); i++)
		suggestion_offer(
		    &suggestion, type_name_at(i), strlen(type_name_at(i)));
	if (suggestion.best)
		HINT(checker, "Did you mean `%s`?", suggestion.best);
	else
		HINT(checker,
		    "Types are string, int, number, bool, json, list, object, "
		    "date, timestamp, duration, sql, shell, [T], {a: T} and "
		    "T?.");
	return &type_basic[TYPE_ERROR];
}

static const struct type *
object_type(struct checker *checker, const struct type_syntax *syntax)
{
	struct field *fields = NULL, **tail = &fields, *field;
	const struct type_syntax *member;

	for (member = syntax->members; member; member = member->next) {
		for (field = fields; field; field = field->next)
			if (strcmp(field->name, member->key.text) == 0)
				COMPLAIN(checker, member->key.start,
				    "the key `%s` is given twice",
				    member->key.text);
		field = arena_alloc(checker->arena, sizeof(*field));
		field->name = member->key.text;
		field->type = check_type(checker, member);
		*tail = field;
		tail = &field->next;
	}
	return type_object(checker->arena, fields);
}

const struct type *
check_type(struct checker *checker, const struct type_syntax *syntax)
{
	const struct type *type;

	if (syntax->element)
		type = type_list(
		    checker->arena, check_type(checker, syntax->element));
	else if (syntax->is_object)
		type = object_type(checker, syntax);
	else
		type = named_type(checker, syntax);
	return syntax->optional ? type_optional(checker->arena, type) : type;
}

/* Only a whole parameter may be secret or code, never a part of one. */
static const struct type *
param_type(struct checker *checker, const struct decl *decl,
    const struct type_syntax *syntax)
{
	const struct type *type;

	if (!syntax)
		return &type_basic[TYPE_JSON];
	type = syntax->name ? type_named(syntax->name) : NULL;
	if (type && (type_is_code(type) ||
	                (type->kind == TYPE_SECRET && decl->is_task)))
		return syntax->optional ? type_optional(checker->arena, type)
		                        : type;
	return check_type(checker, syntax);
}

/* A parameter without a type has the type of its default. */
static void
check_param(
    struct checker *checker, const struct decl *decl, struct param *param)
{
	const char *what =
	    arena_printf(checker->arena, "parameter `%s`", param->name.text);

	if (strcmp(param->name.text, "instance") == 0 ||
	    strncmp(param->name.text, "__", 2) == 0 ||
	    (decl->is_task && (strcmp(param->name.text, "handle") == 0 ||
	                          strcmp(param->name.text, "response") == 0)))
		COMPLAIN(checker, param->name.start, "`%s` is a reserved name",
		    param->name.text);
	param->type = param_type(checker, decl, param->type_syntax);
	if (!param->value)
		return;
	check_value(checker, param->value);
	if (param->type_syntax)
		convert(checker, param->value, param->type, what);
	else if (param->value->type->kind == TYPE_NULL)
		param->type = type_optional(checker->arena, param->type);
	else if (param->value->kind != E_LIST && param->value->kind != E_OBJECT)
		param->type = param->value->type;
	else
		param->type = &type_basic[param->value->type->kind];
}

static void
check_params(struct checker *checker, struct decl *decl)
{
	struct param *param, *other;

	for (param = decl->params; param; param = param->next) {
		for (other = decl->params; other != param; other = other->next)
			if (strcmp(other->name.text, param->name.text) == 0)
				break;
		if (other != param)
			COMPLAIN(checker, param->name.start,
			    "the parameter `%s` is declared twice",
			    param->name.text);
		check_param(checker, decl, param);
	}
}

/*
 * The name of a workflow is the name under which it is installed: words in
 * lower case.
 */
static void
check_decl_name(struct checker *checker, struct decl *decl)
{
	const char *p = decl->full_name;
	bool first = true, good = true;

	for (; *p; p++) {
		good = good &&
		       (*p == '.' || *p == '_' || (*p >= 'a' && *p <= 'z') ||
		           (!first && ((*p >= 'A' && *p <= 'Z') ||
		                          (*p >= '0' && *p <= '9'))));
		first = *p == '.';
	}
	if (strlen(decl->name.text) > NAME_MAX_BYTES && !decl->is_main) {
		; /* the scanner has reported it */
	} else if (strlen(decl->full_name) > NAME_MAX_BYTES) {
		COMPLAIN(checker, decl->name.start,
		    "the name `%s` has more than %d bytes", decl->full_name,
		    NAME_MAX_BYTES);
	} else if (!decl->is_task && !good) {
		COMPLAIN(checker, decl->name.start,
		    "`%s` is not a name for a workflow", decl->full_name);
		HINT(checker,
		    decl->is_main
		        ? "`main` is called like its file: use a to z, 0 to "
		          "9 and _, a letter first."
		        : "Begin each word of it with a to z or _.");
	}
}

void
check_header(struct checker *checker, struct decl *decl)
{
	check_decl_name(checker, decl);
	check_params(checker, decl);
	if (decl->returns_syntax)
		decl->returns = check_type(checker, decl->returns_syntax);
}
