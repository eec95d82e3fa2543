#include "console/lang/type.h"

#include <string.h>

#include "common/buf.h"
#include "common/json.h"
#include "console/lang/arena.h"

const struct type type_basic[] = {
	[TYPE_STRING] = { .kind = TYPE_STRING },
	[TYPE_INT] = { .kind = TYPE_INT },
	[TYPE_NUMBER] = { .kind = TYPE_NUMBER },
	[TYPE_BOOL] = { .kind = TYPE_BOOL },
	[TYPE_JSON] = { .kind = TYPE_JSON },
	[TYPE_LIST] = { .kind = TYPE_LIST },
	[TYPE_OBJECT] = { .kind = TYPE_OBJECT },
	[TYPE_DATE] = { .kind = TYPE_DATE },
	[TYPE_TIMESTAMP] = { .kind = TYPE_TIMESTAMP },
	[TYPE_DURATION] = { .kind = TYPE_DURATION },
	[TYPE_SECRET] = { .kind = TYPE_SECRET },
	[TYPE_SQL] = { .kind = TYPE_SQL },
	[TYPE_SHELL] = { .kind = TYPE_SHELL },
	[TYPE_NULL] = { .kind = TYPE_NULL },
	[TYPE_ERROR] = { .kind = TYPE_ERROR },
};

static const char *const names[] = {
	[TYPE_STRING] = "string",
	[TYPE_INT] = "int",
	[TYPE_NUMBER] = "number",
	[TYPE_BOOL] = "bool",
	[TYPE_JSON] = "json",
	[TYPE_LIST] = "list",
	[TYPE_OBJECT] = "object",
	[TYPE_DATE] = "date",
	[TYPE_TIMESTAMP] = "timestamp",
	[TYPE_DURATION] = "duration",
	[TYPE_SECRET] = "secret",
	[TYPE_SQL] = "sql",
	[TYPE_SHELL] = "shell",
	[TYPE_NULL] = "null",
	[TYPE_ERROR] = "json",
};

enum { NAMED_TYPES = TYPE_NULL }; /* the rest can not be written */

const struct type *
type_named(const char *name)
{
	int i;

	for (i = 0; i < NAMED_TYPES; i++)
		if (strcmp(names[i], name) == 0)
			return &type_basic[i];
	return NULL;
}

const char *
type_name_at(int i)
{
	return i < NAMED_TYPES ? names[i] : NULL;
}

const struct type *
type_list(struct arena *arena, const struct type *element)
{
	struct type *type = arena_alloc(arena, sizeof(*type));

	type->kind = TYPE_LIST;
	type->element = element;
	return type;
}

const struct type *
type_object(struct arena *arena, const struct field *fields)
{
	struct type *type = arena_alloc(arena, sizeof(*type));

	type->kind = TYPE_OBJECT;
	type->closed = true;
	type->fields = fields;
	return type;
}

static const struct type *
with_optional(struct arena *arena, const struct type *type, bool optional)
{
	struct type *copy;

	if (type->optional == optional || type->kind == TYPE_ERROR ||
	    type->kind == TYPE_NULL)
		return type;
	copy = arena_alloc(arena, sizeof(*copy));
	*copy = *type;
	copy->optional = optional;
	return copy;
}

const struct type *
type_optional(struct arena *arena, const struct type *type)
{
	return with_optional(arena, type, true);
}

const struct type *
type_required(struct arena *arena, const struct type *type)
{
	return with_optional(arena, type, false);
}

const struct type *
type_field(const struct type *type, const char *name)
{
	const struct field *field;

	for (field = type->fields; field; field = field->next)
		if (strcmp(field->name, name) == 0)
			return field->type;
	return NULL;
}

/*
 * The common type of two objects: one with the same fields, or just `object`.
 */
