/*
 * transport.h - the one interface that every way of doing a request has.
 *
 * A transport carries one request to exactly one outcome.  It knows the loop
 * and common/; it knows neither the workspace nor the scheduler, and they
 * know nothing of HTTP or SSH.
 *
 * To add one: copy transport_builtin.c, add a line to transports.c, a row to
 * docs/transports.md and a test.
 */
#ifndef DRIVER_TRANSPORT_H
#define DRIVER_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;
struct error;
struct loop;
struct outcome;

/* What is to be done.  Borrowed; it outlives the run. */
struct task {
	int64_t instance_id;
	int64_t process_id;
	int attempt;         /* 1 for the first */
	const char *token;   /* of the lease, a uuid */
	const char *request; /* "start", "poll", "cancel" or "cleanup" */
	const char *type;    /* of the task, for messages */
	const char *args;    /* a JSON object, evaluated */
	size_t args_len;
	int64_t timeout_ms; /* 0: the transport's own limit */
};

/* One request under way; each transport has its own. */
struct run;

/* The outcome is the callee's from then on. */
typedef void transport_done_fn(void *arg, struct outcome *outcome);

struct transport {
	const char *name; /* as task types name it */

	/*
	 * Set up, once.  `*state` is given to start() and close().  False and
	 * `err` untouched: not offered here; false and `err` set: the
	 * configuration is wrong.
	 */
	bool (*open)(struct loop *loop, const struct config *config,
	    void **state, struct error *err);

	/*
	 * Begin.  Never waits.  `done` comes exactly once, from the loop and
	 * never before start() has returned, be it after cancel().  NULL with
	 * `err` set: the arguments are wrong, nothing was begun and `done`
	 * does not come.
	 */
	struct run *(*start)(void *state, const struct task *task,
	    transport_done_fn *done, void *arg, struct error *err);

	/* Ask for an early end.  `done` still comes, with whatever it was. */
	void (*cancel)(struct run *run);

	/* Release it: after `done`, or instead of it (what runs is stopped). */
	void (*free)(struct run *run);

	/*
	 * The configuration is about to become `fresh`: prepare what depends on
	 * it.  False and `err` set: it is wrong, all stays as it was.  NULL if
	 * nothing needs to be prepared; `fresh` is not kept.
	 */
	bool (*reload)(
	    void *state, const struct config *fresh, struct error *err);

	void (*close)(void *state);
};

/* The transports that are set up, by name. */
struct transports;

/* NULL with `err` set if one cannot be. */
struct transports *transports_open(
    struct loop *loop, const struct config *config, struct error *err);
void transports_close(struct transports *transports);

/* Reload each of them, up to one that fails. */
bool transports_reload(struct transports *transports,
    const struct config *fresh, struct error *err);

/* Their names, in order: NULL behind the last. */
const char *transports_name(const struct transports *transports, size_t i);

/* NULL if it is not set up; `*state` is what start() wants. */
const struct transport *transports_find(
    const struct transports *transports, const char *name, void **state);

extern const struct transport transport_builtin;
extern const struct transport transport_http;
extern const struct transport transport_sql;
extern const struct transport transport_ssh;

#endif
