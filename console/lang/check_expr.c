/* Types of expressions.  Operators: check_operator.c. */
#include <string.h>

#include "common/suggestion.h"
#include "console/lang/checker.h"
#include "console/lang/function.h"

static const struct type *
basic(enum type_kind kind)
{
	return &type_basic[kind];
}

struct expr *
check_bare(struct expr *expr)
{
	while (expr->kind == E_PAREN)
		expr = expr->a;
	return expr;
}

bool
check_not_null(struct checker *checker, struct expr *expr)
{
	if (!type_may_be_null(expr->type))
		return true;
	COMPLAIN(checker, expr->start, "this value may be null");
	HINT(checker,
	    "Say what to take instead (… ?? …), or ask before (… != null).");
	expr->type = type_required(checker->arena, expr->type);
	return false;
}

static void
add_read(struct checker *checker, const struct binding *binding)
{
	const char *name =
	    binding->tree_name ? binding->tree_name : binding->name;
	struct read **tail = &checker->reads, *read;

	for (; *tail; tail = &(*tail)->next)
		if (strcmp((*tail)->name, name) == 0)
			return;
	read = arena_alloc(checker->arena, sizeof(*read));
	read->name = name;
	read->depth = binding->depth;
	*tail = read;
}

static void
check_name(struct checker *checker, struct expr *expr)
{
	const struct binding *binding;

	if (strcmp(expr->text, "instance") == 0) {
		COMPLAIN(checker, expr->start,
		    "`instance` is not a value, only its fields are");
		HINT(checker,
		    "Write instance.id, .workflow, .version, .key, "
		    ".started_at, .scheduled_at, .subject or .trace_id.");
		return;
	}
	if (!(binding = scope_find(checker, expr->text, expr->start)))
		return;
	expr->type = binding->type;
	narrow_type(checker, expr);
	if (binding->depth >= 0)
		add_read(checker, binding);
	expr->tree_name = binding->tree_name;
}

static void
check_text(struct checker *checker, struct expr *expr)
{
	struct expr *part;

	expr->type = basic(TYPE_STRING);
	for (part = expr->items; part; part = part->next) {
		check_expr(checker, part);
		if (part->type->kind == TYPE_LIST ||
		    part->type->kind == TYPE_OBJECT) {
			COMPLAIN(checker, part->start, "`%s` is not text",
			    type_text(checker->arena, part->type));
			HINT(checker, "Write ${json(…)}.");
		} else {
			check_not_null(checker, part);
		}
	}
}

static void
check_list(struct checker *checker, struct expr *expr)
{
	const struct type *element = NULL;
	struct expr *item;

	for (item = expr->items; item; item = item->next) {
		check_expr(checker, item);
		element = element
		              ? type_join(checker->arena, element, item->type)
		              : item->type;
	}
	expr->type = type_list(checker->arena, element);
}

static void
check_object(struct checker *checker, struct expr *expr)
{
	struct field *fields = NULL, **tail = &fields, *field;
	struct member *member;

	for (member = expr->members; member; member = member->next) {
		check_expr(checker, member->value);
		for (field = fields; field; field = field->next)
			if (strcmp(field->name, member->key.text) == 0)
				COMPLAIN(checker, member->key.start,
				    "the key `%s` is given twice",
				    member->key.text);
		field = arena_alloc(checker->arena, sizeof(*field));
		field->name = member->key.text;
		field->type = member->value->type;
		*tail = field;
		tail = &field->next;
	}
	expr->type = type_object(checker->arena, fields);
}

static const struct field instance_fields[] = {
	{ NULL, "id", &type_basic[TYPE_INT] },
	{ NULL, "workflow", &type_basic[TYPE_STRING] },
	{ NULL, "version", &type_basic[TYPE_INT] },
	{ NULL, "key", &(const struct type){ TYPE_STRING, true, 0, 0, 0 } },
	{ NULL, "started_at", &type_basic[TYPE_TIMESTAMP] },
	{ NULL, "scheduled_at",
	    &(const struct type){ TYPE_TIMESTAMP, true, 0, 0, 0 } },
	{ NULL, "subject", &(const struct type){ TYPE_JSON, true, 0, 0, 0 } },
	{ NULL, "trace_id", &type_basic[TYPE_STRING] },
};

static void
check_instance(struct checker *checker, struct expr *expr)
{
	size_t i;

	expr->form = "instance";
	if (checker->in_request && strcmp(expr->text, "attempt") == 0) {
		expr->type = basic(TYPE_STRING);
		return;
	}
	if (!checker->scope || (checker->decl && checker->decl->is_task)) {
		COMPLAIN(checker, expr->start,
		    "`instance` can only be read in a workflow");
		if (checker->in_request)
			HINT(checker, "Requests can read instance.attempt.");
		return;
	}
	for (i = 0; i < sizeof(instance_fields) / sizeof(instance_fields[0]);
	     i++) {
		if (strcmp(instance_fields[i].name, expr->text) == 0) {
			expr->type = instance_fields[i].type;
			return;
		}
	}
	COMPLAIN(checker, expr->text_start, "`instance` has no field `%s`",
	    expr->text);
	HINT(checker, "Its fields are id, workflow, version, key, started_at, "
	              "scheduled_at, subject and trace_id.");
}

