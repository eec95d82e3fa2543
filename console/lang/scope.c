#include "console/lang/scope.h"

#include <string.h>

#include "common/suggestion.h"
#include "console/lang/checker.h"
#include "console/lang/find.h"
#include "console/lang/lang.h"
#include "console/lang/source.h"

static size_t
hash(const char *name)
{
	size_t value = 5381;

	for (; *name; name++)
		value = value * 33 ^ (unsigned char)*name;
	return value % NAMES_SIZE;
}

/* The binding of that name in one list of a scope. */
static struct binding *
find(const struct checker *checker, const char *name, const struct scope *scope,
    enum binding_state state)
{
	struct binding *binding = checker->names->buckets[hash(name)];

	for (; binding; binding = binding->next_same)
		if (binding->scope == scope && binding->state == state &&
		    strcmp(binding->name, name) == 0)
			return binding;
	return NULL;
}

static struct binding *
find_in(struct binding *list, const char *name)
{
	while (list && strcmp(list->name, name) != 0)
		list = list->next;
	return list;
}

void
scope_enter(struct checker *checker, struct scope *scope)
{
	*scope = (struct scope){ .outer = checker->scope };
	if (scope->outer)
		scope->depth = scope->outer->depth + 1;
	else
		checker->names =
		    arena_alloc(checker->arena, sizeof(*checker->names));
	checker->scope = scope;
}

/* Take everything before `mark` off the front of a list. */
static struct binding *
cut(struct binding **list, struct binding *mark)
{
	struct binding *front = *list, **end = &front, *binding;

	while (*end != mark)
		end = &(*end)->next;
	*end = NULL;
	*list = mark;
	for (binding = front; binding; binding = binding->next)
		binding->state = BINDING_HIDDEN;
	return front;
}

/* Put all of `list` before the front of a scope's list. */
static void
prepend(struct scope *scope, enum binding_state state, struct binding *list)
{
	struct binding **end = &list;

	for (; *end; end = &(*end)->next) {
		(*end)->scope = scope;
		(*end)->state = state;
	}
	*end = scope->lists[state];
	scope->lists[state] = list;
}

void
scope_leave(struct checker *checker)
{
	struct scope *scope = checker->scope;

	checker->scope = scope->outer;
	if (!scope->outer)
		return;
	prepend(scope->outer, BINDING_INNER, scope->lists[BINDING_VISIBLE]);
	prepend(scope->outer, BINDING_INNER, scope->lists[BINDING_INNER]);
}

struct binding *
scope_leave_branch(struct checker *checker)
{
	struct binding *bound = scope_take(checker, NULL), *binding;

	scope_leave(checker);
	for (binding = bound; binding; binding = binding->next) {
		binding->scope = checker->scope;
		binding->depth = checker->scope->depth;
	}
	return bound;
}

static int
taken(struct checker *checker, const struct name *name,
    const struct binding *binding, const char *message)
{
	COMPLAIN(checker, name->start, message, name->text);
	HINT(checker, "It was bound first in line %d.",
	    source_line_at(checker->module->source, binding->start));
	return 0;
}

static int
is_reserved(struct checker *checker, const struct name *name)
{
	if (strcmp(name->text, "instance") != 0 &&
	    strncmp(name->text, "__", 2) != 0)
		return 0;
	COMPLAIN(checker, name->start, "`%s` is a reserved name", name->text);
	return 1;
}

/* A name of this scope or one around it, in one of two states. */
static const struct binding *
find_around(const struct checker *checker, const char *name,
    enum binding_state state, enum binding_state other)
{
	const struct scope *scope;
	const struct binding *binding;

	for (scope = checker->scope; scope; scope = scope->outer)
		if ((binding = find(checker, name, scope, state)) ||
		    (binding = find(checker, name, scope, other)))
			return binding;
	return NULL;
}

