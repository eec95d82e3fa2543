#include "driver/transport/http/request_headers.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "driver/transport/http/args.h"
#include "driver/transport/transport.h"
#include "runtime/random.h"

enum {
	TRACE_DIGITS = 32, /* of a uuid, without its dashes */
};

/*
 * The key is the same for every attempt, and differs for each kind of request.
 */
static char *
idempotency_key(const struct task *task)
{
	bool start = strcmp(task->request, "start") == 0;

	return xasprintf("Idempotency-Key: %s-%lld%s%s", task->trace_id,
	    (long long)task->process_id, start ? "" : "-",
	    start ? "" : task->request);
}

/*
 * https://www.w3.org/TR/trace-context/: the trace is the instance, the span is
 * this very request.
 */
static char *
traceparent(const struct task *task)
{
	char trace[TRACE_DIGITS + 1] = "", span[RANDOM_NONCE];
	const char *digit;
	size_t count = 0;

	for (digit = task->trace_id; *digit != '\0'; digit++)
		if (*digit != '-' && count < TRACE_DIGITS)
			trace[count++] = *digit;
	random_nonce(span);
	return xasprintf("traceparent: 00-%s-%.16s-01", trace, span);
}

void
http_names_init(struct http_names *names, const struct task *task,
    const struct http_args *args)
{
	char **line = names->lines;

	if (!http_args_have_header(args, "Idempotency-Key"))
		*line++ = idempotency_key(task);
	if (!http_args_have_header(args, "traceparent"))
		*line++ = traceparent(task);
	*line = NULL;
}

void
http_names_release(struct http_names *names)
{
	char **line;

	for (line = names->lines; *line != NULL; line++)
		free(*line);
}
