/* Policies that the writer writes: `with …` of nodes and declarations. */
#include <string.h>

#include "console/lang/policy.h"
#include "console/lang/spec.h"
#include "console/lang/writer.h"

/* Words of `on_failure` that are two arguments in the text. */
static const struct {
	const char *word, *text;
} actions[] = {
	{ "pause", "pause" },
	{ "skip", "skip" },
	{ "skip_all", "skip, cascade = true" },
	{ "fail", "fail" },
	{ "fail_undo", "fail, undo = true" },
	{ "fail_late", "fail_late" },
	{ "fail_late_undo", "fail_late, undo = true" },
};

bool
is_passed(const char *name)
{
	return strncmp(name, "__", 2) == 0;
}

/* Whether the name is that of an argument that passed on this policy. */
static bool
is_passed_by(const struct policy_rule *rule, const char *name)
{
	size_t len = strlen(rule->name);

	if (!name || !is_passed(name))
		return false;
	name += 2;
	if (strncmp(name, "when_", 5) == 0)
		return strcmp(rule->name, "retry") == 0;
	return strncmp(name, rule->name, len) == 0 &&
	       (name[len] == '\0' || name[len] == '_');
}

/* Whether an expression reads such an argument. */
static bool
reads_passed(const struct policy_rule *rule, const struct json *expr)
{
	const char *word = json_string(json_at(expr, 0));
	size_t i;

	if (json_type(expr) == JSON_LIST && word && strcmp(word, "var") == 0)
		return is_passed_by(rule, json_string(json_at(expr, 1)));
	for (i = 0; i < json_length(expr); i++)
		if (reads_passed(rule, json_type(expr) == JSON_LIST
		                           ? json_at(expr, i)
		                           : json_value_at(expr, i)))
			return true;
	return false;
}

/* One policy, after the separator from the one before. */
struct item {
	const char *separator;
	const struct policy_rule *rule;
	const struct json *value; /* in the tree */
	bool each;
};

static void
begin(struct writer *writer, struct item *item)
{
	buf_addf(&writer->out, "%s%s%s", item->separator,
	    item->each ? "each " : "", item->rule->name);
	item->separator = ", ";
}

/* A policy that came through a call is written at the call. */
static bool
is_outer(const struct writer *writer, const struct policy_rule *rule,
    const struct json *value)
{
	return !writer->passed && reads_passed(rule, value);
}

/* A word of the language, written without quotes. */
static void
write_bare(struct writer *writer, const char *const *words, const char *text)
{
	while (*words && text && strcmp(*words, text) != 0)
		words++;
	if (*words && text)
		buf_adds(&writer->out, text);
	else
		write_fault(writer, "there is no such word");
}

/* A policy with several arguments. */
static void
write_arguments(struct writer *writer, struct item *item)
{
	const struct policy_rule *rule = item->rule;
	const char *open = "(", *name;
	int i;

	for (i = 0; i < POLICY_ARGS_MAX && rule->params[i].name; i++) {
		name = rule->params[i].name;
		if (!json_has(item->value, name) ||
		    is_outer(writer, rule, json_get(item->value, name)))
			continue;
		if (*open == '(')
			begin(writer, item);
		buf_addf(&writer->out, "%s%s = ", open, name);
		if (rule->params[i].words)
			write_bare(writer, rule->params[i].words,
			    json_string(json_get(item->value, name)));
		else
			write_member(writer, item->value, name);
		open = ", ";
	}
	buf_adds(&writer->out, *open == ',' ? ")" : "");
}

static const char *
action_text(const char *word)
{
	size_t i;

	for (i = 0; word && i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strcmp(actions[i].word, word) == 0)
			return actions[i].text;
	return NULL;
}

static void
write_action(struct writer *writer, struct item *item)
{
	const char *text = action_text(json_string(item->value));

	begin(writer, item);
	if (text)
		buf_addf(&writer->out, "(%s)", text);
	else
		write_fault(writer, "there is no such action");
}

static void
write_policy(struct writer *writer, struct item *item)
{
	size_t before = write_enter(writer, ".policies.%s", item->rule->name);

	if (item->rule->folded) {
		write_action(writer, item);
	} else if (item->rule->params[1].name) {
		write_arguments(writer, item);
	} else {
		begin(writer, item);
		buf_adds(&writer->out, "(");
		write_expr(writer, item->value);
		buf_adds(&writer->out, ")");
	}
	write_leave(writer, before);
}

