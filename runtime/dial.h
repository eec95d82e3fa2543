/*
 * dial.h - the way to a server: the hosts of a connection string, tried one
 * after another.
 *
 * Each has a deadline of its own, so one that does not answer costs no more
 * than that; a name with several addresses is tried at each of them.  What
 * libpq asks of a server (target_session_attrs) counts for each by itself.
 * The last host that was good is tried first.
 */
#ifndef RUNTIME_DIAL_H
#define RUNTIME_DIAL_H

struct dial;
struct error;
struct loop;
struct pg;

struct dial_events {
	/* There is a connection; it is the callee's. */
	void (*connected)(void *arg, struct pg *pg);

	/* All hosts were tried in vain; `err` has what each of them said. */
	void (*failed)(void *arg, const struct error *err);
};

/*
 * `conninfo`, `user` (NULL: as `conninfo` says) and `program` (application_name)
 * are borrowed for its life.
 */
struct dial *dial_new(struct loop *loop, const char *conninfo, const char *user,
    const char *program, const struct dial_events *events, void *arg);

/* No event comes after it.  NULL is allowed. */
void dial_free(struct dial *dial);

/*
 * Try all hosts once.  One event comes, from the loop or from within, so this
 * is for the loop's callbacks only.  No dial may be under way.
 */
void dial_start(struct dial *dial);

/* Give up a dial that is under way, if there is one, without an event. */
void dial_stop(struct dial *dial);

/* Go on behind the host that answered, which turned out not to be usable. */
void dial_avoid(struct dial *dial);

#endif
