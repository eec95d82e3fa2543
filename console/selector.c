#include "console/selector.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "console/invocation.h"
#include "console/value.h"

/* All targets that are given as arguments and with --id. */
struct named {
	struct buf instances, processes; /* numbers, separated by commas */
	size_t count, process_count;
};

static void
add_number(struct buf *list, int64_t number)
{
	buf_addf(list, "%s%" PRId64, list->len > 0 ? "," : "", number);
}

static void
add_targets(
    struct named *named, const struct invocation *invocation, const char *name)
{
	struct target target;
	const char *text;
	size_t at = 0;

	while ((text = invocation_next(invocation, name, &at)) != NULL) {
		target_parse(text, &target);
		add_number(&named->instances, target.instance);
		named->count++;
		if (target.process > 0) {
			add_number(&named->processes, target.process);
			named->process_count++;
		}
	}
}

/* "17/42", or "42" alone, since a process's number is unique. */
static void
add_root(struct named *named, struct buf *json, const char *text)
{
	struct target target;

	if (text == NULL)
		return;
	target_parse(text, &target);
	if (target.process > 0)
		add_number(&named->instances, target.instance);
	buf_addf(json, ",\"root\":%" PRId64,
	    target.process > 0 ? target.process : target.instance);
}

static void
add_text(struct buf *json, const char *key, const char *value)
{
	if (value == NULL)
		return;
	buf_addf(json, ",\"%s\":", key);
	json_add_string(json, value, strlen(value));
}

static void
add_flag(struct buf *json, const char *key, const char *value)
{
	if (value != NULL)
		buf_addf(json, ",\"%s\":true", key);
}

/* lb-workflow writes "Failed". */
static void
add_upper(struct buf *json, const char *state)
{
	char *upper = xstrdup(state), *at;

	for (at = upper; *at != '\0'; at++)
		*at = (char)toupper((unsigned char)*at);
	json_add_string(json, upper, strlen(upper));
	free(upper);
}

static void
add_states(struct buf *json, const struct invocation *invocation)
{
	const char *state, *separator = ",\"state\":[";
	size_t at = 0;

	while ((state = invocation_next(invocation, "state", &at)) != NULL) {
		buf_adds(json, separator);
		add_upper(json, state);
		separator = ",";
	}
	if (separator[1] == '\0')
		buf_addc(json, ']');
}

/* Whether the options that were given go together. */
static bool
check(const struct invocation *invocation, const struct named *named,
    const struct buf *filters, struct error *err)
{
	bool is_global = invocation_value(invocation, "global") != NULL;
	size_t at = 0, tags = 0;

	while (invocation_next(invocation, "tag", &at) != NULL)
		tags++;
	if (filters->len == 0 && named->count == 0 && !is_global) {
		error_set(err, "no target is given");
		error_hint(err, "Name targets, as 17 or 17/42, or select them "
		                "with --failed, --state, --workflow, ...");
	} else if (named->process_count > 0 &&
	           named->process_count < named->count) {
		error_set(err, "instances and processes can't be mixed");
		error_hint(err, "Name either instances, as 17, or processes, "
		                "as 17/42.");
	} else if (tags > 1) {
		error_set(err, "only one --tag can select");
	} else {
		return true;
	}
	return false;
}

/* The members, and what follows them, as an object. */
static void
assemble(struct selector *selector, const char *more)
{
	char *all = xasprintf("%s%s", selector->members, more);

	free(selector->json);
	selector->json = xasprintf("{%s}", all + (all[0] == ','));
	free(all);
}

bool
selector_init(struct selector *selector, const struct invocation *invocation,
    struct error *err)
{
	const char *root = invocation_value(invocation, "root");
	struct named named = { 0 };
	struct buf filters, members;
	bool ok;

	*selector = (struct selector){ 0 };
	buf_init(&named.instances, 0);
	buf_init(&named.processes, 0);
	buf_init(&filters, 0);
	buf_init(&members, 0);
	add_targets(&named, invocation, "TARGET");
	add_targets(&named, invocation, "id");
	add_root(&named, &filters, root);
	add_states(&filters, invocation);
	add_flag(&filters, "failed", invocation_value(invocation, "failed"));
	add_text(
	    &filters, "workflow", invocation_value(invocation, "workflow"));
	add_text(&filters, "tag", invocation_value(invocation, "tag"));
	add_text(
	    &filters, "older_than", invocation_value(invocation, "older-than"));
	ok = check(invocation, &named, &filters, err);
	if (named.instances.len > 0)
		buf_addf(&members, ",\"instance\":[%s]", named.instances.data);
	if (named.processes.len > 0)
		buf_addf(&members, ",\"process\":[%s]", named.processes.data);
	buf_adds(&members, filters.data);
	selector->is_single = named.process_count == 1 && named.count == 1;
	selector->is_latest =
	    named.count == 0 && root == NULL &&
	    (invocation_value(invocation, "action") != NULL ||
	        invocation_value(invocation, "global") != NULL);
	selector->members = buf_take(&members);
	assemble(selector, selector->is_latest ? ",\"latest\":true" : "");
	buf_release(&filters);
	buf_release(&named.processes);
	buf_release(&named.instances);
	return ok;
}

void
selector_narrow(struct selector *selector, const char *among, int64_t instance)
{
	struct buf more;

	buf_init(&more, 0);
	if (selector->is_latest && instance > 0)
		buf_addf(&more, ",\"instance\":[%" PRId64 "]", instance);
	else if (selector->is_latest)
		buf_adds(&more, ",\"latest\":true");
	add_text(&more, "among", among);
	assemble(selector, more.data);
	buf_release(&more);
}

void
selector_release(struct selector *selector)
{
	free(selector->members);
	free(selector->json);
	selector->members = selector->json = NULL;
}
