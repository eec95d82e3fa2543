#include "driver/request.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "driver/workspace.h"

enum {
	FIRST_SIZE = 256,
	FAILURES_AMONG_OTHERS = 2, /* first with many, then with few */
};

#define REQUEST_STATE_NAME(name) [REQUEST_##name] = #name,
static const char *const state_names[] = { REQUEST_STATES(REQUEST_STATE_NAME) };
#undef REQUEST_STATE_NAME

/* The memory that the request takes. */
static size_t
size(const struct request *request)
{
	return sizeof(*request) + request->task.args_len + request->body.len;
}

/* Lists -------------------------------------------------------------------- */

void
request_list_init(struct request_list *list)
{
	list->first = NULL;
	list->end = &list->first;
	list->count = 0;
	list->bytes = 0;
	list->on_its_way = false;
}

void
request_list_add(struct request_list *list, struct request *request)
{
	request->list = list;
	request->next = NULL;
	request->place = list->end;
	*list->end = request;
	list->end = &request->next;
	list->count++;
	list->bytes += size(request);
}

void
request_list_remove(struct request *request)
{
	struct request_list *list = request->list;

	if (list == NULL)
		return;
	*request->place = request->next;
	if (request->next != NULL)
		request->next->place = request->place;
	else
		list->end = request->place;
	request->next = NULL;
	request->list = NULL;
	list->count--;
	list->bytes -= size(request);
}

struct request *
request_list_take(struct request_list *list)
{
	struct request *request = list->first;

	if (request != NULL)
		request_list_remove(request);
	return request;
}

void
request_list_put_back(struct request_list *list, struct request_list *from)
{
	struct request *request;

	while ((request = request_list_take(list)) != NULL)
		request_list_add(from, request);
	while ((request = request_list_take(from)) != NULL)
		request_list_add(list, request);
}

void
request_set_body(struct request *request, const struct buf *body)
{
	struct request_list *list = request->list;

	if (list != NULL)
		list->bytes += body->len - request->body.len;
	buf_release(&request->body);
	request->body = *body;
	buf_fit(&request->body);
}

/* The table ---------------------------------------------------------------- */

/* Tokens are random: their first digits are as good as any hash. */
static size_t
bucket(const struct request_table *table, const char *token)
{
	size_t i, hash = 0;

	for (i = 0; i < 8 && token[i] != '\0'; i++) {
		unsigned digit = (unsigned char)token[i];

		hash =
		    hash << 4 | (digit <= '9' ? digit - '0' : digit + 9) % 16;
	}
	return hash & (table->size - 1);
}

static void
insert(struct request_table *table, struct request *request)
{
	struct request **first =
	    &table->buckets[bucket(table, request->task.token)];

	request->next_alike = *first;
	*first = request;
}

static void
grow(struct request_table *table)
{
	struct request_table former = *table;
	struct request *request, *next;
	size_t i;

	table->size *= 2;
	table->buckets = xcalloc(table->size, sizeof(table->buckets[0]));
	for (i = 0; i < former.size; i++)
		for (request = former.buckets[i]; request != NULL;
		     request = next) {
			next = request->next_alike;
			insert(table, request);
		}
	free(former.buckets);
}

void
request_table_init(struct request_table *table, const char *label)
{
	*table = (struct request_table){ .size = FIRST_SIZE, .label = label };
	table->buckets = xcalloc(table->size, sizeof(table->buckets[0]));
}

/* Free the request; it is no longer in the table. */
static void
destroy(struct request *request)
{
	request_list_remove(request);
	if (request->run != NULL)
		request->transport->free(request->run);
	buf_release(&request->body);
	filled_release(&request->filled);
	free(request->cause);
	output_release(&request->output);
	free(request);
}

void
request_table_release(struct request_table *table)
{
	struct request *request, *next;
	size_t i;

	for (i = 0; i < table->size; i++)
		for (request = table->buckets[i]; request != NULL;
		     request = next) {
			next = request->next_alike;
			destroy(request);
		}
	free(table->buckets);
}

struct request *
request_find(const struct request_table *table, const char *token)
{
	struct request *request = table->buckets[bucket(table, token)];

	while (request != NULL && strcmp(request->task.token, token) != 0)
		request = request->next_alike;
	return request;
}

void
request_each(const struct request_table *table,
    void (*fn)(struct request *request, void *arg), void *arg)
{
	struct request *request;
	size_t i;

	for (i = 0; i < table->size; i++)
		for (request = table->buckets[i]; request != NULL;
		     request = request->next_alike)
			fn(request, arg);
}

