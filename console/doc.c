#include "console/doc.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/json.h"
#include "common/mem.h"
#include "console/graph.h"
#include "console/text.h"

/* The document that is being written, and its format. */
struct doc {
	struct buf *out;
	bool html;
	const struct json *types; /* of tasks */
	void (*draw)(
	    struct buf *buf, const struct json *workflow, void *context);
	void *context;
};

static const char page_begin[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<title>";
static const char page_style[] =
    "</title>\n<style>\n"
    "body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto }\n"
    "code { font: 14px monospace; background: #f2f2f2; padding: 0 .2em }\n"
    "table { border-collapse: collapse }\n"
    "th, td { border: 1px solid #ccc; padding: .2em .6em; text-align: left }\n"
    "svg { max-width: 100%; height: auto }\n"
    "</style>\n</head>\n<body>\n";
static const char page_end[] = "</body>\n</html>\n";

/* Add text of a file, escaped. */
static void
add(struct doc *doc, const char *text)
{
	size_t len;

	if (!doc->html) {
		text_add_safe(doc->out, text, "");
		return;
	}
	while (*text != '\0') {
		len = strcspn(text, "&<>\"");
		buf_add(doc->out, text, len);
		text += len;
		if (*text != '\0')
			buf_addf(doc->out, "&#%d;", *text++);
	}
}

static void
add_heading(struct doc *doc, int level, const char *text)
{
	static const char lines[] = "=-";
	size_t i;

	if (doc->html)
		buf_addf(doc->out, "<h%d>", level);
	add(doc, text);
	if (doc->html) {
		buf_addf(doc->out, "</h%d>\n", level);
		return;
	}
	buf_addc(doc->out, '\n');
	for (i = 0; level < 3 && i < text_width(text); i++)
		buf_addc(doc->out, lines[level - 1]);
	buf_adds(doc->out, level < 3 ? "\n\n" : "\n");
}

/* A comment: its lines are kept, and its paragraphs stand apart. */
static void
add_comment(struct doc *doc, const char *text)
{
	const char *end;
	char *line;

	if (text == NULL)
		return;
	buf_adds(doc->out, doc->html ? "<p>" : "");
	for (;; text = end + 1) {
		end = text + strcspn(text, "\n");
		line = xstrndup(text, (size_t)(end - text));
		if (doc->html && *line == '\0')
			buf_adds(doc->out, "</p>\n<p>");
		add(doc, line);
		free(line);
		if (*end == '\0')
			break;
		buf_addc(doc->out, '\n');
	}
	buf_adds(doc->out, doc->html ? "</p>\n" : "\n\n");
}

static void
add_code(struct doc *doc, const char *text)
{
	buf_adds(doc->out, doc->html ? "<code>" : "");
	add(doc, text);
	buf_adds(doc->out, doc->html ? "</code>" : "");
}

/* A comment that continues the line. */
static void
add_short(struct doc *doc, const char *text)
{
	char *line = xstrdup(text), *end;

	for (end = line; (end = strchr(end, '\n')) != NULL;)
		*end = ' ';
	add(doc, line);
	free(line);
}

/* A type or an expression; the function writes it. */
static void
add_written(struct doc *doc, void (*write)(struct buf *, const struct json *),
    const struct json *what)
{
	struct buf text;

	buf_init(&text, 0);
	write(&text, what);
	add_code(doc, text.data);
	buf_release(&text);
}

/* Parameters ---------------------------------------------------------------- */

static void
add_param_row(struct doc *doc, const struct json *param)
{
	const char *cell = doc->html ? "</td><td>" : " ";
	const char *comment = json_string(json_get(param, "doc"));

	buf_adds(doc->out, doc->html ? "<tr><td>" : "  ");
	add_code(doc, json_string(json_get(param, "name")));
	buf_adds(doc->out, doc->html ? cell : ": ");
	add_written(doc, doc_add_type, json_get(param, "type"));
	buf_adds(doc->out, doc->html ? cell : "");
	if (json_has(param, "default")) {
		buf_adds(doc->out, doc->html ? "" : " = ");
		add_written(doc, doc_add_expr, json_get(param, "default"));
	}
	buf_adds(doc->out, doc->html ? cell : comment != NULL ? "  - " : "");
	if (comment != NULL)
		add_short(doc, comment);
	buf_adds(doc->out, doc->html ? "</td></tr>\n" : "\n");
}

static void
add_params(struct doc *doc, const struct json *declared)
{
	const struct json *params = json_get(declared, "params");
	size_t i;

	if (json_length(params) > 0) {
		add_heading(doc, 3, "Parameters");
		if (doc->html)
			buf_adds(doc->out,
			    "<table>\n<tr><th>name</th><th>type</th>"
			    "<th>default</th><th></th></tr>\n");
		for (i = 0; i < json_length(params); i++)
			add_param_row(doc, json_at(params, i));
		buf_adds(doc->out, doc->html ? "</table>\n" : "\n");
	}
	if (!json_has(declared, "returns"))
		return;
	add_heading(doc, 3, "Result");
	buf_adds(doc->out, doc->html ? "<p>" : "  ");
	add_written(doc, doc_add_type, json_get(declared, "returns"));
	buf_adds(doc->out, doc->html ? "</p>\n" : "\n\n");
}

/* Policies ------------------------------------------------------------------ */

/* How the language writes a word of the tree. */
static const char *
on_failure_text(const char *word)
{
	static const char *const words[][2] = {
		{ "skip_all", "skip, cascade = true" },
		{ "fail_undo", "fail, undo = true" },
		{ "fail_late_undo", "fail_late, undo = true" },
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i][0], word) == 0)
			return words[i][1];
	return word;
}

