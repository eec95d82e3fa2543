/* Declarations that the writer writes: workflows and task types. */
#include <string.h>

#include "console/lang/symbol.h"
#include "console/lang/writer.h"

/* Types ----------------------------------------------------------------------- */

static void
write_fields(struct writer *writer, const struct json *fields)
{
	size_t i;

	buf_adds(&writer->out, "{");
	for (i = 0; i < json_length(fields); i++) {
		buf_adds(&writer->out, i > 0 ? ", " : "");
		write_key(writer, json_key_at(fields, i));
		buf_adds(&writer->out, ": ");
		write_type(writer, json_value_at(fields, i));
	}
	buf_adds(&writer->out, "}");
}

void
write_type(struct writer *writer, const struct json *type)
{
	if (json_has(type, "list")) {
		buf_adds(&writer->out, "[");
		write_type(writer, json_get(type, "list"));
		buf_adds(&writer->out, "]");
	} else if (json_has(type, "optional")) {
		write_type(writer, json_get(type, "optional"));
		buf_adds(&writer->out, "?");
	} else if (json_has(type, "object")) {
		write_fields(writer, json_get(type, "object"));
	} else {
		write_word(writer, json_string(type));
	}
}

/* Comments and parameters ------------------------------------------------------ */

static void
write_doc(struct writer *writer, const struct json *declared)
{
	const char *line = json_string(json_get(declared, "doc")), *end;

	if (!line)
		return;
	if (strstr(line, "*/")) {
		write_fault(writer, "the comment holds the end of a comment");
		return;
	}
	if (!strchr(line, '\n') && *line != '*') {
		buf_addf(&writer->out, "/** %s */", line);
		write_line(writer);
		return;
	}
	buf_adds(&writer->out, "/**\n");
	for (; line; line = *end ? end + 1 : NULL) {
		end = line + strcspn(line, "\n");
		buf_addf(&writer->out, " *%s%.*s\n", end > line ? " " : "",
		    (int)(end - line), line);
	}
	buf_adds(&writer->out, " */");
	write_line(writer);
}

static void
write_param(struct writer *writer, const struct json *param, bool of_task)
{
	write_doc(writer, param);
	(of_task ? write_word : write_name)(
	    writer, json_string(json_get(param, "name")));
	buf_adds(&writer->out, ": ");
	write_type(writer, json_get(param, "type"));
	if (json_has(param, "default")) {
		buf_adds(&writer->out, " = ");
		write_member(writer, param, "default");
	}
}

/* ( … ) -> … */
static void
write_header(struct writer *writer, const struct json *declared)
{
	const struct json *params = json_get(declared, "params");
	size_t i, before;

	buf_adds(&writer->out, "(");
	for (i = 0; i < json_length(params); i++) {
		before = write_enter(writer, ".params[%zu]", i);
		buf_adds(&writer->out, i > 0 ? ", " : "");
		write_line(writer);
		write_param(
		    writer, json_at(params, i), json_has(declared, "machine"));
		write_leave(writer, before);
	}
	buf_adds(&writer->out, ")");
	if (json_has(declared, "returns")) {
		buf_adds(&writer->out, " -> ");
		write_type(writer, json_get(declared, "returns"));
	}
}

/* Workflows -------------------------------------------------------------------- */

static void
write_body(struct writer *writer, const struct json *workflow)
{
	buf_adds(&writer->out, " {");
	writer->indent += 2;
	write_steps(writer, json_get(workflow, "steps"));
	writer->indent -= 2;
	write_line(writer);
	buf_adds(&writer->out, "}");
}

/* A workflow with a reserved word as its name is the `main` of its file. */
static void
write_workflow_name(struct writer *writer, const char *name)
{
	if (name && symbol_reserved(name, strlen(name)) != T_NAME) {
		writer->main_name = name;
		buf_adds(&writer->out, "main");
		return;
	}
	buf_adds(&writer->out, "workflow ");
	write_qname(writer, name);
}

void
write_workflow(struct writer *writer, const struct json *workflow)
{
	write_doc(writer, workflow);
	write_workflow_name(writer, json_string(json_get(workflow, "name")));
	write_header(writer, workflow);
	write_with(writer, workflow);
	write_body(writer, workflow);
	buf_adds(&writer->out, "\n");
}

