#include "console/lang/policy.h"

#include <stddef.h>
#include <string.h>

#include "common/near.h"
#include "console/lang/checker.h"

const struct policy_rule policy_rules[POLICIES] = {
	{ .name = "group",
	    .reach = REACH_TASKS,
	    .params = { { "name", TYPE_STRING, .required = true },
	        { "max", TYPE_INT, .least = 1, .most = CHECK_INT_MAX } } },
	{ .name = "queue",
	    .reach = REACH_TASKS,
	    .params = { { "name", TYPE_STRING, .required = true } } },
	{ .name = "requires",
	    .reach = REACH_TASKS,
	    .params = { { "capabilities", TYPE_JSON, .required = true } },
	    .check = check_requires },
	{ .name = "priority",
	    .reach = REACH_TASKS,
	    .params = { { "value", TYPE_INT, .required = true, .least = -1000,
	        .most = 1000 } } },
	{ .name = "idempotent",
	    .reach = REACH_TASKS,
	    .params = { { "value", TYPE_BOOL } },
	    .check = check_idempotent },
	{ .name = "output",
	    .reach = REACH_TASKS,
	    .params = { { "max", TYPE_INT, .required = true, .least = 1,
	        .most = CHECK_INT_MAX } } },
	{ .name = "weight",
	    .reach = REACH_TASKS,
	    .params = { { "value", TYPE_NUMBER, .required = true,
	        .least = 0.001, .most = 1000000 } },
	    .check = check_weight },
	{ .name = "retry",
	    .reach = REACH_NODE,
	    .each = true,
	    .params = { { "attempts", TYPE_INT, .required = true },
	        { "delay", TYPE_DURATION },
	        { "backoff", TYPE_NUMBER, .least = 1, .most = 9999 },
	        { "max_delay", TYPE_DURATION },
	        { "jitter", TYPE_NUMBER, .least = 0, .most = 1 },
	        { "on", TYPE_JSON }, { "when", TYPE_BOOL } },
	    .check = check_retry },
	{ .name = "timeout",
	    .reach = REACH_NODE,
	    .each = true,
	    .by_argument = true,
	    .params = { { "inactivity", TYPE_DURATION },
	        { "runtime", TYPE_DURATION }, { "deadline", TYPE_DURATION },
	        { "wait", TYPE_DURATION } },
	    .check = check_timeout },
	{ .name = "title",
	    .reach = REACH_NODE,
	    .params = { { "text", TYPE_STRING, .required = true } } },
};

/* Those that come later. */
static const char *const later[] = {
	"lock",
	"on_failure",
	"plan",
	"rate",
	"recover",
	"retention",
	"role",
	"run_as",
	"schedule",
	"start_if",
	"subject",
	"tags",
	"undo",
};

enum { LATER = sizeof(later) / sizeof(later[0]) };

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
		if (strcmp(later[i], name) == 0)
			return true;
	return false;
}

const char *
policy_nearest(const char *name)
{
	struct near near;
	size_t i;

	near_init(&near, name);
	for (i = 0; i < POLICIES; i++)
		near_offer(
		    &near, policy_rules[i].name, strlen(policy_rules[i].name));
	for (i = 0; i < LATER; i++)
		near_offer(&near, later[i], strlen(later[i]));
	return near.best;
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

struct expr *
policy_arg(const struct policy *policy, const char *name)
{
	const struct arg *arg;

	for (arg = policy->args; arg; arg = arg->next)
		if (arg->name.text && strcmp(arg->name.text, name) == 0)
			return arg->value;
	return NULL;
}