static void
report_field(struct checker *checker, struct expr *expr)
{
	const struct field *field;
	const char *list = "";
	struct suggestion suggestion;

	COMPLAIN(
	    checker, expr->text_start, "there is no field `%s`", expr->text);
	suggestion_init(&suggestion, expr->text);
	for (field = expr->a->type->fields; field; field = field->next) {
		suggestion_offer(&suggestion, field->name, strlen(field->name));
		list = arena_printf(checker->arena, "%s%s%s", list,
		    *list ? ", " : "", field->name);
	}
	if (suggestion.best)
		HINT(checker, "Did you mean `%s`? The fields are: %s.",
		    suggestion.best, list);
	else if (*list)
		HINT(checker, "The fields are: %s.", list);
}

/* The type of the field `name` of a value of type `base`, or NULL. */
static const struct type *
field_type(struct checker *checker, const struct type *base, const char *name)
{
	const struct type *type = basic(TYPE_JSON);

	if (base->kind == TYPE_OBJECT && base->closed)
		type = type_field(base, name);
	else if (base->kind == TYPE_ERROR || base->kind == TYPE_NULL)
		type = base;
	if (type && base->optional)
		type = type_optional(checker->arena, type);
	return type;
}

static bool
has_fields(const struct type *type)
{
	return type->kind == TYPE_OBJECT || type->kind == TYPE_JSON ||
	       type->kind == TYPE_ERROR || type->kind == TYPE_NULL;
}

static void
check_field(struct checker *checker, struct expr *expr)
{
	const struct type *type;

	expr->form = "get";
	if (expr->a->kind == E_NAME && strcmp(expr->a->text, "instance") == 0) {
		check_instance(checker, expr);
		return;
	}
	check_expr(checker, expr->a);
	if (!has_fields(expr->a->type)) {
		COMPLAIN(checker, expr->text_start, "`%s` has no fields",
		    type_text(checker->arena, expr->a->type));
		return;
	}
	type = field_type(checker, expr->a->type, expr->text);
	if (!type) {
		report_field(checker, expr);
		return;
	}
	expr->type = type;
	narrow_type(checker, expr);
}

/* a[b]: an element of a list or a field of an object */
static void
check_index(struct checker *checker, struct expr *expr)
{
	const struct type *base, *index;

	check_expr(checker, expr->a);
	check_expr(checker, expr->b);
	check_not_null(checker, expr->b);
	base = expr->a->type;
	index = expr->b->type;
	if (base->kind == TYPE_LIST ||
	    (base->kind == TYPE_JSON && index->kind == TYPE_INT)) {
		expr->form = "at";
		expr->type = base->element ? base->element : basic(TYPE_JSON);
		if (base->optional)
			expr->type = type_optional(checker->arena, expr->type);
		convert(checker, expr->b, basic(TYPE_INT), "the index");
	} else if (base->kind == TYPE_OBJECT ||
	           (base->kind == TYPE_JSON && index->kind == TYPE_STRING)) {
		expr->form = "get";
		expr->type = basic(TYPE_JSON);
		convert(checker, expr->b, basic(TYPE_STRING), "the key");
		if (expr->b->kind == E_STRING &&
		    field_type(checker, base, expr->b->text))
			expr->type = field_type(checker, base, expr->b->text);
	} else if (base->kind == TYPE_JSON && index->kind == TYPE_JSON) {
		COMPLAIN(checker, expr->b->start, "is this an index or a key?");
		HINT(checker, "Write int(…) or string(…).");
	} else if (base->kind != TYPE_ERROR && index->kind != TYPE_ERROR) {
		COMPLAIN(checker, expr->b->start,
		    "`%s` has no elements and no fields",
		    type_text(checker->arena, base));
	}
}

static void
check_each(struct checker *checker, struct expr *expr)
{
	struct known *before = checker->known;
	struct binding local = { 0 };
	struct name name = { expr->text, expr->text_start };

	check_expr(checker, expr->b);
	if (check_not_null(checker, expr->b))
		convert(checker, expr->b, basic(TYPE_LIST), "the source");
	local.type = expr->b->type->kind == TYPE_LIST && expr->b->type->element
	                 ? expr->b->type->element
	                 : basic(TYPE_JSON);
	scope_push_local(checker, &name, &local);
	if (expr->c) {
		check_expr(checker, expr->c);
		check_bool(checker, expr->c, "the condition after `if`");
		narrow(checker, expr->c, true);
	}
	check_expr(checker, expr->a);
	narrow_end(checker, before);
	scope_pop_local(checker);
	expr->type = type_list(checker->arena, expr->a->type);
}

