/*
 * workspace.h - the procedures of the workspace that a driver calls.
 *
 * All SQL that the scheduler needs.  Each procedure has a C function of its name,
 * which adds the call to the batch of a session.  If the procedure returns rows, a
 * second function reads them from the answer.
 */
#ifndef DRIVER_WORKSPACE_H
#define DRIVER_WORKSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct pg_array;
struct pg_result;
struct load;
struct session;
struct session_answer;

/* wf.greet(): fails with WF011 if the workspace can't work with this driver. */
void workspace_greet(struct session *session);

/*
 * The arguments of wf.register().  `previous` is the former number of this driver
 * (0: it had none).  `tokens` are those of the requests that it still holds under
 * that number.  `marks` are the last marks of poll() in each of its sessions.
 */
struct workspace_driver {
	const char *name;
	const char *version;
	const struct pg_array *transports; /* of text */
	const struct pg_array *queues;     /* of text */
	int64_t slots;
	int64_t previous;
	const struct pg_array *tokens;       /* of uuid */
	const struct pg_array *capabilities; /* of text */
	const struct pg_array *marks;        /* of text */
};

void workspace_register(
    struct session *session, const struct workspace_driver *driver);

/* The driver's number. */
int64_t workspace_registered(const struct pg_result *result);

/* wf.outcome(): arrays of one length, an element per report. */
struct workspace_reports {
	const struct pg_array *instances; /* of bigint */
	const struct pg_array *processes; /* of bigint */
	const struct pg_array *tokens;    /* of uuid */
	const struct pg_array *events;    /* of text */
	const struct pg_array *bodies;    /* of bytea */
	int64_t patience_ms; /* to wait for an instance that is held */
	int64_t failures;    /* in a row, of turns with these alone */
	const char *cause;   /* of the last of these failures, or NULL */
};

void workspace_outcome(struct session *session, int64_t driver,
    const struct workspace_reports *reports);

/* The strings live as long as the result. */
struct workspace_answer {
	const char *token;
	const char *answer; /* "done", "already", "stale", "late" or "busy" */
};

struct workspace_answer workspace_answered(
    const struct pg_result *result, int row);

/* wf.output_add(): arrays of one length, an element per piece of output. */
struct workspace_output {
	const struct pg_array *instances; /* of bigint */
	const struct pg_array *processes; /* of bigint */
	const struct pg_array *tokens;    /* of uuid */
	const struct pg_array *starts;    /* of bigint */
	const struct pg_array *sizes;     /* of bigint */
	const struct pg_array *streams;   /* of text */
	const struct pg_array *bodies;    /* of text */
};

void workspace_output_add(
    struct session *session, const struct workspace_output *output);

/*
 * wf.poll(): ask for as many requests as `want` says: requests of any
 * transport, requests of a transport that has slots of its own, and instant
 * requests.
 */
void workspace_poll(
    struct session *session, int64_t driver, const struct load *want);

enum workspace_kind {
	WORKSPACE_RUN,  /* do this request */
	WORKSPACE_STOP, /* stop the one with this token */
	WORKSPACE_WORK, /* call workspace_work() */
	WORKSPACE_NEXT, /* the last row: poll again after wait_ms */
	WORKSPACE_BUSY, /* also the last row: poll did not look, others work */
};

/* A row of poll's answer; the strings live as long as the result. */
struct workspace_row {
	enum workspace_kind kind;
	int64_t instance_id;
	int64_t process_id;
	int attempt;
	const char *token;
	const char *trace_id;
	const char *request;
	bool needs_ack;
	const char *transport;
	const char *type;
	const char *args;
	size_t args_len;
	const char *secrets;  /* where in args they go; NULL: none */
	const char *workflow; /* if there are secrets, else NULL */
	int64_t timeout_ms;   /* 0: none given */
	int64_t wait_ms;
	const char *run_as; /* the role of a SQL task; NULL: the usual one */
	const char *mark;   /* of NEXT: the turn's work; NULL: nothing */
};

struct workspace_row workspace_polled(const struct pg_result *result, int row);

/*
 * wf.work(): do one piece of work that takes long or has failed before, in a
 * transaction of its own.  `item`: the piece that the last call named; 0: none.
 * `failed`: a poll did not come to its end.
 */
void workspace_work(struct session *session, int64_t item, bool failed);

/* The next piece; 0: nothing is due. */
int64_t workspace_worked(const struct pg_result *result);

/* wf.counters_set(): `counters` is a JSON object, as metrics_write() has it. */
void workspace_counters_set(
    struct session *session, int64_t driver, const char *counters);

/* wf.heartbeat(), wf.drain(), wf.leave() */
void workspace_heartbeat(struct session *session, int64_t driver);
void workspace_drain(struct session *session, int64_t driver);
void workspace_leave(struct session *session, int64_t driver);

/*
 * Begin a session, with limits for the statements that the server runs for it.
 * `listens`: the server notifies it when there is work.  The notification is a hint,
 * and some poolers do not hand it on.
 */
void workspace_open(struct session *session, bool listens);

/*
 * The timeline of the server, from the answer.  The server that was promoted
 * last has the highest timeline.  0: the server is a standby.
 */
int64_t workspace_opened(const struct session_answer *answer);

/*
 * Connect to `conninfo` and check that a workspace is there, that its version
 * fits and that we may use it.  Waits.  `label` is its name in log lines.
 */
bool workspace_check(
    const char *label, const char *conninfo, struct error *err);

/* How the operator can repair a common failure; NULL: unknown. */
const char *workspace_advice(const char *sqlstate);

#endif
