#include "console/lang/spec.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/json.h"
#include "console/lang/arena.h"

static const char *const inner[] = { "steps", "branches", "body", "then",
	"else", "catches", "finally", "undo" };

enum { INNER = sizeof(inner) / sizeof(inner[0]) };

const char *
spec_inner(size_t i)
{
	return i < INNER ? inner[i] : NULL;
}

bool
spec_is_bounded(const struct json *spec)
{
	bool list = json_type(spec) == JSON_LIST;
	size_t i;

	if (!list && json_length(spec) > SPEC_MEMBERS_MAX)
		return false;
	for (i = 0; i < json_length(spec); i++)
		if (!spec_is_bounded(
		        list ? json_at(spec, i) : json_value_at(spec, i)))
			return false;
	return true;
}

bool
spec_is_meant(const struct json *workflow, const char *only)
{
	const char *name = json_string(json_get(workflow, "name"));

	return !only || (name && strcmp(name, only) == 0);
}

static const struct json *
find_workflow(const struct json *spec, const char *name)
{
	const struct json *list = json_get(spec, "workflows");
	size_t i;

	for (i = 0; i < json_length(list); i++)
		if (spec_is_meant(json_at(list, i), name))
			return json_at(list, i);
	return NULL;
}

/* A comparison, and its present place. */
struct comparison {
	struct buf where;
	const struct spec_scope *scope;
};

static bool same_node(
    struct comparison *comparison, const struct json *a, const struct json *b);

static bool
is_form(const struct json *expr, const char *form)
{
	const char *name = json_string(json_at(expr, 0));

	return name && strcmp(name, form) == 0;
}

static bool
same_scalar(const struct json *a, const struct json *b)
{
	char *left, *right;
	bool same;

	if (json_type(a) == JSON_STRING)
		return json_string_length(a) == json_string_length(b) &&
		       memcmp(json_string(a), json_string(b),
		           json_string_length(a)) == 0;
	left = json_text(a);
	right = json_text(b);
	same = strcmp(left, right) == 0;
	free(left);
	free(right);
	return same;
}

static bool same_value(
    struct comparison *comparison, const struct json *a, const struct json *b);

/* Compare two lists; `same` compares their elements. */
static bool
same_items(struct comparison *comparison, const struct json *a,
    const struct json *b,
    bool (*same)(struct comparison *, const struct json *, const struct json *))
{
	size_t before = comparison->where.len, i;

	for (i = 0; i < json_length(a) && i < json_length(b); i++) {
		buf_addf(&comparison->where, "[%zu]", i);
		if (!same(comparison, json_at(a, i), json_at(b, i)))
			return false;
		buf_truncate(&comparison->where, before);
	}
	return json_type(a) == json_type(b) && json_length(a) == json_length(b);
}

/* Whether a member may differ: a line, or one that old trees lack. */
static bool
is_loose(const struct json *a, const char *key, bool node)
{
	return node && (strcmp(key, "line") == 0 ||
	                   (strcmp(key, "params") == 0 &&
	                       json_has(a, "workflow") && !json_has(a, key)));
}

static bool
is_inner(const char *key)
{
	size_t i;

	for (i = 0; i < INNER; i++)
		if (strcmp(inner[i], key) == 0)
			return true;
	return strcmp(key, "params") == 0;
}

static bool
same_name(const struct comparison *comparison, const struct json *a,
    const struct json *b)
{
	const struct spec_scope *scope = comparison->scope;
	const char *name = json_string(b);

	if (!json_string(a) || !name)
		return false;
	if (scope && scope->called)
		name = scope->called(scope->context, name);
	return strcmp(json_string(a), name) == 0;
}

static bool
same_member(struct comparison *comparison, const char *key,
    const struct json *a, const struct json *b, bool node)
{
	if (node && strcmp(key, "workflow") == 0)
		return same_name(comparison, a, b);
	if (!node || !is_inner(key))
		return same_value(comparison, a, b);
	return json_type(a) == JSON_LIST
	           ? same_items(comparison, a, b, same_node)
	           : same_node(comparison, a, b);
}

static bool
same_members(struct comparison *comparison, const struct json *a,
    const struct json *b, bool node)
{
	size_t before = comparison->where.len, i;
	const char *key;

	if (json_type(a) != JSON_OBJECT || json_type(b) != JSON_OBJECT)
		return false;
	for (i = 0; i < json_length(a); i++) {
		key = json_key_at(a, i);
		buf_addf(&comparison->where, ".%s", key);
		if (!is_loose(a, key, node) &&
		    (!json_has(b, key) ||
		        !same_member(comparison, key, json_value_at(a, i),
		            json_get(b, key), node)))
			return false;
		buf_truncate(&comparison->where, before);
	}
	for (i = 0; i < json_length(b); i++) {
		key = json_key_at(b, i);
		if (json_has(a, key) || is_loose(a, key, node))
			continue;
		buf_addf(&comparison->where, ".%s", key);
		return false;
	}
	return true;
}

