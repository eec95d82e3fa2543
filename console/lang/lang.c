#include "console/lang/lang.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "console/lang/arena.h"
#include "console/lang/ast.h"
#include "console/lang/check.h"
#include "console/lang/diagnostic.h"
#include "console/lang/emit.h"
#include "console/lang/format.h"
#include "console/lang/module.h"
#include "console/lang/print.h"
#include "console/lang/source.h"
#include "console/lang/spec.h"

static const struct lang_options no_options;

static struct program
program_new(const struct lang_options *options, struct lang_result *result)
{
	if (!result->arena)
		result->arena = arena_new();
	return (struct program){
		.arena = result->arena,
		.result = result,
		.options = options ? options : &no_options,
		.loaded = check_loaded,
	};
}

/* Load and check; a file that could not be parsed is not checked. */
static bool
check(struct program *program, const char *path, const char *text, size_t len)
{
	program->tail = &program->modules;
	if (program_load(program, path, text, len) && !program->broken)
		check_program(program);
	report_sort(program->result);
	return !report_failed(program->result);
}

bool
lang_check(const char *path, const char *text, size_t len,
    const struct lang_options *options, struct lang_result *result)
{
	struct program program = program_new(options, result);

	return check(&program, path, text, len);
}

static bool
has_workflow(const struct file *file)
{
	const struct decl *decl;

	for (decl = file->decls; decl; decl = decl->next)
		if (!decl->is_task)
			return true;
	return false;
}

char *
lang_compile(const char *path, const char *text, size_t len,
    const struct lang_options *options, struct lang_result *result)
{
	struct program program = program_new(options, result);

	if (!check(&program, path, text, len))
		return NULL;
	if (!has_workflow(program.modules->file)) {
		report_file(result, path, "there is no workflow in this file");
		report_hint(
		    result, "A file of task types is a library: import it.");
		return NULL;
	}
	return emit_program(&program);
}

char *
lang_format(
    const char *path, const char *text, size_t len, struct lang_result *result)
{
	struct program program = program_new(NULL, result);
	struct source *source =
	    source_new(program.arena, path, text, len, result);
	char *formatted = NULL;

	if (source)
		formatted = format_source(program.arena, source, result);
	report_sort(result);
	return formatted;
}

static struct json *
parse_tree(
    const char *path, const char *tree, size_t len, struct lang_result *result)
{
	struct error err = { 0 };
	struct json *spec = NULL;

	if (!result->arena)
		result->arena = arena_new();
	if (!json_parse(tree, len, &spec, &err))
		report_file(
		    result, path, "the tree is not JSON: %s", err.message);
	error_release(&err);
	return spec;
}

char *
lang_print(const char *path, const char *tree, size_t len, const char *only,
    struct lang_result *result)
{
	struct json *spec = parse_tree(path, tree, len, result);
	char *text = spec ? print_spec(path, spec, only, result) : NULL;

	json_free(spec);
	report_sort(result);
	return text;
}

bool
lang_same(const char *path, const char *tree, const char *other,
    struct lang_result *result)
{
	struct json *a = parse_tree(path, tree, strlen(tree), result);
	struct json *b = parse_tree(path, other, strlen(other), result);
	const char *where = NULL;

	if (a && b && !spec_is_bounded(a))
		where = "an object is too large";
	else if (a && b)
		where = spec_difference(result->arena, a, b, NULL);
	if (where)
		report_file(result, path, "%s is not the same", where);
	json_free(a);
	json_free(b);
	return !report_failed(result);
}

char *
lang_builtin_type(const char *name)
{
	struct lang_result result = { 0 };
	struct program program = program_new(NULL, &result);
	const char *dot = strrchr(name, '.');
	const struct decl *decl = NULL;
	struct module *module = NULL;
	char *tree = NULL;

	program.tail = &program.modules;
	if (dot)
		module = module_builtin(&program,
		    arena_strndup(program.arena, name, (size_t)(dot - name)));
	if (module) {
		check_program(&program);
		decl = module->file->decls;
	}
	while (decl && strcmp(decl->full_name, name) != 0)
		decl = decl->next;
	if (decl && decl->is_task)
		tree = emit_type(&program, decl);
	lang_result_release(&result);
	return tree;
}

/* Read up to the limit and one byte more, to notice longer files. */
static size_t
read_all(int fd, char *text)
{
	size_t len = 0;
	ssize_t got;

	while (len <= LANG_SOURCE_MAX) {
		got = read(fd, text + len, LANG_SOURCE_MAX + 1 - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	return len;
}

bool
lang_read(
    const char *path, char **text, size_t *len, struct lang_result *result)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0) {
		report_file(
		    result, path, "can not be read: %s", strerror(errno));
		report_hint(result,
		    "Give the path of a file that you may read, as "
		    "flows/hello.wf.");
		if (fd >= 0)
			close(fd);
		return false;
	}
	if (!S_ISREG(status.st_mode)) {
		report_file(result, path, "is not a file");
		report_hint(result, "Give the path of a file of workflows, as "
		                    "flows/hello.wf.");
		close(fd);
		return false;
	}
	*text = xmalloc(LANG_SOURCE_MAX + 2);
	*len = read_all(fd, *text);
	(*text)[*len] = '\0';
	close(fd);
	return true;
}