/* Report it if the name can not be bound in the innermost scope. */
static int
is_free(struct checker *checker, const struct name *name)
{
	const struct binding *binding;

	if (is_reserved(checker, name))
		return 0;
	if ((binding = find_around(
	         checker, name->text, BINDING_VISIBLE, BINDING_BESIDE)))
		return taken(checker, name, binding,
		    binding->scope == checker->scope
		        ? "`%s` is bound twice"
		        : "`%s` would hide the name of the scope around it");
	binding = find_around(
	    checker, name->text, BINDING_GIVEN_UP, BINDING_GIVEN_UP);
	if (binding && binding->scope != checker->scope)
		return taken(checker, name, binding,
		    "`%s` would hide the name of the scope around it");
	if ((binding =
	            find(checker, name->text, checker->scope, BINDING_INNER)))
		return taken(checker, name, binding,
		    "`%s` is bound twice: here and inside a loop");
	return 1;
}

void
scope_push_local(
    struct checker *checker, const struct name *name, struct binding *local)
{
	const struct binding *binding = find_in(checker->locals, name->text);

	if (!binding && checker->scope)
		binding = find_around(
		    checker, name->text, BINDING_VISIBLE, BINDING_VISIBLE);
	if (binding)
		taken(checker, name, binding,
		    "`%s` would hide the name of the scope around it");
	else
		is_reserved(checker, name);
	local->name = name->text;
	local->start = name->start;
	local->depth = -1; /* the workspace need not provide it */
	local->next = checker->locals;
	checker->locals = local;
}

void
scope_pop_local(struct checker *checker)
{
	checker->locals = checker->locals->next;
}

void
scope_bind(
    struct checker *checker, const struct name *name, const struct type *type)
{
	/* code counts as text, unless it is in a parameter */
	if (name->text && is_free(checker, name))
		scope_add(checker, name,
		    type_is_code(type) ? &type_basic[TYPE_STRING] : type);
}

void
scope_add(
    struct checker *checker, const struct name *name, const struct type *type)
{
	struct binding *binding = arena_alloc(checker->arena, sizeof(*binding));
	struct binding **bucket = &checker->names->buckets[hash(name->text)];

	binding->name = name->text;
	binding->start = name->start;
	binding->type = type;
	binding->depth = checker->scope->depth;
	binding->next_same = *bucket;
	*bucket = binding;
	prepend(checker->scope, BINDING_VISIBLE, binding);
}

/* The name is bound elsewhere in the workflow: report why not here. */
static int
report_elsewhere(struct checker *checker, const char *name, size_t start)
{
	const struct beside *beside;
	struct found found;
	int line;

	if (!checker->decl || checker->decl->is_task ||
	    !find_binding(checker->decl->body, name, &found))
		return 0;
	line = source_line_at(checker->module->source, found.start);
	if (found.undo &&
	    (start < found.undo_start || start >= found.undo_end)) {
		COMPLAIN(checker, start,
		    "`%s` does not leave the undo that binds it", name);
		HINT(checker,
		    "Line %d binds it in an undo, which runs only when its "
		    "step is given up.",
		    line);
		return 1;
	}
	for (beside = checker->beside; beside; beside = beside->outer) {
		if (found.start < beside->start || found.start >= beside->end ||
		    (found.start >= beside->branch_start &&
		        found.start < beside->branch_end))
			continue;
		if (beside->is_atomic) {
			COMPLAIN(checker, start,
			    "`%s` is bound in the same `atomic`", name);
			HINT(checker,
			    "Line %d binds it, after all arguments of the "
			    "atomic have been evaluated.",
			    line);
			return 1;
		}
		COMPLAIN(checker, start,
		    "not ordered: `%s` is bound in a branch that runs beside "
		    "this one",
		    name);
		HINT(checker,
		    "Line %d binds it; put `;` instead of `||` between the "
		    "two.",
		    line);
		return 1;
	}
	if (found.loop &&
	    (start < found.loop_start || start >= found.loop_end)) {
		COMPLAIN(checker, start,
		    "`%s` does not leave the loop that binds it", name);
		HINT(checker,
		    found.yields
		        ? "Write `yield %s as …` after the loop's body."
		        : "Write `collect %s as …` after the forall's "
		          "body.",
		    name);
		return 1;
	}
	COMPLAIN(checker, start, "`%s` is not bound yet", name);
	HINT(checker, "It is bound only in line %d.", line);
	return 1;
}