/* Whether an expression without `const` is the constant `value`. */
static bool
same_constant(const struct json *value, const struct json *expr)
{
	bool list = json_type(value) == JSON_LIST;
	size_t i, skip = list;

	if (json_type(value) != json_type(expr) ||
	    json_length(value) + skip != json_length(expr))
		return false;
	if (!list && json_type(value) != JSON_OBJECT)
		return same_scalar(value, expr);
	for (i = 0; i < json_length(value); i++)
		if (!same_constant(
		        list ? json_at(value, i) : json_value_at(value, i),
		        list ? json_at(expr, i + 1)
		             : json_get(expr, json_key_at(value, i))))
			return false;
	return !list || is_form(expr, "list");
}

static bool
same_value(
    struct comparison *comparison, const struct json *a, const struct json *b)
{
	if (is_form(a, "const"))
		return same_constant(json_at(a, 1), b);
	if (json_type(a) != json_type(b))
		return false;
	if (json_type(a) == JSON_LIST)
		return same_items(comparison, a, b, same_value);
	if (json_type(a) == JSON_OBJECT)
		return same_members(comparison, a, b, false);
	return same_scalar(a, b);
}

/* Compare workflows, nodes or parameters: these have lines. */
static bool
same_node(
    struct comparison *comparison, const struct json *a, const struct json *b)
{
	return same_members(comparison, a, b, true);
}

bool
spec_equal(const struct json *a, const struct json *b)
{
	struct comparison comparison = { .scope = NULL };
	bool same;

	buf_init(&comparison.where, 0);
	same = same_value(&comparison, a, b);
	buf_release(&comparison.where);
	return same;
}

static bool
same_workflows(struct comparison *comparison, const struct json *spec,
    const struct json *other)
{
	const struct json *list = json_get(spec, "workflows"), *workflow;
	const char *only = comparison->scope ? comparison->scope->only : NULL;
	const char *name;
	size_t before = comparison->where.len, i;

	for (i = 0; i < json_length(list); i++) {
		workflow = json_at(list, i);
		if (!spec_is_meant(workflow, only))
			continue;
		name = json_string(json_get(workflow, "name"));
		buf_addf(&comparison->where, "workflows[%zu]", i);
		if (!name || !same_node(comparison, workflow,
		                 find_workflow(other, name)))
			return false;
		buf_truncate(&comparison->where, before);
	}
	return true;
}

/* Whether a node or workflow has a task of that type. */
static bool
uses_type(const struct json *node, const char *type)
{
	const char *own = json_string(json_get(node, "type"));
	const struct json *part;
	size_t i, j;

	if (own && json_has(node, "args") && strcmp(own, type) == 0)
		return true;
	for (i = 0; i < INNER; i++) {
		part = json_get(node, inner[i]);
		if (json_type(part) == JSON_OBJECT && uses_type(part, type))
			return true;
		for (j = 0;
		     json_type(part) == JSON_LIST && j < json_length(part); j++)
			if (uses_type(json_at(part, j), type))
				return true;
	}
	return false;
}

static bool
is_used(const struct comparison *comparison, const struct json *spec,
    const char *type)
{
	const struct json *list = json_get(spec, "workflows");
	const char *only = comparison->scope ? comparison->scope->only : NULL;
	size_t i;

	for (i = 0; i < json_length(list); i++)
		if (spec_is_meant(json_at(list, i), only) &&
		    uses_type(json_at(list, i), type))
			return true;
	return false;
}

/* Compare the task types that the workflows use. */
static bool
same_types(struct comparison *comparison, const struct json *spec,
    const struct json *other)
{
	const struct json *types = json_get(other, "task_types");
	const struct json *own = json_get(spec, "task_types");
	size_t before = comparison->where.len, i;
	const char *name;

	for (i = 0; i < json_length(types); i++) {
		name = json_key_at(types, i);
		if (!is_used(comparison, spec, name))
			continue;
		buf_addf(&comparison->where, "task_types.%s", name);
		if (!same_value(comparison, json_get(own, name),
		        json_value_at(types, i)))
			return false;
		buf_truncate(&comparison->where, before);
	}
	return true;
}

const char *
spec_difference(struct arena *arena, const struct json *spec,
    const struct json *other, const struct spec_scope *scope)
{
	struct comparison comparison = { .scope = scope };
	const char *where = NULL;

	buf_init(&comparison.where, 0);
	if (!same_workflows(&comparison, spec, other) ||
	    !same_types(&comparison, spec, other))
		where = arena_strndup(
		    arena, comparison.where.data, comparison.where.len);
	buf_release(&comparison.where);
	return where;
}
