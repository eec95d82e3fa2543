/*
 * aside.h - a call that waits, made by a thread of its own.
 *
 * For what libraries offer in no other way: the loop goes on meanwhile.  The
 * thread has its data to itself, and nothing else.
 */
#ifndef DRIVER_ASIDE_H
#define DRIVER_ASIDE_H

struct aside;
struct error;
struct loop;

struct aside_call {
	void (*run)(void *data);     /* in the thread */
	void (*release)(void *data); /* when nobody needs it any more */
};

/*
 * Have `call->run` called with `data`, which is the aside's from then on;
 * `done` comes from the loop when it has returned.  NULL with `err` set if
 * there was no thread or no descriptor to be had: the data are released.
 */
struct aside *aside_start(struct loop *loop, const struct aside_call *call,
    void *data, void (*done)(void *arg), void *arg, struct error *err);

/* No call comes after it; what still runs ends unheard.  NULL is allowed. */
void aside_free(struct aside *aside);

#endif
