#include "driver/streams.h"

#include <stdlib.h>

#include "common/mem.h"
#include "common/pg_params.h"
#include "driver/request.h"
#include "driver/workspace.h"

enum {
	BYTES_PER_TURN = 4 << 20,
};

struct streams {
	struct pg_array instances, processes, tokens, starts, sizes, names,
	    bodies;
	size_t bytes;
	bool more;
};

struct streams *
streams_new(void)
{
	struct streams *streams = xcalloc(1, sizeof(*streams));

	pg_array_init(&streams->instances, PG_TYPE_BIGINT);
	pg_array_init(&streams->processes, PG_TYPE_BIGINT);
	pg_array_init(&streams->tokens, PG_TYPE_UUID);
	pg_array_init(&streams->starts, PG_TYPE_BIGINT);
	pg_array_init(&streams->sizes, PG_TYPE_BIGINT);
	pg_array_init(&streams->names, PG_TYPE_TEXT);
	pg_array_init(&streams->bodies, PG_TYPE_TEXT);
	return streams;
}

static void
empty(struct streams *streams)
{
	pg_array_release(&streams->instances);
	pg_array_release(&streams->processes);
	pg_array_release(&streams->tokens);
	pg_array_release(&streams->starts);
	pg_array_release(&streams->sizes);
	pg_array_release(&streams->names);
	pg_array_release(&streams->bodies);
	streams->bytes = 0;
}

void
streams_free(struct streams *streams)
{
	if (streams == NULL)
		return;
	empty(streams);
	free(streams);
}

static void
add(struct streams *streams, struct request *request, bool all)
{
	static const char *const names[] = {
		[PIPE_OUT] = "stdout",
		[PIPE_ERR] = "stderr",
	};
	struct output_piece piece;
	int i;

	for (i = 0; i < 2; i++) {
		if (!output_take(
		        &request->output, (enum pipe_stream)i, all, &piece))
			continue;
		pg_array_add_bigint(
		    &streams->instances, request->task.instance_id);
		pg_array_add_bigint(
		    &streams->processes, request->task.process_id);
		pg_array_add_uuid(&streams->tokens, request->task.token);
		pg_array_add_bigint(&streams->starts, piece.start);
		pg_array_add_bigint(&streams->sizes, piece.size);
		pg_array_add_text(&streams->names, names[i]);
		pg_array_add_text(&streams->bodies, piece.text.data);
		streams->bytes += piece.text.len;
		buf_release(&piece.text);
	}
}

void
streams_add_rest(struct streams *streams, struct request *request)
{
	add(streams, request, true);
}

static void
add_fresh(struct request *request, void *arg)
{
	struct streams *streams = arg;

	if (request->state != REQUEST_RUNNING)
		return;
	if (streams->bytes < BYTES_PER_TURN)
		add(streams, request, false);
	else
		streams->more = true;
}

bool
streams_add(struct streams *streams, const struct request_table *table)
{
	streams->more = false;
	request_each(table, add_fresh, streams);
	return streams->more;
}

size_t
streams_bytes(const struct streams *streams)
{
	return streams->bytes;
}

bool
streams_send(struct streams *streams, struct session *session)
{
	if (streams->instances.count == 0)
		return false;
	workspace_output_add(session, &(struct workspace_output){
	                                  .instances = &streams->instances,
	                                  .processes = &streams->processes,
	                                  .tokens = &streams->tokens,
	                                  .starts = &streams->starts,
	                                  .sizes = &streams->sizes,
	                                  .streams = &streams->names,
	                                  .bodies = &streams->bodies,
	                              });
	empty(streams);
	return true;
}