static void
check_choice(struct checker *checker, struct expr *expr)
{
	struct known *before;

	check_expr(checker, expr->a);
	check_bool(checker, expr->a, "the condition before `?`");
	before = narrow(checker, expr->a, true);
	check_expr(checker, expr->b);
	narrow_end(checker, before);
	narrow(checker, expr->a, false);
	check_expr(checker, expr->c);
	narrow_end(checker, before);
	expr->form = "if";
	expr->type = type_join(checker->arena, expr->b->type, expr->c->type);
}

static void
report_function(struct checker *checker, struct expr *expr)
{
	struct suggestion suggestion;
	int i;

	COMPLAIN(checker, expr->start, "there is no function `%s`", expr->text);
	suggestion_init(&suggestion, expr->text);
	for (i = 0; function_at(i); i++)
		suggestion_offer(&suggestion, function_at(i)->name,
		    strlen(function_at(i)->name));
	if (suggestion.best)
		HINT(checker, "Did you mean `%s`?", suggestion.best);
}

static void
check_function_args(
    struct checker *checker, struct expr *expr, const struct function *function)
{
	int most = (int)strlen(function->args), count = 0;
	struct expr *arg;

	for (arg = expr->items; arg; arg = arg->next, count++) {
		if (count >= most ||
		    function_accepts(function, count, arg->type))
			continue;
		COMPLAIN(checker, arg->start,
		    "argument %d of `%s` must be `%s`, not `%s`", count + 1,
		    function->name, function_arg_text(function, count),
		    type_text(checker->arena, arg->type));
	}
	if (count >= function->least && count <= most)
		return;
	if (function->least == most)
		COMPLAIN(checker, expr->start,
		    "`%s` takes %d argument%s, not %d", function->name, most,
		    most == 1 ? "" : "s", count);
	else
		COMPLAIN(checker, expr->start,
		    "`%s` takes %d to %d arguments, not %d", function->name,
		    function->least, most, count);
}

static void
check_function(struct checker *checker, struct expr *expr)
{
	const struct function *function = function_find(expr->text);
	struct expr *arg;

	for (arg = expr->items; arg; arg = arg->next)
		check_expr(checker, arg);
	if (!function) {
		report_function(checker, expr);
		return;
	}
	check_function_args(checker, expr, function);
	expr->type = function_result(
	    checker->arena, function, expr->items ? expr->items->type : NULL);
	if (!expr->type)
		expr->type = basic(TYPE_ERROR);
}

static void
check_paren(struct checker *checker, struct expr *expr)
{
	check_expr(checker, expr->a);
	expr->type = expr->a->type;
}

static void
check_literal(struct checker *checker, struct expr *expr)
{
	(void)checker;
	switch (expr->kind) {
	case E_NULL:
		expr->type = basic(TYPE_NULL);
		break;
	case E_BOOL:
		expr->type = basic(TYPE_BOOL);
		break;
	case E_NUMBER:
		expr->type =
		    basic(strpbrk(expr->text, ".eE") ? TYPE_NUMBER : TYPE_INT);
		break;
	case E_DURATION:
		expr->type = basic(TYPE_DURATION);
		break;
	default:
		expr->type = basic(TYPE_STRING);
	}
}

static void (*const checks[])(struct checker *, struct expr *) = {
	[E_NULL] = check_literal,
	[E_BOOL] = check_literal,
	[E_NUMBER] = check_literal,
	[E_DURATION] = check_literal,
	[E_STRING] = check_literal,
	[E_TEXT] = check_text,
	[E_NAME] = check_name,
	[E_CALL] = check_function,
	[E_SECRET] = check_secret,
	[E_PAREN] = check_paren,
	[E_LIST] = check_list,
	[E_EACH] = check_each,
	[E_OBJECT] = check_object,
	[E_FIELD] = check_field,
	[E_INDEX] = check_index,
	[E_UNARY] = check_operator,
	[E_BINARY] = check_operator,
	[E_CHOICE] = check_choice,
};

void
check_expr(struct checker *checker, struct expr *expr)
{
	expr->type = basic(TYPE_ERROR);
	checks[expr->kind](checker, expr);
	check_secret_place(checker, expr);
}

void
check_value(struct checker *checker, struct expr *expr)
{
	struct read *outer = checker->reads;

	checker->reads = NULL;
	check_expr(checker, expr);
	expr->reads = checker->reads;
	checker->reads = outer;
}

void
check_value_as(struct checker *checker, struct expr *expr,
    const struct type *type, const char *what)
{
	check_value(checker, expr);
	convert(checker, expr, type, what);
}

void
check_condition(struct checker *checker, struct expr *expr, const char *what)
{
	check_value(checker, expr);
	check_bool(checker, expr, what);
}
