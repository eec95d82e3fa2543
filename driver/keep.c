#include "driver/keep.h"

#include "driver/config/config.h"
#include "driver/poll_window.h"
#include "driver/request.h"

/* How many transports need slots. */
static int64_t
count(const struct transports *transports)
{
	const char *name;
	void *state;
	int64_t some = 0;
	size_t i;

	for (i = 0; (name = transports_name(transports, i)) != NULL; i++)
		some += !transports_find(transports, name, &state)->instant;
	return some;
}

/* How many slots each transport has of its own. */
static int64_t
each(const struct keep *keep, size_t workspaces)
{
	int64_t kept = keep->config->slots_kept;
	int64_t several = count(keep->transports) * (int64_t)workspaces;
	int64_t most = several > 1 ? keep->config->slots / 2 / several : 0;

	return kept < most ? kept : most;
}

void
keep_divide(const struct keep *keep, const struct request_table *table,
    size_t workspaces, struct load *load)
{
	int64_t own = each(keep, workspaces), left;
	const struct transport *transport;
	const char *name;
	void *state;
	size_t i;

	for (i = 0; (name = transports_name(keep->transports, i)) != NULL;
	     i++) {
		transport = transports_find(keep->transports, name, &state);
		load->kept[i].transport = name;
		if (transport->instant)
			continue;
		left = own - keep->asked[i] -
		       (int64_t)request_table_held(table, transport);
		if (left > load->slots)
			left = load->slots;
		if (left > 0) {
			load->kept[i].slots = left;
			load->slots -= left;
		}
	}
}

/* Count the slots of `load` as asked for (1), or no longer (-1). */
static int64_t
ask(struct keep *keep, const struct load *load, int64_t sign)
{
	int64_t all = load->slots;
	size_t i;

	for (i = 0; i < TRANSPORTS_MOST; i++) {
		keep->asked[i] += sign * load->kept[i].slots;
		all += load->kept[i].slots;
	}
	return all;
}

int64_t
keep_ask(struct keep *keep, const struct load *load)
{
	return ask(keep, load, 1);
}

int64_t
keep_answer(struct keep *keep, const struct load *load)
{
	return ask(keep, load, -1);
}