/* Policies that reach through a call ----------------------------------------- */

/*
 * Whether the call has an argument of the policy that it does not only pass on.
 */
static bool
passes(const struct json *call, const struct policy_rule *rule)
{
	const struct json *args = json_get(call, "args"), *value;
	const char *key;
	size_t i;

	for (i = 0; i < json_length(args); i++) {
		key = json_key_at(args, i);
		if (!is_passed_by(rule, key))
			continue;
		value = json_value_at(args, i);
		if (json_length(value) != 2 ||
		    !json_string(json_at(value, 1)) ||
		    strcmp(json_string(json_at(value, 1)), key) != 0)
			return true;
	}
	return false;
}

/* The policy in the first task that it reached. */
static const struct json *
find_passed(const struct json *node, const struct policy_rule *rule)
{
	const struct json *value, *inner, *found = NULL;
	const char *key;
	size_t i, j;

	value = json_get(json_get(node, "policies"), rule->name);
	if (reads_passed(rule, value))
		return value;
	for (i = 0; !found && (key = spec_inner(i)); i++) {
		inner = json_get(node, key);
		if (json_type(inner) == JSON_OBJECT && !passes(inner, rule))
			found = find_passed(inner, rule);
		for (j = 0; !found && j < json_length(inner); j++)
			if (json_type(inner) == JSON_LIST &&
			    !passes(json_at(inner, j), rule))
				found = find_passed(json_at(inner, j), rule);
	}
	return found;
}

/* The arguments of a policy whose arguments are independent: timeout. */
static void
write_alone(struct writer *writer, struct item *item, const struct json *args)
{
	const struct policy_rule *rule = item->rule;
	const char *open = "(", *name, *key;
	int i;

	for (i = 0; i < POLICY_ARGS_MAX && rule->params[i].name; i++) {
		name = rule->params[i].name;
		key = arena_printf(writer->arena, "__%s_%s", rule->name, name);
		if (!json_has(args, key))
			continue;
		if (*open == '(')
			begin(writer, item);
		buf_addf(&writer->out, "%s%s = ", open, name);
		write_member(writer, args, key);
		open = ", ";
	}
	buf_adds(&writer->out, *open == ',' ? ")" : "");
}

static void
write_passed(struct writer *writer, struct item *item, const struct json *call)
{
	const struct json *outer = writer->passed;
	const struct json *args = json_get(call, "args");

	item->each = item->rule->reach == REACH_NODE;
	if (item->rule->by_argument) {
		write_alone(writer, item, args);
	} else if ((item->value = find_passed(call, item->rule))) {
		writer->passed = args;
		write_policy(writer, item);
		writer->passed = outer;
	} else {
		write_fault(writer, "nothing reads the argument `__%s`",
		    item->rule->name);
	}
	item->each = false;
}

/* All of a node ------------------------------------------------------------- */

static void
write_undo(struct writer *writer, struct item *item, const struct json *undo)
{
	size_t before = write_enter(writer, ".undo");

	buf_addf(&writer->out, "%sundo ", item->separator);
	write_block(writer, undo);
	write_leave(writer, before);
}

/* Whether policies reach through this node, a call. */
static bool
has_passed(const struct json *node)
{
	const struct json *args = json_get(node, "args");
	size_t i;

	for (i = 0; json_has(node, "workflow") && i < json_length(args); i++)
		if (is_passed(json_key_at(args, i)))
			return true;
	return false;
}

void
write_with(struct writer *writer, const struct json *node)
{
	struct item item = { .separator = " with " };
	const struct json *policies = json_get(node, "policies");
	bool reached = has_passed(node);
	int i;

	for (i = 0; i < POLICIES; i++) {
		item.rule = &policy_rules[i];
		item.value = json_get(policies, item.rule->name);
		if (json_has(policies, item.rule->name) &&
		    (item.rule->by_argument ||
		        !is_outer(writer, item.rule, item.value)))
			write_policy(writer, &item);
		if (reached && passes(node, item.rule))
			write_passed(writer, &item, node);
	}
	if (json_has(node, "undo"))
		write_undo(writer, &item, json_get(node, "undo"));
}