static const struct type *
join_objects(struct arena *arena, const struct type *a, const struct type *b)
{
	struct field *fields = NULL, **tail = &fields, *field;
	const struct field *left;
	const struct type *right;
	int count = 0;

	if (!a->closed || !b->closed)
		return &type_basic[TYPE_OBJECT];
	for (left = b->fields; left; left = left->next)
		count++;
	for (left = a->fields; left; left = left->next, count--) {
		if (!(right = type_field(b, left->name)))
			return &type_basic[TYPE_OBJECT];
		field = arena_alloc(arena, sizeof(*field));
		field->name = left->name;
		field->type = type_join(arena, left->type, right);
		*tail = field;
		tail = &field->next;
	}
	return count ? &type_basic[TYPE_OBJECT] : type_object(arena, fields);
}

static const struct type *
join_kinds(struct arena *arena, const struct type *a, const struct type *b)
{
	if (a->kind == TYPE_ERROR || b->kind == TYPE_NULL)
		return a;
	if (b->kind == TYPE_ERROR || a->kind == TYPE_NULL)
		return b;
	if (type_is_numeric(a) && type_is_numeric(b) && a->kind != b->kind &&
	    a->kind != TYPE_JSON && b->kind != TYPE_JSON)
		return &type_basic[TYPE_NUMBER];
	if (a->kind != b->kind)
		return &type_basic[TYPE_JSON];
	if (a->kind == TYPE_OBJECT)
		return join_objects(arena, a, b);
	if (a->kind != TYPE_LIST || !a->element || !b->element)
		return a->element ? b : a;
	return type_list(arena, type_join(arena, a->element, b->element));
}

const struct type *
type_join(struct arena *arena, const struct type *a, const struct type *b)
{
	const struct type *type = join_kinds(arena, a, b);

	return with_optional(
	    arena, type, type_may_be_null(a) || type_may_be_null(b));
}

bool
type_may_be_null(const struct type *type)
{
	return type->optional || type->kind == TYPE_NULL;
}

bool
type_is_numeric(const struct type *type)
{
	return type->kind == TYPE_INT || type->kind == TYPE_NUMBER ||
	       type->kind == TYPE_JSON;
}

bool
type_is_code(const struct type *type)
{
	return type->kind == TYPE_SQL || type->kind == TYPE_SHELL;
}

/*
 * Pairs that differ and still go together.  Other pairs never fit; json and
 * containers are handled elsewhere.
 */
static const struct {
	enum type_kind from, to;
	enum type_fit fit;
} fits[] = {
	{ TYPE_INT, TYPE_NUMBER, FIT_SAME },
	{ TYPE_NUMBER, TYPE_INT, FIT_CHECK },
	{ TYPE_INT, TYPE_STRING, FIT_CONVERT },
	{ TYPE_NUMBER, TYPE_STRING, FIT_CONVERT },
	{ TYPE_BOOL, TYPE_STRING, FIT_CONVERT },
	{ TYPE_DATE, TYPE_STRING, FIT_SAME },
	{ TYPE_TIMESTAMP, TYPE_STRING, FIT_SAME },
	{ TYPE_DURATION, TYPE_STRING, FIT_SAME },
	{ TYPE_SQL, TYPE_STRING, FIT_SAME },
	{ TYPE_SHELL, TYPE_STRING, FIT_SAME },
	{ TYPE_SECRET, TYPE_STRING, FIT_SAME },
	{ TYPE_STRING, TYPE_INT, FIT_CONVERT },
	{ TYPE_STRING, TYPE_NUMBER, FIT_CONVERT },
	{ TYPE_STRING, TYPE_BOOL, FIT_CONVERT },
	{ TYPE_STRING, TYPE_DATE, FIT_CONVERT },
	{ TYPE_STRING, TYPE_TIMESTAMP, FIT_CONVERT },
	{ TYPE_STRING, TYPE_DURATION, FIT_CONVERT },
	{ TYPE_DATE, TYPE_TIMESTAMP, FIT_CONVERT },
};