/* `retry(attempts = 3)`, `priority(5)`; on_failure has a word. */
static void
write_policy(struct buf *buf, const char *name, const struct json *value)
{
	const char *word = json_string(value);
	size_t i;

	buf_addf(buf, "%s(", name);
	if (word != NULL && strcmp(name, "on_failure") == 0)
		buf_adds(buf, on_failure_text(word));
	else if (json_type(value) != JSON_OBJECT)
		doc_add_expr(buf, value);
	for (i = 0; json_type(value) == JSON_OBJECT && i < json_length(value);
	     i++) {
		buf_addf(
		    buf, "%s%s = ", i > 0 ? ", " : "", json_key_at(value, i));
		doc_add_expr(buf, json_value_at(value, i));
	}
	buf_addc(buf, ')');
}

static void
write_policies(struct buf *buf, const struct json *policies)
{
	size_t i;

	for (i = 0; i < json_length(policies); i++) {
		buf_adds(buf, i > 0 ? ", " : "");
		write_policy(
		    buf, json_key_at(policies, i), json_value_at(policies, i));
	}
}

/* Steps --------------------------------------------------------------------- */

/* Whether an argument equals the default of its parameter. */
static bool
is_default(
    const struct json *params, const char *name, const struct json *value)
{
	const struct json *param;
	char *given, *without;
	bool same = false;
	size_t i;

	for (i = 0; i < json_length(params); i++) {
		param = json_at(params, i);
		if (strcmp(json_string(json_get(param, "name")), name) != 0 ||
		    !json_has(param, "default"))
			continue;
		given = json_text(value);
		without = json_text(json_get(param, "default"));
		same = strcmp(given, without) == 0;
		free(without);
		free(given);
	}
	return same;
}

/* `params`: those of the task type; of a call of a workflow NULL. */
static void
write_args(struct buf *buf, const struct json *args, const struct json *params)
{
	const char *between = "", *name;
	size_t i;

	buf_addc(buf, '(');
	for (i = 0; i < json_length(args); i++) {
		name = json_key_at(args, i);
		if (is_default(params, name, json_value_at(args, i)))
			continue;
		buf_addf(buf, "%s%s = ", between, name);
		doc_add_expr(buf, json_value_at(args, i));
		between = ", ";
	}
	buf_addc(buf, ')');
}

/* The heading of an inner form: its list, value or condition. */
static void
write_input(struct buf *buf, const struct json *node)
{
	static const char *const keys[] = { "in", "on", "condition", "while",
		"until", "when", "value" };
	struct buf text;
	bool bare;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!json_has(node, keys[i]))
			continue;
		buf_init(&text, 0);
		doc_add_expr(&text, json_get(node, keys[i]));
		bare = text.data[0] != '(';
		buf_addf(buf, bare ? " (%s)" : " %s", text.data);
		buf_release(&text);
	}
}

static void
write_step(struct buf *buf, const struct json *types, const struct json *node)
{
	const char *as = json_string(json_get(node, "as"));
	const char *type = json_string(json_get(node, "type"));
	char *label;

	if (type != NULL) {
		buf_adds(buf, type);
		write_args(buf, json_get(node, "args"),
		    json_get(json_get(types, type), "params"));
		if (as != NULL)
			buf_addf(buf, " as %s", as);
	} else {
		label = graph_label(node);
		buf_adds(buf, label);
		free(label);
		if (json_has(node, "args"))
			write_args(buf, json_get(node, "args"), NULL);
		else
			write_input(buf, node);
	}
	if (json_length(json_get(node, "policies")) > 0) {
		buf_adds(buf, " with ");
		write_policies(buf, json_get(node, "policies"));
	}
}

static void add_step(struct doc *doc, const struct json *node, int depth);

static void
add_steps(struct doc *doc, const struct json *inside, int depth)
{
	size_t i;

	if (json_type(inside) == JSON_OBJECT)
		add_step(doc, inside, depth);
	for (i = 0; json_type(inside) == JSON_LIST && i < json_length(inside);
	     i++)
		add_step(doc, json_at(inside, i), depth);
}

static void
add_inside(struct doc *doc, const struct json *node, int depth)
{
	static const char *const keys[] = { "steps", "branches", "body", "then",
		"else", "catches", "finally", "undo" };
	bool any = false;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!json_has(node, keys[i]))
			continue;
		if (doc->html && !any)
			buf_adds(doc->out, "\n<ul>\n");
		any = true;
		add_steps(doc, json_get(node, keys[i]), depth);
	}
	if (doc->html && any)
		buf_adds(doc->out, "</ul>\n");
}