/* An old tree lacks the types: the arguments may be of any type. */
static void
write_old_header(struct writer *writer, const struct json *call)
{
	const struct json *args = json_get(call, "args");
	const char *separator = "";
	size_t i;

	buf_adds(&writer->out, "(");
	for (i = 0; i < json_length(args); i++) {
		if (is_passed(json_key_at(args, i)))
			continue;
		buf_adds(&writer->out, separator);
		write_name(writer, json_key_at(args, i));
		separator = ", ";
	}
	buf_adds(&writer->out, ")");
}

/* The parameters and the result after the name of a called workflow. */
static const char *
called_text(struct writer *writer, const struct json *call)
{
	const struct json *passed = writer->passed;
	struct buf outer = writer->out;
	int indent = writer->indent;
	const char *text;

	buf_init(&writer->out, 0);
	writer->passed = NULL;
	writer->indent = 0;
	if (json_has(call, "params") ||
	    json_length(json_get(call, "args")) == 0)
		write_header(writer, call);
	else
		write_old_header(writer, call);
	write_body(writer, call);
	text = arena_strndup(writer->arena, writer->out.data, writer->out.len);
	buf_release(&writer->out);
	writer->out = outer;
	writer->passed = passed;
	writer->indent = indent;
	return text;
}

static bool
is_taken(const struct writer *writer, const char *name)
{
	const struct declared *declared;

	for (declared = writer->declared; declared; declared = declared->next)
		if (strcmp(declared->name, name) == 0)
			return true;
	return false;
}

/*
 * Calls of one workflow may differ, because policies around a call reach into
 * it.
 */
const char *
write_called(struct writer *writer, const struct json *call)
{
	const char *name = json_string(json_get(call, "workflow"));
	const char *text = called_text(writer, call);
	struct declared *declared;
	int i = 1;

	for (declared = writer->declared; name && declared;
	     declared = declared->next)
		if (declared->text && strcmp(declared->text, text) == 0 &&
		    strcmp(declared->tree_name, name) == 0)
			return declared->name;
	declared = arena_alloc(writer->arena, sizeof(*declared));
	declared->tree_name = declared->name = name ? name : "";
	while (is_taken(writer, declared->name))
		declared->name =
		    arena_printf(writer->arena, "%.58s_%d", name, ++i);
	declared->text = text;
	declared->next = writer->declared;
	writer->declared = declared;
	return declared->name;
}

/* Task types ------------------------------------------------------------------- */

/* The parts of a request, in the order in which they are written. */
static const struct part {
	const char *key, *before, *after;
} parts[] = {
	{ "handle", " handle ", "" },
	{ "output", " output ", "" },
	{ "progress", " progress(", ")" },
	{ "success", " success when (", ")" },
	{ "failure", " failure when (", ")" },
	{ "failure_as", " as ", "" },
};

static void
write_words(struct writer *writer, const struct json *args)
{
	size_t i;

	buf_adds(&writer->out, "(");
	for (i = 0; i < json_length(args); i++) {
		buf_adds(&writer->out, i > 0 ? ", " : "");
		write_word(writer, json_key_at(args, i));
		buf_adds(&writer->out, " = ");
		write_member(writer, args, json_key_at(args, i));
	}
	buf_adds(&writer->out, ")");
}

static void
write_request(
    struct writer *writer, const struct json *request, const char *word)
{
	size_t before = write_enter(writer, ".requests.%s", word), i;

	buf_addf(&writer->out, "\n%s ", word);
	write_name(writer, json_string(json_get(request, "transport")));
	write_words(writer, json_get(request, "args"));
	if (json_has(request, "every")) {
		buf_adds(&writer->out, " every ");
		write_words(writer, json_get(request, "every"));
	}
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!json_has(request, parts[i].key))
			continue;
		buf_adds(&writer->out, parts[i].before);
		write_member(writer, request, parts[i].key);
		buf_adds(&writer->out, parts[i].after);
	}
	write_leave(writer, before);
}

void
write_task_type(struct writer *writer, const struct json *type)
{
	static const char *const words[] = { "start", "poll", "cancel",
		"cleanup" };
	const struct json *requests = json_get(type, "requests");
	size_t i;

	write_doc(writer, type);
	buf_adds(&writer->out, "task ");
	write_qname(writer, json_string(json_get(type, "name")));
	write_header(writer, type);
	write_with(writer, type);
	buf_adds(&writer->out, " {");
	if (json_has(type, "wait")) {
		buf_adds(&writer->out, "wait ");
		write_name(writer, json_string(json_get(type, "wait")));
	}
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (json_has(requests, words[i]))
			write_request(
			    writer, json_get(requests, words[i]), words[i]);
	buf_adds(&writer->out, "}\n");
}