static enum type_fit
worst(enum type_fit a, enum type_fit b)
{
	return a > b ? a : b;
}

/* Inside a list or an object nothing is converted. */
static enum type_fit
fit_inner(const struct type *from, const struct type *to)
{
	enum type_fit fit = type_fit(from, to);

	if (from->optional && !to->optional)
		fit = worst(fit, FIT_CHECK);
	return fit == FIT_CONVERT ? FIT_NEVER : fit;
}

static enum type_fit
fit_objects(const struct type *from, const struct type *to)
{
	const struct field *field;
	const struct type *own;
	enum type_fit fit = FIT_SAME;

	if (!to->closed)
		return FIT_SAME;
	if (!from->closed)
		return FIT_CHECK;
	for (field = to->fields; field; field = field->next) {
		own = type_field(from, field->name);
		if (own)
			fit = worst(fit, fit_inner(own, field->type));
		else if (!field->type->optional)
			return FIT_NEVER;
	}
	return fit;
}

enum type_fit
type_fit(const struct type *from, const struct type *to)
{
	size_t i;

	if (from->kind == TYPE_ERROR || to->kind == TYPE_ERROR ||
	    from->kind == TYPE_NULL || to->kind == TYPE_JSON)
		return FIT_SAME;
	if (from->kind == TYPE_JSON)
		return type_is_code(to) || to->kind == TYPE_SECRET ? FIT_NEVER
		                                                   : FIT_CHECK;
	if (from->kind == to->kind) {
		if (from->kind == TYPE_OBJECT)
			return fit_objects(from, to);
		if (from->kind != TYPE_LIST || !to->element)
			return FIT_SAME;
		return from->element ? fit_inner(from->element, to->element)
		                     : FIT_CHECK;
	}
	for (i = 0; i < sizeof(fits) / sizeof(fits[0]); i++)
		if (fits[i].from == from->kind && fits[i].to == to->kind)
			return fits[i].fit;
	return FIT_NEVER;
}

static void
add_text(struct buf *out, const struct type *type)
{
	const struct field *field;

	if (type->kind == TYPE_LIST && type->element) {
		buf_adds(out, "[");
		add_text(out, type->element);
		buf_adds(out, "]");
	} else if (type->kind == TYPE_OBJECT && type->closed) {
		buf_adds(out, "{");
		for (field = type->fields; field; field = field->next) {
			buf_addf(out, "%s: ", field->name);
			add_text(out, field->type);
			buf_adds(out, field->next ? ", " : "");
		}
		buf_adds(out, "}");
	} else {
		buf_adds(out, names[type->kind]);
	}
	if (type->optional)
		buf_adds(out, "?");
}

char *
type_text(struct arena *arena, const struct type *type)
{
	struct buf out;
	char *text;

	buf_init(&out, 0);
	add_text(&out, type);
	text = arena_strndup(arena, out.data, out.len);
	buf_release(&out);
	return text;
}

static void
emit_fields(struct buf *out, const struct field *field)
{
	buf_adds(out, "{\"object\":{");
	for (; field; field = field->next) {
		json_add_string(out, field->name, strlen(field->name));
		buf_adds(out, ":");
		type_emit(out, field->type);
		buf_adds(out, field->next ? "," : "");
	}
	buf_adds(out, "}}");
}

void
type_emit(struct buf *out, const struct type *type)
{
	if (type->optional)
		buf_adds(out, "{\"optional\":");
	if (type->kind == TYPE_LIST && type->element) {
		buf_adds(out, "{\"list\":");
		type_emit(out, type->element);
		buf_adds(out, "}");
	} else if (type->kind == TYPE_OBJECT && type->closed) {
		emit_fields(out, type->fields);
	} else {
		buf_addf(out, "\"%s\"", names[type->kind]);
	}
	if (type->optional)
		buf_adds(out, "}");
}