static void
add_step(struct doc *doc, const struct json *node, int depth)
{
	struct buf text;

	buf_init(&text, 0);
	write_step(&text, doc->types, node);
	if (doc->html)
		buf_adds(doc->out, "<li>");
	else
		buf_addf(doc->out, "%*s- ", 2 * depth, "");
	add_code(doc, text.data);
	buf_release(&text);
	if (!doc->html)
		buf_addc(doc->out, '\n');
	add_inside(doc, node, depth + 1);
	if (doc->html)
		buf_adds(doc->out, "</li>\n");
}

/* What it uses --------------------------------------------------------------- */

/* Note the task types, groups and rates inside a node, each once. */
static void
collect(const struct json *value, const char *key, struct buf *seen)
{
	const char *type = json_string(json_get(value, "type"));
	const struct json *policy;
	struct buf line;
	size_t i;

	buf_init(&line, 0);
	if (strcmp(key, "type") == 0 && type != NULL &&
	    json_has(value, "args")) {
		buf_addf(&line, "\n%s\n", type);
	} else if (strcmp(key, "type") != 0 &&
	           (policy = json_get(json_get(value, "policies"), key)) !=
	               NULL) {
		buf_addc(&line, '\n');
		write_policy(&line, key, policy);
		buf_addc(&line, '\n');
	}
	if (line.len > 0 && strstr(seen->data, line.data) == NULL)
		buf_adds(seen, line.data + 1);
	buf_release(&line);
	for (i = 0; i < json_length(value); i++)
		collect(json_type(value) == JSON_LIST ? json_at(value, i)
		                                      : json_value_at(value, i),
		    key, seen);
}

static void
add_used(struct doc *doc, const struct json *workflow, const char *title,
    const char *key)
{
	const struct json *type;
	struct buf seen;
	char *line, *end;

	buf_init(&seen, 0);
	buf_addc(&seen, '\n');
	collect(workflow, key, &seen);
	if (seen.len > 1)
		add_heading(doc, 3, title);
	buf_adds(doc->out, doc->html && seen.len > 1 ? "<ul>\n" : "");
	for (line = seen.data + 1; (end = strchr(line, '\n')) != NULL;
	     line = end + 1) {
		*end = '\0';
		buf_adds(doc->out, doc->html ? "<li>" : "  ");
		add_code(doc, line);
		type = json_get(json_get(doc->types, line), "doc");
		if (json_string(type) != NULL) {
			buf_adds(doc->out, " - ");
			add_short(doc, json_string(type));
		}
		buf_adds(doc->out, doc->html ? "</li>\n" : "\n");
	}
	if (seen.len > 1)
		buf_adds(doc->out, doc->html ? "</ul>\n" : "\n");
	buf_release(&seen);
}

/* The whole ------------------------------------------------------------------ */

static void
add_workflow(struct doc *doc, const struct json *workflow)
{
	const struct json *policies = json_get(workflow, "policies");
	const struct json *steps = json_get(workflow, "steps");
	const char *title = json_string(json_get(policies, "title"));
	struct buf text;

	add_heading(doc, 2, json_string(json_get(workflow, "name")));
	add_comment(doc, title);
	add_comment(doc, json_string(json_get(workflow, "doc")));
	add_params(doc, workflow);
	if (json_length(policies) > 0) {
		buf_init(&text, 0);
		write_policies(&text, policies);
		add_heading(doc, 3, "Policies");
		buf_adds(doc->out, doc->html ? "<p>" : "  ");
		add_code(doc, text.data);
		buf_adds(doc->out, doc->html ? "</p>\n" : "\n\n");
		buf_release(&text);
	}
	add_heading(doc, 3, "Steps");
	buf_adds(doc->out, doc->html ? "<ul>\n" : "");
	add_steps(doc, steps, 1);
	buf_adds(doc->out, doc->html ? "</ul>\n" : "\n");
	add_used(doc, workflow, "Task types", "type");
	add_used(doc, workflow, "Groups", "group");
	add_used(doc, workflow, "Rates", "rate");
	if (doc->html && doc->draw != NULL)
		doc->draw(doc->out, workflow, doc->context);
}

void
doc_write(struct buf *buf, const struct json *spec, const char *only, bool html,
    void (*draw)(struct buf *buf, const struct json *workflow, void *context),
    void *context)
{
	struct doc doc = { buf, html, json_get(spec, "task_types"), draw,
		context };
	const struct json *list = json_get(spec, "workflows"), *workflow;
	const char *file = json_string(json_get(spec, "file"));
	size_t i;

	if (html) {
		buf_adds(buf, page_begin);
		add(&doc, only != NULL ? only : file);
		buf_adds(buf, page_style);
	}
	if (only == NULL)
		add_heading(&doc, 1, file);
	for (i = 0; i < json_length(list); i++) {
		workflow = json_at(list, i);
		if (only == NULL ||
		    strcmp(only, json_string(json_get(workflow, "name"))) == 0)
			add_workflow(&doc, workflow);
	}
	if (html)
		buf_adds(buf, page_end);
}