static void
report_unknown(struct checker *checker, const char *name, size_t start)
{
	const struct scope *scope;
	const struct binding *binding;
	struct suggestion suggestion;

	if (!checker->result->left_out &&
	    report_elsewhere(checker, name, start))
		return;
	COMPLAIN(checker, start, "there is no name `%s`", name);
	if (checker->result->left_out)
		return;
	suggestion_init(&suggestion, name);
	for (scope = checker->scope; scope; scope = scope->outer)
		for (binding = scope->lists[BINDING_VISIBLE]; binding;
		     binding = binding->next)
			suggestion_offer(
			    &suggestion, binding->name, strlen(binding->name));
	for (binding = checker->locals; binding; binding = binding->next)
		suggestion_offer(
		    &suggestion, binding->name, strlen(binding->name));
	if (suggestion.best)
		HINT(checker, "Did you mean `%s`?", suggestion.best);
	else if (!checker->decl->is_task)
		HINT(checker, "Names are parameters, and what `as`, `let`, "
		              "loops, `collect` "
		              "and `yield` bind.");
}

const struct binding *
scope_find(struct checker *checker, const char *name, size_t start)
{
	const struct scope *scope;
	const struct binding *binding;

	if ((binding = find_in(checker->locals, name)))
		return binding;
	if (!checker->scope) {
		COMPLAIN(checker, start, "a default can not read names");
		return NULL;
	}
	for (scope = checker->scope; scope; scope = scope->outer)
		if ((binding = find(checker, name, scope, BINDING_VISIBLE)) ||
		    (binding = find(checker, name, scope, BINDING_GIVEN_UP)))
			return binding;
	report_unknown(checker, name, start);
	return NULL;
}

struct binding *
scope_take(struct checker *checker, struct binding *mark)
{
	return cut(&checker->scope->lists[BINDING_VISIBLE], mark);
}

void
scope_give(
    struct checker *checker, enum binding_state state, struct binding *list)
{
	prepend(checker->scope, state, list);
}

void
scope_show(struct checker *checker, enum binding_state state,
    const struct binding *list)
{
	struct binding *copy, **bucket;

	for (; list; list = list->next) {
		copy = arena_alloc(checker->arena, sizeof(*copy));
		*copy = *list;
		copy->type = type_optional(checker->arena, list->type);
		bucket = &checker->names->buckets[hash(list->name)];
		copy->next_same = *bucket;
		*bucket = copy;
		copy->next = NULL;
		prepend(checker->scope, state, copy);
	}
}

void
scope_show_end(struct checker *checker, struct binding *mark)
{
	cut(&checker->scope->lists[BINDING_GIVEN_UP], mark);
}

void
scope_join(struct checker *checker, struct binding *mark)
{
	struct scope *scope = checker->scope;

	prepend(
	    scope, BINDING_VISIBLE, cut(&scope->lists[BINDING_BESIDE], mark));
}

void
scope_merge(struct checker *checker, struct binding *one, struct binding *other)
{
	struct binding *binding, *twin, **at;

	for (binding = one; binding; binding = binding->next) {
		twin = find_in(other, binding->name);
		binding->type =
		    twin ? type_join(checker->arena, binding->type, twin->type)
		         : type_optional(checker->arena, binding->type);
	}
	for (at = &other; *at;) {
		if (find_in(one, (*at)->name)) {
			*at = (*at)->next;
			continue;
		}
		(*at)->type = type_optional(checker->arena, (*at)->type);
		at = &(*at)->next;
	}
	prepend(checker->scope, BINDING_VISIBLE, one);
	prepend(checker->scope, BINDING_VISIBLE, other);
}