/* Requests ----------------------------------------------------------------- */

/* Copy `len` bytes and a NUL to `*to`, which moves on behind them. */
static const char *
put(char **to, const char *from, size_t len)
{
	char *start = *to;

	memcpy(start, from, len);
	start[len] = '\0';
	*to += len + 1;
	return start;
}

bool
request_holds_slot(const struct request *request)
{
	return request->transport == NULL || !request->transport->instant;
}

/*
 * The slots of the transport, in its place or a free one; NULL: no place is
 * free.
 */
static size_t *
held(struct request_table *table, const struct transport *transport)
{
	size_t i;

	for (i = 0; i < TRANSPORTS_MOST; i++) {
		if (table->held[i].transport == NULL)
			table->held[i].transport = transport;
		if (table->held[i].transport == transport)
			return &table->held[i].slots;
	}
	return NULL;
}

/* The request takes a slot (1) or gives it back (-1), if it needs one. */
static void
hold_slot(
    struct request_table *table, const struct request *request, int change)
{
	size_t *slots;

	if (!request_holds_slot(request))
		return;
	table->slots += (size_t)change;
	slots =
	    request->transport != NULL ? held(table, request->transport) : NULL;
	if (slots != NULL)
		*slots += (size_t)change;
}

size_t
request_table_held(
    const struct request_table *table, const struct transport *transport)
{
	size_t i;

	for (i = 0; i < TRANSPORTS_MOST; i++)
		if (table->held[i].transport == transport)
			return table->held[i].slots;
	return 0;
}

struct request *
request_new(struct request_table *table, const struct workspace_row *row,
    const struct transports *transports)
{
	const char *places = row->secrets != NULL ? row->secrets : "";
	const char *role = row->run_as != NULL ? row->run_as : "";
	const char *workflow = row->workflow != NULL ? row->workflow : "";
	size_t secrets = strlen(places), run_as = strlen(role);
	size_t token = strlen(row->token), trace = strlen(row->trace_id),
	       name = strlen(row->request), type = strlen(row->type),
	       whose = strlen(workflow);
	/* one allocation: the strings stand behind the struct */
	struct request *request =
	    xmalloc(sizeof(*request) + token + trace + name + type + whose +
	            row->args_len + secrets + run_as + 8);
	char *end = (char *)(request + 1);

	*request = (struct request){
		.task = {
			.instance_id = row->instance_id,
			.process_id = row->process_id,
			.attempt = row->attempt,
			.token = put(&end, row->token, token),
			.trace_id = put(&end, row->trace_id, trace),
			.request = put(&end, row->request, name),
			.type = put(&end, row->type, type),
			.workflow = put(&end, workflow, whose),
			.args = put(&end, row->args, row->args_len),
			.args_len = row->args_len,
			.secrets = row->secrets != NULL
			               ? put(&end, places, secrets)
			               : NULL,
			.run_as = row->run_as != NULL
			              ? put(&end, role, run_as)
			              : NULL,
			.timeout_ms = row->timeout_ms,
			.workspace = table->label,
		},
		.needs_ack = row->needs_ack,
		.state = REQUEST_TAKEN,
	};
	buf_init(&request->body, 0);
	filled_init(&request->filled);
	output_init(&request->output, NULL, NULL);
	request->transport = transports_find(
	    transports, row->transport, &request->transport_state);
	if (table->count >= table->size)
		grow(table);
	insert(table, request);
	table->count++;
	table->active++;
	hold_slot(table, request, 1);
	return request;
}

int
request_failures_alone(const struct request *request)
{
	return request->failures - FAILURES_AMONG_OTHERS;
}

/* Count that the request is over, unless it was OVER before. */
static void
end_active(struct request_table *table, const struct request *request)
{
	if (request->state == REQUEST_OVER)
		return;
	table->active--;
	hold_slot(table, request, -1);
}

void
request_free(struct request_table *table, struct request *request)
{
	struct request **place =
	    &table->buckets[bucket(table, request->task.token)];

	while (*place != request)
		place = &(*place)->next_alike;
	*place = request->next_alike;
	table->count--;
	end_active(table, request);
	destroy(request);
}

void
request_set_state(struct request_table *table, struct request *request,
    enum request_state state)
{
	if (state == REQUEST_OVER)
		end_active(table, request);
	request->state = state;
	LOG_TASK(LOG_LEVEL_DEBUG, &request->task, "%s of %s is %s",
	    request->task.request, request->task.type, state_names[state]);
}
