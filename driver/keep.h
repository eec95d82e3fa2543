/*
 * keep.h - slots that are kept for each transport.
 *
 * Of the slots that a workspace may take, some are for requests of one transport
 * alone, so that slow requests of another cannot hold all of them: each
 * transport has `slots_kept` of its own, and all have the rest together.  What
 * is kept is at most half of all slots.
 */
#ifndef DRIVER_KEEP_H
#define DRIVER_KEEP_H

#include <stddef.h>
#include <stdint.h>

#include "driver/transport/transport.h"

struct config;
struct load;
struct request_table;

/* With `{ .transports = …, .config = … }` nothing is asked for. */
struct keep {
	const struct transports *transports; /* borrowed */
	const struct config *config;         /* borrowed */
	int64_t asked[TRANSPORTS_MOST];      /* by turns under way */
};

/*
 * Divide `load->slots`: what transports have not taken yet of their own goes to
 * `load->kept`.  `table` is what the workspace has; there are `workspaces`.
 */
void keep_divide(const struct keep *keep, const struct request_table *table,
    size_t workspaces, struct load *load);

/* A turn asks for `load`; it is over.  All its slots. */
int64_t keep_ask(struct keep *keep, const struct load *load);
int64_t keep_answer(struct keep *keep, const struct load *load);

#endif
