#include "driver/metrics.h"

#include <stdio.h>

#include "common/buf.h"
#include "common/log.h"
#include "driver/secret/redact.h"
#include "runtime/loop.h"

enum {
	EVERY_MS = 10000,
};

#define METRIC_NAME(name, text) [METRIC_##name] = (text),
static const char *const names[] = { METRICS(METRIC_NAME) };
#undef METRIC_NAME

static const char *const ends[] = {
	[METRICS_RESPONSE] = "responses",
	[METRICS_ERROR] = "errors",
	[METRICS_RECORDED] = "recorded",
	[METRICS_RELEASED] = "released",
};

void
metrics_add(struct metrics *metrics, enum metric metric)
{
	metrics->counts[metric]++;
	if (metric != METRIC_POLLS)
		metrics->is_news = true;
}

void
metrics_end(struct metrics *metrics, const struct transport *transport,
    enum metrics_end end, int64_t ms)
{
	struct metrics_transport *place = metrics->transports;
	int64_t span = 1;
	int i;

	if (transport == NULL)
		return;
	/* there is a place for every transport */
	while (place->name != NULL && place->name != transport->name)
		place++;
	place->name = transport->name;
	metrics->is_news = true;
	place->ends[end]++;
	if (ms < 0)
		return;
	place->total_ms += (uint64_t)ms;
	for (i = 0; i < METRICS_SPANS; i++, span *= 10)
		if (ms <= span)
			place->within[i]++;
}

static void
add(struct buf *json, const char *first, const char *second, uint64_t value)
{
	buf_addf(json, "%s\"%s%s\": %llu",
	    json->data[json->len - 1] == '{' ? "" : ", ", first, second,
	    (unsigned long long)value);
}

static void
add_transport(struct buf *json, const struct metrics_transport *transport)
{
	char name[64], span[32];
	long long ms = 1;
	int i;

	(void)snprintf(name, sizeof(name), "%s.", transport->name);
	for (i = 0; i < METRICS_ENDS; i++)
		add(json, name, ends[i], transport->ends[i]);
	add(json, name, "total_ms", transport->total_ms);
	for (i = 0; i < METRICS_SPANS; i++, ms *= 10) {
		(void)snprintf(span, sizeof(span), "within_%lld_ms", ms);
		add(json, name, span, transport->within[i]);
	}
}

static void
add_all(const struct metrics *metrics, struct buf *json)
{
	struct loop_lag lag = loop_lag(metrics->loop);
	int i;

	buf_addc(json, '{');
	for (i = 0; i < METRIC_COUNT; i++)
		add(json, names[i], "", metrics->counts[i]);
	for (i = 0; i < TRANSPORTS_MOST; i++)
		if (metrics->transports[i].name != NULL)
			add_transport(json, &metrics->transports[i]);
	add(json, "loop.", "passes", lag.passes);
	add(json, "loop.", "over_10_ms", lag.over_10_ms);
	add(json, "loop.", "over_100_ms", lag.over_100_ms);
	add(json, "loop.", "over_1000_ms", lag.over_1000_ms);
	add(json, "loop.", "longest_ms", (uint64_t)lag.longest_ms);
	add(json, "", "redactions", redact_count());
	buf_addc(json, '}');
}

void
metrics_write(struct metrics *metrics, struct buf *json)
{
	metrics->due = metrics->is_news = false;
	add_all(metrics, json);
}

void
metrics_tell(struct metrics *metrics, const char *label)
{
	struct buf json;

	buf_init(&json, 0);
	add_all(metrics, &json);
	LOG_IN(LOG_LEVEL_INFO, label, "counters: %s", json.data);
	buf_release(&json);
	metrics_hurry(metrics);
}

/* When the counters are due ------------------------------------------------ */

void
metrics_hurry(struct metrics *metrics)
{
	loop_timer_set(metrics->loop, &metrics->timer, EVERY_MS);
	metrics->due = true;
	metrics->changed(metrics->arg);
}

static void
on_due(void *arg)
{
	struct metrics *metrics = arg;

	if (metrics->is_news)
		metrics_hurry(metrics);
	else
		loop_timer_set(metrics->loop, &metrics->timer, EVERY_MS);
}

void
metrics_init(struct metrics *metrics, struct loop *loop,
    void (*changed)(void *arg), void *arg)
{
	*metrics = (struct metrics){
		.loop = loop,
		.changed = changed,
		.arg = arg,
	};
	metrics->timer.fn = on_due;
	metrics->timer.arg = metrics;
	loop_timer_set(loop, &metrics->timer, EVERY_MS);
}

void
metrics_release(struct metrics *metrics)
{
	loop_timer_stop(metrics->loop, &metrics->timer);
}
