/* Arguments, parameters, types and policies. */
#include <string.h>

#include "console/lang/formatter.h"

void
format_text(struct formatter *formatter, const char *text)
{
	layout_text(formatter->layout, text);
}

/* The end of a bracketed list whose items ended at `end`. */
static void
close_list(struct formatter *formatter, size_t end, const char *bracket)
{
	format_rest(formatter, format_closer(formatter, end));
	layout_indent(formatter->layout, -2);
	layout_soft(formatter->layout);
	layout_text(formatter->layout, bracket);
	layout_close(formatter->layout);
}

static void
open_list(struct formatter *formatter, const char *bracket)
{
	layout_open(formatter->layout);
	layout_text(formatter->layout, bracket);
	layout_indent(formatter->layout, 2);
	layout_soft(formatter->layout);
}

static void
end_item(struct formatter *formatter, size_t end, const void *next)
{
	if (next)
		layout_text(formatter->layout, ",");
	format_trailing(formatter, end);
	if (next)
		layout_line(formatter->layout);
}

/* (a = 1, b = 2), or <…>; `start`: where something before it ended */
void
format_args(struct formatter *formatter, const struct arg *args, size_t start,
    const char *brackets)
{
	char open[] = { brackets[0], '\0' };
	size_t end = start;

	if (!args) {
		layout_text(formatter->layout, brackets);
		return;
	}
	open_list(
	    formatter, arena_strndup(formatter->arena, open, sizeof(open)));
	for (; args; args = args->next) {
		format_leading(formatter, args->start);
		if (args->name.text) {
			layout_text(formatter->layout, args->name.text);
			layout_text(formatter->layout, " = ");
		}
		format_expr(formatter, args->value);
		end = args->end;
		end_item(formatter, end, args->next);
	}
	close_list(formatter, end, brackets + 1);
}

static void
format_param(struct formatter *formatter, const struct param *param)
{
	format_leading(formatter, param->start);
	layout_text(formatter->layout, param->name.text);
	if (param->type_syntax) {
		layout_text(formatter->layout, ": ");
		format_type(formatter, param->type_syntax);
	}
	if (param->value) {
		layout_text(formatter->layout, " = ");
		format_expr(formatter, param->value);
	}
}

void
format_params(
    struct formatter *formatter, const struct param *params, size_t start)
{
	size_t end = start;

	if (!params) {
		layout_text(formatter->layout, "()");
		return;
	}
	open_list(formatter, "(");
	for (; params; params = params->next) {
		format_param(formatter, params);
		end = params->end;
		end_item(formatter, end, params->next);
	}
	close_list(formatter, end, ")");
}

static void
format_object_type(struct formatter *formatter, const struct type_syntax *type)
{
	const struct type_syntax *member;

	if (!type->members) {
		layout_text(formatter->layout, "{}");
		return;
	}
	open_list(formatter, "{");
	for (member = type->members; member; member = member->next) {
		format_leading(formatter, member->key.start);
		format_key(formatter, &member->key);
		layout_text(formatter->layout, ": ");
		format_type(formatter, member);
		end_item(formatter, member->end, member->next);
		if (!member->next)
			close_list(formatter, member->end, "}");
	}
}

void
format_type(struct formatter *formatter, const struct type_syntax *type)
{
	if (type->element) {
		layout_text(formatter->layout, "[");
		format_type(formatter, type->element);
		layout_text(formatter->layout, "]");
	} else if (type->is_object) {
		format_object_type(formatter, type);
	} else {
		layout_text(formatter->layout, type->name);
	}
	if (type->optional)
		layout_text(formatter->layout, "?");
}

static void
format_policy(struct formatter *formatter, const struct policy *policy)
{
	format_leading(formatter, policy->start);
	if (policy->each)
		layout_text(formatter->layout, "each ");
	layout_text(formatter->layout, policy->name.text);
	if (policy->undo) {
		layout_text(formatter->layout, " ");
		format_block(formatter, policy->undo);
	} else if (policy->parens) {
		format_args(formatter, policy->args, policy->name.start, "()");
	}
}

void
format_policies(struct formatter *formatter, const struct policy *policies)
{
	/* an undo alone is laid out as a block */
	const int indent = policies->undo && !policies->next ? 0 : 5;

	layout_open(formatter->layout);
	layout_text(formatter->layout, "with ");
	layout_indent(formatter->layout, indent);
	for (; policies; policies = policies->next) {
		format_policy(formatter, policies);
		end_item(formatter, policies->end, policies->next);
	}
	layout_indent(formatter->layout, -indent);
	layout_close(formatter->layout);
}

void
format_with(struct formatter *formatter, const struct policy *policies)
{
	if (!policies)
		return;
	layout_indent(formatter->layout, 2);
	layout_hard(formatter->layout, 0);
	format_policies(formatter, policies);
	layout_indent(formatter->layout, -2);
}
