/*
 * keep.h - slots that are kept for each transport.
 *
 * Slow requests of one transport must not hold all slots of a workspace.
 * Therefore each transport has `slots_kept` slots of its own, and all
 * transports share the others.  At most half of all slots are kept.
 */
#ifndef DRIVER_KEEP_H
#define DRIVER_KEEP_H

#include <stddef.h>
#include <stdint.h>

#include "driver/transport/transport.h"

struct config;
struct load;
struct request_table;

/* `{ .transports = …, .config = … }` is one that has asked for nothing. */
struct keep {
	const struct transports *transports; /* borrowed */
	const struct config *config;         /* borrowed */
	int64_t asked[TRANSPORTS_MOST];      /* by turns under way */
};

/*
 * Divide `load->slots`: the kept slots that a transport has not taken yet go to
 * `load->kept`.  `table` holds the workspace's requests; `workspaces` is how
 * many workspaces there are.
 */
void keep_divide(const struct keep *keep, const struct request_table *table,
    size_t workspaces, struct load *load);

/* A turn asks for `load`; its answer is here.  Return all its slots. */
int64_t keep_ask(struct keep *keep, const struct load *load);
int64_t keep_answer(struct keep *keep, const struct load *load);

#endif
