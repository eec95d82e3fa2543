/*
 * transport.h - the one interface that every way of doing a request has.
 *
 * A transport carries one request to exactly one outcome.  It knows the loop
 * and common/; it knows neither the workspace nor the scheduler, and they
 * know nothing of HTTP or SSH.
 *
 * To add one: copy builtin.c, add a line to transports.c, a row to
 * docs/transports.md and a test.
 */
#ifndef DRIVER_TRANSPORT_TRANSPORT_H
#define DRIVER_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;
struct config_workspace;
struct error;
struct loop;
struct outcome;
struct output;
struct secrets;

enum {
	TRANSPORTS_MOST = 8, /* that there may be */
};

/* The request.  Borrowed; it outlives the run. */
struct task {
	int64_t instance_id;
	int64_t process_id;
	int attempt;          /* 1 for the first */
	const char *token;    /* of the lease, a uuid */
	const char *trace_id; /* of the instance, a uuid */
	const char *request;  /* "start", "poll", "cancel" or "cleanup" */
	const char *type;     /* of the task, for messages */
	const char *args;     /* a JSON object, evaluated */
	size_t args_len;
	const char *secrets;  /* where in args some go; NULL: nowhere */
	const char *workflow; /* whose task it is; "" if there are no secrets */
	const char *run_as;   /* the role of a SQL task; NULL: the usual one */
	int64_t timeout_ms;   /* 0: the transport's own limit */
	const char *workspace; /* the name that log lines give it; "": none */

	/* Where a program's streams go as they come; NULL: nowhere. */
	struct output *output;
};

/* For log lines about it. */
#define TASK_ABOUT(of) \
	(&(struct log_about){ \
	    .workspace = (of)->workspace, \
	    .instance_id = (of)->instance_id, \
	    .process_id = (of)->process_id, \
	    .attempt = (of)->attempt, \
	    .task = (of)->type, \
	})
#define LOG_TASK(level, of, ...) log_about(level, TASK_ABOUT(of), __VA_ARGS__)

/* One request under way; each transport has its own. */
struct run;

/* The outcome is the callee's from then on. */
typedef void transport_done_fn(void *arg, struct outcome *outcome);

struct transport {
	const char *name; /* as task types name it */
	bool instant;     /* what begins is over at once, and needs no slot */

	/*
	 * Set up, once.  `*state` is given to start() and close().  False and
	 * `err` untouched: not offered here; false and `err` set: the
	 * configuration is wrong.
	 */
	bool (*open)(struct loop *loop, const struct config *config,
	    void **state, struct error *err);

	/*
	 * A state of its own for each workspace, in place of the one of open():
	 * NULL if it is not offered there.  `workspace` is borrowed until
	 * detach().  Both NULL: the workspaces share it.
	 */
	void *(*attach)(void *state, const struct config_workspace *workspace);
	void (*detach)(void *state);

	/*
	 * The driver has lost its connection to the workspace, or got it back.
	 * NULL for those who don't mind.
	 */
	void (*connected)(void *state, bool connected);

	/*
	 * What a request will speak to, as in secret_grant.h; for the caller to
	 * free().  NULL with `err` set: the arguments are wrong.  It is asked if
	 * there are secrets in them.  Without it: the transport's name and "://".
	 */
	char *(*destination)(const struct task *task, struct error *err);

	/*
	 * Begin.  Never waits.  `done` comes exactly once, from the loop and
	 * never before start() has returned, not even after cancel().  NULL with
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
	 * The configuration may become `fresh`.  prepare() makes in `*prepared`
	 * what the transport needs for it, and changes nothing else.  False and
	 * `err` set: `fresh` is wrong, and nothing was made.  Then comes either
	 * commit(), which cannot fail, or discard(); both take `prepared` over.
	 * `fresh` is not kept.  prepare() and discard() are NULL together: then
	 * `prepared` is NULL.  commit() is NULL if nothing needs to change.
	 */
	bool (*prepare)(void *state, const struct config *fresh,
	    void **prepared, struct error *err);
	void (*commit)(void *state, void *prepared);
	void (*discard)(void *prepared);

	void (*close)(void *state);
};

/* The transports that are set up, by name. */
struct transports;

/* NULL with `err` set if one cannot be. */
struct transports *transports_open(
    struct loop *loop, const struct config *config, struct error *err);
void transports_close(struct transports *transports);

/*
 * Those that a workspace has, for as long as `transports`, which stays open,
 * and `workspace` live.
 */
struct transports *transports_attach(const struct transports *transports,
    const struct config_workspace *workspace);
void transports_detach(struct transports *transports);

/* Tell each of them that the workspace is there, or is not. */
void transports_connected(const struct transports *transports, bool connected);

/*
 * Make all of them ready for `fresh`.  False with `err` set if one of them
 * cannot take it: then none of them has changed.
 */
bool transports_reload(struct transports *transports,
    const struct config *fresh, struct error *err);

/* What requests may be filled with. */
const struct secrets *transports_secrets(const struct transports *transports);

/* Their names, in order: NULL behind the last. */
const char *transports_name(const struct transports *transports, size_t i);

/* NULL if it is not set up; `*state` is what start() wants. */
const struct transport *transports_find(
    const struct transports *transports, const char *name, void **state);

extern const struct transport transport_builtin;
extern const struct transport transport_exec;
extern const struct transport transport_http;
extern const struct transport transport_sql;
extern const struct transport transport_ssh;

#endif
