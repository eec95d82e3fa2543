/*
 * transport.h - the interface that every way of doing a request has.
 *
 * A transport brings one request to exactly one outcome.  It uses the loop and
 * common/.  It does not know the workspace or the scheduler, and these two do
 * not know HTTP or SSH.
 *
 * To add a transport: copy builtin.c, add a line to transports.c, a row to
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
	const char *secrets;   /* where secrets go in args; NULL: nowhere */
	const char *workflow;  /* of the task; "" if there are no secrets */
	const char *run_as;    /* the role of a SQL task; NULL: the usual one */
	int64_t timeout_ms;    /* 0: the transport's own limit */
	const char *workspace; /* its name in log lines; "": none */

	/* Gets a program's streams as they come; NULL: nobody wants them. */
	struct output *output;
};

/* For log lines about a task. */
#define TASK_ABOUT(of) \
	(&(struct log_about){ \
	    .workspace = (of)->workspace, \
	    .instance_id = (of)->instance_id, \
	    .process_id = (of)->process_id, \
	    .attempt = (of)->attempt, \
	    .task = (of)->type, \
	})
#define LOG_TASK(level, of, ...) log_about(level, TASK_ABOUT(of), __VA_ARGS__)

/* One request under way; each transport defines its own struct. */
struct run;

/* The callee owns the outcome from then on. */
typedef void transport_done_fn(void *arg, struct outcome *outcome);

struct transport {
	const char *name; /* as task types name it */
	bool instant;     /* a request is over at once and needs no slot */

	/*
	 * Set the transport up, once.  start() and close() get `*state`.  False
	 * and `err` untouched: the transport is not offered here.  False and
	 * `err` set: the configuration is wrong.
	 */
	bool (*open)(struct loop *loop, const struct config *config,
	    void **state, struct error *err);

	/*
	 * Make a state for one workspace, which start() gets in place of the
	 * state of open().  NULL: the transport is not offered there.
	 * `workspace` is borrowed until detach().  If both functions are NULL,
	 * the workspaces share the state of open().
	 */
	void *(*attach)(void *state, const struct config_workspace *workspace);
	void (*detach)(void *state);

	/*
	 * The driver has lost its connection to the workspace, or got it back.
	 * NULL if the transport does not need to know.
	 */
	void (*connected)(void *state, bool connected);

	/*
	 * The destination of a request, as in secret/grant.h; the caller must
	 * free() it.  NULL with `err` set: the arguments are wrong.  It is
	 * called if there are secrets in the arguments.  If the function is
	 * NULL, the destination is the transport's name and "://".
	 */
	char *(*destination)(const struct task *task, struct error *err);

	/*
	 * Begin a request; never wait.  The loop calls `done` exactly once,
	 * after cancel() too, but never before start() has returned.  NULL with
	 * `err` set: the arguments are wrong, nothing was begun and `done` does
	 * not come.
	 */
	struct run *(*start)(void *state, const struct task *task,
	    transport_done_fn *done, void *arg, struct error *err);

	/* Ask for an early end.  `done` still comes, with any outcome. */
	void (*cancel)(struct run *run);

	/* Release the run, after `done` or before; stop it if it runs. */
	void (*free)(struct run *run);

	/*
	 * The configuration may become `fresh`.  prepare() makes in `*prepared`
	 * the data that the transport needs for it, and changes nothing else.
	 * False and `err` set: `fresh` is wrong, and nothing was made.  Then
	 * comes either commit(), which cannot fail, or discard(); both take
	 * `prepared` over.  `fresh` is not kept.  prepare() and discard() are
	 * NULL together: then `prepared` is NULL.  commit() is NULL if nothing
	 * needs to change.
	 */
	bool (*prepare)(void *state, const struct config *fresh,
	    void **prepared, struct error *err);
	void (*commit)(void *state, void *prepared);
	void (*discard)(void *prepared);

	void (*close)(void *state);
};

/* The transports that are set up, by name. */
struct transports;

/* NULL with `err` set if opening one fails. */
struct transports *transports_open(
    struct loop *loop, const struct config *config, struct error *err);
void transports_close(struct transports *transports);

/*
 * The transports of one workspace.  `transports` must stay open and `workspace`
 * must live until they are detached.
 */
struct transports *transports_attach(const struct transports *transports,
    const struct config_workspace *workspace);
void transports_detach(struct transports *transports);

/* Tell each transport that the workspace is connected, or is not. */
void transports_connected(const struct transports *transports, bool connected);

/*
 * Change all transports to `fresh`.  If one of them cannot take it: false with
 * `err` set, and none of them has changed.
 */
bool transports_reload(struct transports *transports,
    const struct config *fresh, struct error *err);

/* The secrets that requests may be filled with. */
const struct secrets *transports_secrets(const struct transports *transports);

/* The name of transport `i`, in order; NULL behind the last. */
const char *transports_name(const struct transports *transports, size_t i);

/* NULL if the transport is not set up; start() needs `*state`. */
const struct transport *transports_find(
    const struct transports *transports, const char *name, void **state);

extern const struct transport transport_builtin;
extern const struct transport transport_exec;
extern const struct transport transport_http;
extern const struct transport transport_sql;
extern const struct transport transport_ssh;

#endif
