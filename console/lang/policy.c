#include "console/lang/policy.h"

#include <stddef.h>
#include <string.h>

#include "common/suggestion.h"
#include "console/lang/checker.h"

static const char *const on_failure_words[] = { "pause", "skip", "fail",
	"fail_late", NULL };
static const char *const reuse_words[] = { "dedupe", "singleton", "coalesce",
	NULL };
static const char *const overlap_words[] = { "allow", "skip", "queue",
	"replace", "coalesce", NULL };

const struct policy_rule policy_rules[POLICIES] = {
	{ .name = "group",
	    .reach = REACH_TASKS,
	    .params = { { .name = "name",
	                    .type = TYPE_STRING,
	                    .required = true },
	        { .name = "max",
	            .type = TYPE_INT,
	            .least = 1,
	            .most = CHECK_INT_MAX } } },
	{ .name = "rate",
	    .reach = REACH_TASKS,
	    .params = { { .name = "limit",
	                    .type = TYPE_INT,
	                    .required = true,
	                    .least = 1,
	                    .most = CHECK_INT_MAX },
	        { .name = "per", .type = TYPE_DURATION, .required = true },
	        { .name = "name", .type = TYPE_STRING } },
	    .check = check_rate },
	{ .name = "queue",
	    .reach = REACH_TASKS,
	    .params = { { .name = "name",
	        .type = TYPE_STRING,
	        .required = true } } },
	{ .name = "requires",
	    .reach = REACH_TASKS,
	    .params = { { .name = "capabilities",
	        .type = TYPE_JSON,
	        .required = true } },
	    .check = check_requires },
	{ .name = "priority",
	    .reach = REACH_TASKS,
	    .params = { { .name = "value",
	        .type = TYPE_INT,
	        .required = true,
	        .least = -1000,
	        .most = 1000 } } },
	{ .name = "idempotent",
	    .reach = REACH_TASKS,
	    .params = { { .name = "value", .type = TYPE_BOOL } },
	    .check = check_idempotent },
	{ .name = "weight",
	    .reach = REACH_TASKS,
	    .params = { { .name = "value",
	        .type = TYPE_NUMBER,
	        .required = true,
	        .least = 0.001,
	        .most = 1000000 } },
	    .check = check_weight },
	{ .name = "output",
	    .reach = REACH_TASKS,
	    .params = { { .name = "max",
	        .type = TYPE_INT,
	        .required = true,
	        .least = 1,
	        .most = CHECK_INT_MAX } } },
	{ .name = "retry",
	    .reach = REACH_NODE,
	    .each = true,
	    .of_blocks = true,
	    .params = { { .name = "attempts",
	                    .type = TYPE_INT,
	                    .required = true },
	        { .name = "delay", .type = TYPE_DURATION },
	        { .name = "backoff",
	            .type = TYPE_NUMBER,
	            .least = 1,
	            .most = 9999 },
	        { .name = "max_delay", .type = TYPE_DURATION },
	        { .name = "jitter",
	            .type = TYPE_NUMBER,
	            .least = 0,
	            .most = 1 },
	        { .name = "on", .type = TYPE_JSON },
	        { .name = "when", .type = TYPE_BOOL } },
	    .check = check_retry },
	{ .name = "timeout",
	    .reach = REACH_NODE,
	    .each = true,
	    .of_blocks = true,
	    .by_argument = true,
	    .params = { { .name = "inactivity", .type = TYPE_DURATION },
	        { .name = "runtime", .type = TYPE_DURATION },
	        { .name = "deadline", .type = TYPE_DURATION },
	        { .name = "wait", .type = TYPE_DURATION } },
	    .check = check_timeout },
	{ .name = "on_failure",
	    .reach = REACH_NODE,
	    .folded = true,
	    .params = { { .name = "action",
	                    .type = TYPE_STRING,
	                    .required = true,
	                    .words = on_failure_words },
	        { .name = "cascade", .type = TYPE_BOOL },
	        { .name = "undo", .type = TYPE_BOOL } },
	    .check = check_on_failure },
	{ .name = "title",
	    .reach = REACH_NODE,
	    .params = { { .name = "text",
	        .type = TYPE_STRING,
	        .required = true } } },
	{ .name = "tags",
	    .reach = REACH_NODE,
	    .params = { { .name = "tags",
	        .type = TYPE_JSON,
	        .required = true } },
	    .check = check_tags },
	{ .name = "start_if",
	    .reach = REACH_NODE,
	    .params = { { .name = "condition",
	                    .type = TYPE_BOOL,
	                    .required = true },
	        { .name = "message", .type = TYPE_STRING } },
	    .check = check_start_if },
	{ .name = "key",
	    .reach = REACH_NODE,
	    .params = { { .name = "reuse",
	                    .type = TYPE_STRING,
	                    .required = true,
	                    .words = reuse_words },
	        { .name = "by", .type = TYPE_STRING } },
	    .check = check_key },
	{ .name = "schedule",
	    .reach = REACH_NODE,
	    .params = { { .name = "cron", .type = TYPE_STRING },
	        { .name = "every", .type = TYPE_DURATION },
	        { .name = "timezone", .type = TYPE_STRING },
	        { .name = "params", .type = TYPE_JSON },
	        { .name = "catchup",
	            .type = TYPE_INT,
	            .least = 0,
	            .most = 1000 },
	        { .name = "overlap",
	            .type = TYPE_STRING,
	            .words = overlap_words },
	        { .name = "jitter", .type = TYPE_DURATION },
	        { .name = "start", .type = TYPE_TIMESTAMP },
	        { .name = "end", .type = TYPE_TIMESTAMP },
	        { .name = "count",
	            .type = TYPE_INT,
	            .least = 1,
	            .most = CHECK_INT_MAX } },
	    .check = check_schedule },
};

