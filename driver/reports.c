#include "driver/reports.h"

#include <stdlib.h>

#include "common/mem.h"
#include "common/mono.h"
#include "common/pg_params.h"
#include "driver/request.h"
#include "driver/streams.h"
#include "driver/workspace.h"

enum {
	REPORTS_PER_TURN = 1000,
	FEW_PER_TURN = 30,        /* after a turn that failed */
	BYTES_PER_TURN = 2 << 20, /* with output; a larger report goes alone */
	PATIENCE_MS = 100,        /* while other turns may hold an instance */
	PATIENCE_ALONE_MS = 200,
	PLACES = 4096,
	HELD_MS = 1000, /* how long a held instance counts as held */
};

/* One place for all instances whose number has the same remainder. */
struct place {
	uint16_t count;  /* of reports that are carried */
	uint16_t number; /* of the turn that carries them */
	struct mono held_until;
};

struct reports {
	struct place places[PLACES];
	struct pg_array instances, processes, tokens, events, bodies;
	struct streams *streams;
	bool patient; /* the reports carried last may wait */
};

struct reports *
reports_new(void)
{
	struct reports *reports = xcalloc(1, sizeof(*reports));

	pg_array_init(&reports->instances, PG_TYPE_BIGINT);
	pg_array_init(&reports->processes, PG_TYPE_BIGINT);
	pg_array_init(&reports->tokens, PG_TYPE_UUID);
	pg_array_init(&reports->events, PG_TYPE_TEXT);
	pg_array_init(&reports->bodies, PG_TYPE_BYTEA);
	reports->streams = streams_new();
	return reports;
}

void
reports_free(struct reports *reports)
{
	if (reports == NULL)
		return;
	pg_array_release(&reports->instances);
	pg_array_release(&reports->processes);
	pg_array_release(&reports->tokens);
	pg_array_release(&reports->events);
	pg_array_release(&reports->bodies);
	streams_free(reports->streams);
	free(reports);
}

static void
clear(struct reports *reports)
{
	pg_array_clear(&reports->instances);
	pg_array_clear(&reports->processes);
	pg_array_clear(&reports->tokens);
	pg_array_clear(&reports->events);
	pg_array_clear(&reports->bodies);
}

static void
add(struct reports *reports, const struct request *request)
{
	pg_array_add_bigint(&reports->instances, request->task.instance_id);
	pg_array_add_bigint(&reports->processes, request->task.process_id);
	pg_array_add_uuid(&reports->tokens, request->task.token);
	pg_array_add_text(&reports->events, request->event);
	pg_array_add_bytes(
	    &reports->bodies, request->body.data, request->body.len);
}

bool
reports_add_output(struct reports *reports, const struct request_table *table)
{
	return streams_add(reports->streams, table);
}

static size_t
place_of(const struct request *request)
{
	return (uint64_t)request->task.instance_id % PLACES;
}

int
reports_carrier(const struct reports *reports, const struct request *request)
{
	const struct place *place = &reports->places[place_of(request)];

	return place->count > 0 ? place->number : 0;
}

void
reports_carry(struct reports *reports, int number, struct request *request,
    struct request_list *carried)
{
	struct place *place = &reports->places[place_of(request)];

	place->count++;
	place->number = (uint16_t)number;
	request_list_remove(request);
	request_list_add(carried, request);
}

void
reports_hold(struct reports *reports, const struct request *request)
{
	reports->places[place_of(request)].held_until =
	    mono_add_ms(mono_now(), HELD_MS);
}

/* Whether this report, or another of its instance, waited in vain just now. */
static bool
waits_in_vain(const struct reports *reports, const struct request *request,
    struct mono now)
{
	const struct place *place = &reports->places[place_of(request)];

	return request->busy > 0 || mono_before(now, place->held_until);
}

void
reports_carry_due(struct reports *reports, int number, struct request_list *due,
    struct request_list *carried)
{
	struct mono now = mono_now();
	size_t bytes = 0, most = REPORTS_PER_TURN;
	size_t output;
	struct request *request, *next;

	reports->patient =
	    due->first != NULL && !waits_in_vain(reports, due->first, now);
	for (request = due->first; request != NULL; request = next) {
		next = request->next;
		/* a report that waits in vain delays no other */
		if (waits_in_vain(reports, request, now) == reports->patient)
			continue;
		if (request->failures > 0)
			most = FEW_PER_TURN;
		output = streams_bytes(reports->streams);
		if (carried->count >= most ||
		    (carried->count > 0 &&
		        bytes + output + request->body.len > BYTES_PER_TURN))
			break;
		bytes += request->body.len;
		streams_add_rest(reports->streams, request);
		reports_carry(reports, number, request, carried);
	}
}

void
reports_end(struct reports *reports, const struct request_list *carried)
{
	const struct request *request;

	for (request = carried->first; request != NULL; request = request->next)
		reports->places[place_of(request)].count--;
}

/* How often the report has failed alone.  0: it is alone for another reason. */
static int64_t
failures_alone(const struct request *request)
{
	int failures = request_failures_alone(request);

	return failures > 0 ? failures : 0;
}

/*
 * How long to wait for an instance that is held.  A report that has waited in
 * vain waits again only when it is made alone.
 */
static int64_t
patience_ms(const struct reports *reports, bool alone)
{
	if (alone)
		return PATIENCE_ALONE_MS;
	return reports->patient ? PATIENCE_MS : 0;
}

bool
reports_send(struct reports *reports, struct session *session, int64_t driver,
    const struct request_list *carried, bool alone)
{
	const struct request *first = carried->first;
	struct request *request;
	bool streamed;

	for (request = carried->first; request != NULL;
	     request = request->next) {
		add(reports, request);
		streams_add_rest(reports->streams, request);
	}
	/* output first, while the leases are still there */
	streamed = streams_send(reports->streams, session);
	if (first == NULL)
		return streamed;
	workspace_outcome(session, driver,
	    &(struct workspace_reports){
	        .instances = &reports->instances,
	        .processes = &reports->processes,
	        .tokens = &reports->tokens,
	        .events = &reports->events,
	        .bodies = &reports->bodies,
	        .patience_ms = patience_ms(reports, alone),
	        .failures = alone ? failures_alone(first) : 0,
	        .cause = alone ? first->cause : NULL,
	    });
	clear(reports);
	return streamed;
}
