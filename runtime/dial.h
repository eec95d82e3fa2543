/*
 * dial.h - connecting to a server: the hosts of a connection string, tried one
 * after another.
 *
 * Each host has a deadline of its own, so a host that does not answer costs no
 * more than that.  If a name has several addresses, each of them is tried.
 * libpq's conditions for a server (target_session_attrs) apply to each host by
 * itself.  The last host that was good is tried first.
 */
#ifndef RUNTIME_DIAL_H
#define RUNTIME_DIAL_H

struct dial;
struct error;
struct loop;
struct pg;

struct dial_events {
	/* The connection stands; the callee owns it. */
	void (*connected)(void *arg, struct pg *pg);

	/* All hosts were tried in vain; `err` has the error of each of them. */
	void (*failed)(void *arg, const struct error *err);
};

/*
 * `conninfo`, `user` (NULL: as in `conninfo`) and `program` (application_name)
 * are borrowed until dial_free().
 */
struct dial *dial_new(struct loop *loop, const char *conninfo, const char *user,
    const char *program, const struct dial_events *events, void *arg);

/* No event comes after this.  NULL is allowed. */
void dial_free(struct dial *dial);

/*
 * Try all hosts once.  One event comes, from the loop or during this call, so
 * call it from the loop's callbacks only.  No dial may be under way.
 */
void dial_start(struct dial *dial);

/* Give up a dial that is under way, if there is one, without an event. */
void dial_stop(struct dial *dial);

/*
 * The host that answered turned out not to be usable: begin with the next one.
 */
void dial_avoid(struct dial *dial);

#endif
