/*
 * driver_meta: how lb-workflow puts a task into a group.  It is a string of
 * lenient JSON: "{ group: 'foo', max: 1 }".
 */
#include <string.h>

#include "console/lang/checker.h"
#include "console/lang/symbol.h"

struct meta {
	struct checker *checker;
	struct expr *literal;
	const char *at;
	struct arg *args, **tail; /* of the policy `group` */
};

static void
skip_blanks(struct meta *meta)
{
	meta->at += strspn(meta->at, " \t\n");
}

static bool
accept(struct meta *meta, char c)
{
	skip_blanks(meta);
	if (*meta->at != c)
		return false;
	meta->at++;
	return true;
}

/* A quoted string, or a bare word as a key; NULL if neither is there. */
static char *
read_text(struct meta *meta, bool bare)
{
	const char *start;
	size_t len = 0;
	char quote;

	skip_blanks(meta);
	start = meta->at;
	quote = *start;
	if (quote == '\'' || quote == '"') {
		len = strcspn(++start, quote == '"' ? "\"" : "'");
		if (start[len] == '\0')
			return NULL;
		meta->at = start + len + 1;
	} else {
		while (bare && symbol_is_word(start[len]))
			len++;
		if (len == 0)
			return NULL;
		meta->at = start + len;
	}
	return arena_strndup(meta->checker->arena, start, len);
}

/* Add name = value to the policy, as if it were written so. */
static void
add_arg(
    struct meta *meta, const char *name, enum expr_kind kind, const char *text)
{
	struct arg *arg = arena_alloc(meta->checker->arena, sizeof(*arg));

	arg->name = (struct name){ name, meta->literal->start };
	arg->start = meta->literal->start;
	arg->value = arena_alloc(meta->checker->arena, sizeof(struct expr));
	*arg->value = (struct expr){
		.kind = kind,
		.text = text,
		.start = meta->literal->start,
		.end = meta->literal->end,
	};
	*meta->tail = arg;
	meta->tail = &arg->next;
}

static bool
read_member(struct meta *meta)
{
	char *key = read_text(meta, true), *value;
	size_t len;

	if (!key || !accept(meta, ':'))
		return false;
	skip_blanks(meta);
	if (strcmp(key, "group") == 0) {
		if (!(value = read_text(meta, false)))
			return false;
		add_arg(meta, "name", E_STRING, value);
	} else if (strcmp(key, "max") == 0) {
		if (!(len = symbol_number(meta->at)))
			return false;
		value = arena_strndup(meta->checker->arena, meta->at, len);
		meta->at += len;
		add_arg(meta, "max", E_NUMBER, value);
	} else {
		report(meta->checker->result, meta->checker->module->source,
		    meta->literal->start, "driver_meta knows no `%s`", key);
		report_hint(
		    meta->checker->result, "It knows `group` and `max`.");
		meta->args = NULL;
		meta->at += strlen(meta->at);
	}
	return true;
}

static bool
read_meta(struct meta *meta)
{
	if (!accept(meta, '{'))
		return false;
	while (!accept(meta, '}')) {
		if (!read_member(meta))
			return false;
		if (*meta->at == '\0') /* reported */
			return true;
		if (!accept(meta, ',')) {
			if (!accept(meta, '}'))
				return false;
			break;
		}
	}
	skip_blanks(meta);
	return *meta->at == '\0';
}

static void
add_group(struct meta *meta, struct process *call)
{
	struct policy **tail = &call->policies;
	struct policy *policy =
	    arena_alloc(meta->checker->arena, sizeof(*policy));

	while (*tail)
		tail = &(*tail)->next;
	policy->start = meta->literal->start;
	policy->end = meta->literal->end;
	policy->name = (struct name){ "group", meta->literal->start };
	policy->parens = true;
	policy->args = meta->args;
	*tail = policy;
}

void
check_driver_meta(struct checker *checker, struct process *call)
{
	struct meta meta = { .checker = checker };
	struct arg **at = &call->args;

	while (*at && strcmp((*at)->name.text, "driver_meta") != 0)
		at = &(*at)->next;
	if (!*at)
		return;
	meta.literal = check_bare((*at)->value);
	meta.tail = &meta.args;
	*at = (*at)->next;
	if (meta.literal->kind != E_STRING) {
		COMPLAIN(checker, meta.literal->start,
		    "driver_meta must be a string literal");
		HINT(checker, "Write `with group(…, max = …)` after the call.");
		return;
	}
	meta.at = meta.literal->text;
	if (!read_meta(&meta)) {
		COMPLAIN(checker, meta.literal->start,
		    "driver_meta can not be read");
		HINT(checker, "Write \"{ group: 'name', max: 1 }\".");
	} else if (meta.args) {
		add_group(&meta, call);
	}
}
