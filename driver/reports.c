#include "driver/reports.h"

#include <stdlib.h>

#include "common/mem.h"
#include "common/pg_params.h"
#include "driver/request.h"
#include "driver/streams.h"
#include "driver/workspace.h"

enum {
	REPORTS_PER_TURN = 1000,
	BYTES_PER_TURN = 4 << 20, /* a bigger body goes with no other */
};

struct reports {
	struct pg_array instances, processes, tokens, events, bodies;
	struct streams *streams;
};

struct reports *
reports_new(void)
{
	struct reports *reports = xmalloc(sizeof(*reports));

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

bool
reports_send(struct reports *reports, struct session *session, int64_t driver,
    struct request_list *due, struct request_list *carried)
{
	size_t bytes = 0;
	struct request *request;
	bool streamed;

	while (carried->count < REPORTS_PER_TURN && due->first != NULL) {
		if (bytes > 0 && bytes + due->first->body.len > BYTES_PER_TURN)
			break;
		request = request_list_take(due);
		bytes += request->body.len;
		add(reports, request);
		streams_add_rest(reports->streams, request);
		request_list_add(carried, request);
	}
	/* first: the leases are still there */
	streamed = streams_send(reports->streams, session);
	if (carried->count == 0)
		return streamed;
	workspace_outcome(session, driver,
	    &(struct workspace_reports){
	        .instances = &reports->instances,
	        .processes = &reports->processes,
	        .tokens = &reports->tokens,
	        .events = &reports->events,
	        .bodies = &reports->bodies,
	    });
	clear(reports);
	return streamed;
}