#define GRANT_ROLE \
	"An administrator grants a role to a workflow: `wf-console sql " \
	"grant`."

/* Policies still to come, and what does their work until then. */
static const struct {
	const char *name, *instead;
} later[] = {
	{ "lock", "`group(NAME, max = 1)` lets one task at a time run." },
	{ "retention", "The setting `keep_days` holds for all workflows." },
	{ "role", GRANT_ROLE },
	{ "run_as", GRANT_ROLE },
	{ "subject", "`key(singleton, by = …)` lets one instance at a time run "
	             "for each value." },
};

enum { LATER = sizeof(later) / sizeof(later[0]) };

/* Names of policies in other systems, and what to write here. */
static const struct {
	const char *name, *instead;
} others[] = {
	{ "recover",
	    "Write `idempotent`: a task that was lost with its driver then "
	    "begins again by itself; with `idempotent(false)` a person "
	    "decides." },
	{ "plan", "Call the function in the statement that starts: "
	          "select wf.start('pay', plan_payment(7))." },
	{ "singleton", "Write `key(singleton, by = \"all\")`." },
	{ "debounce",
	    "Write `key(coalesce, by = …)`, and start it for a time a "
	    "little later." },
	{ "concurrency", "Write `group(\"name\", max = 3)`." },
};

enum { OTHERS = sizeof(others) / sizeof(others[0]) };

const struct policy_rule *
policy_rule(const char *name)
{
	int i;

	for (i = 0; i < POLICIES; i++)
		if (strcmp(policy_rules[i].name, name) == 0)
			return &policy_rules[i];
	return NULL;
}

bool
policy_comes_later(const char *name)
{
	size_t i;

	for (i = 0; i < LATER; i++)
		if (strcmp(later[i].name, name) == 0)
			return true;
	return false;
}

const char *
policy_instead(const char *name)
{
	size_t i;

	for (i = 0; i < LATER; i++)
		if (strcmp(later[i].name, name) == 0)
			return later[i].instead;
	for (i = 0; i < OTHERS; i++)
		if (strcmp(others[i].name, name) == 0)
			return others[i].instead;
	return NULL;
}

const char *
policy_nearest(const char *name)
{
	struct suggestion suggestion;
	size_t i;

	suggestion_init(&suggestion, name);
	for (i = 0; i < POLICIES; i++)
		suggestion_offer(&suggestion, policy_rules[i].name,
		    strlen(policy_rules[i].name));
	for (i = 0; i < LATER; i++)
		suggestion_offer(
		    &suggestion, later[i].name, strlen(later[i].name));
	return suggestion.best;
}

const struct policy *
policy_find(const struct policy *policies, const char *name, bool each)
{
	for (; policies; policies = policies->next)
		if (strcmp(policies->name.text, name) == 0 &&
		    policies->each == each)
			break;
	return policies;
}

const struct policy *
policy_undo(const struct policy *policies)
{
	while (policies && !policies->undo)
		policies = policies->next;
	return policies;
}

struct expr *
policy_arg(const struct policy *policy, const char *name)
{
	const struct arg *arg;

	for (arg = policy->args; arg; arg = arg->next)
		if (arg->name.text && strcmp(arg->name.text, name) == 0)
			return arg->value;
	return NULL;
}
