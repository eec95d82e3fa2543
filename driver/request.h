/*
 * request.h - one thing that the driver does for the workspace, from poll's row
 * to the answer to its report; and the table of all requests.
 *
 *     TAKEN ── needs_ack ──▶ ACK ── answered done ──┐
 *       └───────────────────────────────────────────┴▶ RUNNING ──▶ OVER
 *     TAKEN or ACK ── told to stop, drained ──▶ OVER
 *
 * A request that is OVER waits until the workspace has answered its report;
 * then it is forgotten.
 */
#ifndef DRIVER_REQUEST_H
#define DRIVER_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/mono.h"
#include "driver/secret/secret.h"
#include "driver/transport/output.h"
#include "driver/transport/transport.h"

struct pg_array;
struct transports;
struct workspace_row;

#define REQUEST_STATES(X) \
	X(TAKEN)   /* poll gave it; nothing was done yet */ \
	X(ACK)     /* the acknowledgement is on its way */ \
	X(RUNNING) /* the transport has it */ \
	X(OVER)    /* only the report is left */

#define REQUEST_STATE(name) REQUEST_##name,
enum request_state { REQUEST_STATES(REQUEST_STATE) };
#undef REQUEST_STATE

struct request {
	struct task task; /* its strings are the request's */
	bool needs_ack;
	bool stopped; /* by order of the workspace */
	enum request_state state;
	void *owner; /* for callbacks: the runner */

	const struct transport *transport; /* NULL: we do not have it */
	void *transport_state;
	struct run *run;      /* NULL unless RUNNING */
	struct mono begun;    /* when it came to be RUNNING */
	struct filled filled; /* the arguments with secrets in them */
	struct output output; /* output that is not sent yet */

	/* The report that is due: an event of wf.outcome() and its body. */
	const char *event; /* NULL: none */
	struct buf body;
	int busy;          /* how often the workspace was too busy for it */
	struct mono again; /* when a kept report is made again, or 0 */
	int failures;      /* turns in a row that failed with it */
	char *cause;       /* why the last of them failed, or NULL */

	struct request_list *list; /* the list that it stands in, or NULL */
	struct request *next, **place;
	struct request *next_alike; /* in a bucket of the table */
};

/* A list, first in, first out.  It must not move after its initialisation. */
struct request_list {
	struct request *first, **end;
	size_t count;
	size_t bytes;    /* memory of its requests, with bodies */
	bool on_its_way; /* a turn may have carried its requests */
};

void request_list_init(struct request_list *list);
void request_list_add(struct request_list *list, struct request *request);

/* Put all of `from` before what is in `list`. */
void request_list_put_back(
    struct request_list *list, struct request_list *from);

/* The first one, taken out; NULL if it is empty. */
struct request *request_list_take(struct request_list *list);

/* Take the request out of its list, if it stands in one. */
void request_list_remove(struct request *request);

/* `body` becomes the body of the report, and belongs to the request. */
void request_set_body(struct request *request, const struct buf *body);

/* All requests, found by their tokens. */
struct request_table {
	struct request **buckets;
	size_t size; /* a power of two */
	size_t count;
	size_t active; /* those that are not OVER */
	size_t slots;  /* the active ones that hold a slot */

	/* slots by transport; the first place without one ends the list */
	struct {
		const struct transport *transport;
		size_t slots;
	} held[TRANSPORTS_MOST];
	const char *label; /* the workspace's name in log lines; borrowed */
};

void request_table_init(struct request_table *table, const char *label);
void request_table_release(struct request_table *table);

/* The request with this token; NULL if there is none. */
struct request *request_find(
    const struct request_table *table, const char *token);

/* How many slots requests of that transport hold. */
size_t request_table_held(
    const struct request_table *table, const struct transport *transport);

/* Copy a request from a row of poll into the table. */
struct request *request_new(struct request_table *table,
    const struct workspace_row *row, const struct transports *transports);

/*
 * Whether the request holds a slot until it is OVER.  An instant request needs
 * no slot.
 */
bool request_holds_slot(const struct request *request);

/*
 * A report with which turns have failed twice is made alone.  Returns how often
 * it has failed alone.  Negative: it was not made alone because of failures.
 */
int request_failures_alone(const struct request *request);

/* Forget the request; if it still runs, it is stopped. */
void request_free(struct request_table *table, struct request *request);

/* The only way in which a state changes. */
void request_set_state(struct request_table *table, struct request *request,
    enum request_state state);

/* Call `fn` for each; it may not free any. */
void request_each(const struct request_table *table,
    void (*fn)(struct request *request, void *arg), void *arg);

#endif
