/* Policies: what reaches a task from the blocks and calls around it. */
#include <string.h>

#include "console/lang/checker.h"
#include "console/lang/emitter.h"

static const struct expr is_true = { .kind = E_BOOL, .is_true = true };

struct effects
effects_add(const struct effects *effects, const struct policy *policies)
{
	struct effects own = *effects;
	const struct policy *policy;

	for (policy = policies; policy; policy = policy->next) {
		if (strcmp(policy->name.text, "group") == 0) {
			own.group = policy_arg(policy, "name", 0);
			own.max = policy_arg(policy, "max", 1);
		} else if (strcmp(policy->name.text, "queue") == 0) {
			own.queue = policy_arg(policy, "name", 0);
		} else if (strcmp(policy->name.text, "requires") == 0) {
			own.requires = policy_arg(policy, "capabilities", 0);
		} else if (strcmp(policy->name.text, "priority") == 0) {
			own.priority = policy_arg(policy, "value", 0);
		} else if (strcmp(policy->name.text, "idempotent") == 0) {
			own.idempotent = policy_arg(policy, "value", 0);
			if (!own.idempotent)
				own.idempotent = &is_true;
		}
	}
	return own;
}

struct effects
effects_reaching(const struct effects *effects, const struct policy *policies)
{
	struct effects own = *effects;
	const struct effects inner = effects_add(effects, policies);

	if (inner.group != own.group)
		own.group = own.max = NULL;
	if (inner.queue != own.queue)
		own.queue = NULL;
	if (inner.requires != own.requires)
	own.requires = NULL;
	/* NOLINTNEXTLINE(readability-misleading-indentation): of the line above */
	if (inner.priority != own.priority)
		own.priority = NULL;
	return own;
}

const struct expr *
policies_title(const struct policy *policies)
{
	const struct policy *title = policy_find(policies, "title");

	return title ? policy_arg(title, "text", 0) : NULL;
}

/* In the order in which a retry takes them. */
static const char *const retry_args[RETRY_ARGS] = { "attempts", "delay",
	"backoff", "max_delay", "jitter", "on", "when" };

const struct expr *
policies_retry(const struct policy *policies, int i)
{
	const struct policy *retry = policy_find(policies, "retry");

	return retry ? policy_arg(retry, retry_args[i], i) : NULL;
}

static void
emit_retry(struct emitter *emitter, const struct policy *policies)
{
	const struct expr *value;
	const char *open = ",\"retry\":{";
	int i;

	for (i = 0; i < RETRY_ARGS; i++) {
		if (!(value = policies_retry(policies, i)))
			continue;
		buf_addf(&emitter->out, "%s\"%s\":", open, retry_args[i]);
		emit_expr(emitter, value);
		open = ",";
	}
	if (policy_find(policies, "retry"))
		buf_adds(&emitter->out, "}");
}

void
emit_policies(struct emitter *emitter, const struct effects *effects,
    const struct policy *own)
{
	const struct expr *title = policies_title(own);
	size_t start = emitter->out.len, open;

	buf_adds(&emitter->out, ",\"policies\":{");
	open = emitter->out.len;
	if (effects->group) {
		buf_adds(&emitter->out, ",\"group\":{\"name\":");
		emit_expr(emitter, effects->group);
		if (effects->max)
			emit_member(emitter, "max", effects->max);
		buf_adds(&emitter->out, "}");
	}
	if (effects->queue)
		emit_member(emitter, "queue", effects->queue);
	if (effects->requires)
		emit_member(emitter, "requires", effects->requires);
	if (effects->priority)
		emit_member(emitter, "priority", effects->priority);
	if (effects->idempotent)
		emit_member(emitter, "idempotent", effects->idempotent);
	emit_retry(emitter, own);
	if (title)
		emit_member(emitter, "title", title);
	if (emitter->out.len == open) {
		buf_truncate(&emitter->out, start);
		return;
	}
	/* drop the comma of the first member */
	memmove(emitter->out.data + open, emitter->out.data + open + 1,
	    emitter->out.len - open - 1);
	buf_truncate(&emitter->out, emitter->out.len - 1);
	buf_adds(&emitter->out, "}");
}
