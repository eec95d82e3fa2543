#include "console/lang/print.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "console/lang/diagnostic.h"
#include "console/lang/lang.h"
#include "console/lang/spec.h"
#include "console/lang/writer.h"

/* The workflows of the file, which keep their names. */
static void
declare_workflows(
    struct writer *writer, const struct json *spec, const char *only)
{
	const struct json *list = json_get(spec, "workflows");
	struct declared *declared;
	size_t i;

	for (i = 0; i < json_length(list); i++) {
		if (!spec_is_meant(json_at(list, i), only))
			continue;
		declared = arena_alloc(writer->arena, sizeof(*declared));
		declared->name =
		    json_string(json_get(json_at(list, i), "name"));
		if (!declared->name)
			continue;
		declared->tree_name = declared->name;
		declared->next = writer->declared;
		writer->declared = declared;
	}
}

static void
write_workflows(
    struct writer *writer, const struct json *spec, const char *only)
{
	const struct json *list = json_get(spec, "workflows");
	size_t i, before;

	for (i = 0; i < json_length(list); i++) {
		if (!spec_is_meant(json_at(list, i), only))
			continue;
		before = write_enter(writer, "workflows[%zu]", i);
		write_workflow(writer, json_at(list, i));
		write_leave(writer, before);
	}
}

/* Write them in the order of their first calls. */
static void
write_declared(struct writer *writer, const struct declared *declared)
{
	if (!declared)
		return;
	write_declared(writer, declared->next);
	if (declared->text)
		buf_addf(&writer->out, "workflow %s%s\n", declared->name,
		    declared->text);
}

/*
 * Whether the standard library has the same type: then the text does not
 * declare it.
 */
static bool
is_builtin(const struct json *type, const char *name)
{
	char *text = lang_builtin_type(name);
	struct json *builtin = NULL;
	struct error err = { 0 };
	bool same = text && json_parse(text, strlen(text), &builtin, &err) &&
	            spec_equal(type, builtin);

	json_free(builtin);
	error_release(&err);
	free(text);
	return same;
}

static void
write_types(struct writer *writer)
{
	const struct used_type *used;
	const struct json *type;
	size_t before;

	for (used = writer->used; used; used = used->next) {
		type = json_get(writer->types, used->name);
		if (is_builtin(type, used->name))
			continue;
		before = write_enter(writer, "task_types.%s", used->name);
		write_task_type(writer, type);
		write_leave(writer, before);
	}
}

static const char *
tree_name(const void *context, const char *name)
{
	const struct declared *declared = context;

	while (declared && strcmp(declared->name, name) != 0)
		declared = declared->next;
	return declared ? declared->tree_name : name;
}

/* Whether the text compiles to the tree; if not, that is reported. */
static bool
says_the_same(struct writer *writer, const struct json *spec, const char *only,
    const char *text)
{
	const char *file = writer->main_name ? arena_printf(writer->arena,
	                                           "%s.wf", writer->main_name)
	                                     : writer->path;
	char *tree =
	    lang_compile(file, text, strlen(text), NULL, writer->result);
	struct json *compiled = NULL;
	struct error err = { 0 };
	const char *where = "";

	if (tree && json_parse(tree, strlen(tree), &compiled, &err))
		where = spec_difference(writer->arena, spec, compiled,
		    &(const struct spec_scope){
		        only, tree_name, writer->declared });
	if (tree && where)
		report_file(writer->result, writer->path,
		    "%s: the compiler makes no such tree", where);
	json_free(compiled);
	error_release(&err);
	free(tree);
	return tree && !where;
}

/*
 * Write the tree in one way; NULL, and reported, if the text does not compile
 * to the tree.
 */
static char *
print_in(const char *path, const struct json *spec, const char *only,
    unsigned ways, struct lang_result *result)
{
	struct writer writer = {
		.arena = result->arena,
		.result = result,
		.path = path,
		.ways = ways,
		.types = json_get(spec, "task_types"),
	};
	char *text = NULL;

	buf_init(&writer.out, 0);
	buf_init(&writer.where, 0);
	declare_workflows(&writer, spec, only);
	write_workflows(&writer, spec, only);
	write_declared(&writer, writer.declared);
	write_types(&writer);
	if (!writer.failed)
		text =
		    lang_format(path, writer.out.data, writer.out.len, result);
	if (text && !says_the_same(&writer, spec, only, text)) {
		free(text);
		text = NULL;
	}
	buf_release(&writer.where);
	buf_release(&writer.out);
	return text;
}

char *
print_spec(const char *path, const struct json *spec, const char *only,
    struct lang_result *result)
{
	struct lang_result other = { .arena = result->arena };
	char *text = NULL;
	unsigned ways;

	if (!spec_is_bounded(spec)) {
		report_file(result, path, "an object has more than %d members",
		    SPEC_MEMBERS_MAX);
		return NULL;
	}
	text = print_in(path, spec, only, 0, result);

	for (ways = 1; !text && ways <= (WAY_STRINGS | WAY_BRACKETS); ways++) {
		other.length = other.left_out = 0;
		text = print_in(path, spec, only, ways, &other);
		if (text)
			result->length = result->left_out = 0;
	}
	return text;
}
