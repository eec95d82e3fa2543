/* Task types of the compiled tree. */
#include "console/lang/checker.h"
#include "console/lang/emitter.h"

static const char *const requests[] = {
	[R_START] = "start",
	[R_POLL] = "poll",
	[R_FETCH] = "fetch",
	[R_CANCEL] = "cancel",
	[R_CLEANUP] = "cleanup",
	[R_CALLBACK] = "callback",
	[R_WAIT] = "wait",
};

static const char *const parts[] = {
	[S_EVERY] = "every",
	[S_HANDLE] = "handle",
	[S_OUTPUT] = "output",
	[S_PROGRESS] = "progress",
	[S_SUCCESS] = "success",
	[S_FAILURE] = "failure",
};

void
emit_params(struct emitter *emitter, const struct param *params, bool lines)
{
	buf_adds(&emitter->out, ",\"params\":[");
	for (; params; params = params->next) {
		buf_adds(&emitter->out, "{\"name\":");
		emit_string(emitter, params->name.text);
		buf_adds(&emitter->out, ",\"type\":");
		type_emit(&emitter->out, params->type);
		if (params->value)
			emit_member(emitter, "default", params->value);
		emit_doc(emitter, params->doc);
		if (lines)
			buf_addf(&emitter->out, ",\"line\":%d",
			    emit_line(emitter, params->start));
		buf_adds(&emitter->out, params->next ? "}," : "}");
	}
	buf_adds(&emitter->out, "]");
}

static void
emit_request(struct emitter *emitter, const struct clause *clause)
{
	const struct sub *sub;

	emit_string(emitter, requests[clause->kind]);
	buf_adds(&emitter->out, ":{\"transport\":");
	emit_string(emitter, clause->transport.text);
	buf_adds(&emitter->out, ",\"args\":");
	emit_args(emitter, clause->args);
	for (sub = clause->subs; sub; sub = sub->next) {
		if (sub->kind == S_EVERY) {
			buf_adds(&emitter->out, ",\"every\":");
			emit_args(emitter, sub->args);
			continue;
		}
		emit_member(emitter, parts[sub->kind], sub->value);
		if (sub->as)
			emit_member(emitter, "failure_as", sub->as);
	}
	buf_adds(&emitter->out, "}");
}

static const struct clause *
find_clause(const struct decl *decl, enum request_kind kind)
{
	const struct clause *clause = decl->clauses;

	while (clause && clause->kind != kind)
		clause = clause->next;
	return clause;
}

/* The state machine of its tasks, and its requests. */
static void
emit_machine(struct emitter *emitter, const struct decl *decl)
{
	const struct clause *wait = find_clause(decl, R_WAIT), *clause;

	if (wait) {
		buf_adds(&emitter->out, ",\"machine\":\"wait\",\"wait\":");
		emit_string(emitter, wait->transport.text);
		return;
	}
	buf_addf(&emitter->out, ",\"machine\":\"%s\",\"requests\":{",
	    find_clause(decl, R_POLL) ? "async" : "sync");
	for (clause = decl->clauses; clause; clause = clause->next) {
		emit_request(emitter, clause);
		buf_adds(&emitter->out, clause->next ? "," : "");
	}
	buf_adds(&emitter->out, "}");
}

void
emit_task_type(struct emitter *emitter, const struct decl *decl)
{
	const struct effects none = { 0 };
	struct effects effects =
	    effects_of_task(emitter, &none, decl->policies);

	emitter->source = decl->module->source;
	buf_adds(&emitter->out, "{\"name\":");
	emit_string(emitter, decl->full_name);
	emit_doc(emitter, decl->doc);
	emit_params(emitter, decl->params, false);
	if (decl->returns) {
		buf_adds(&emitter->out, ",\"returns\":");
		type_emit(&emitter->out, decl->returns);
	}
	emit_policies(emitter, &effects);
	emit_machine(emitter, decl);
	buf_adds(&emitter->out, "}");
}
