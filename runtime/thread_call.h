/*
 * thread_call.h - a call that waits, made by a thread of its own.
 *
 * For what libraries offer in no other way: the loop goes on meanwhile.  The
 * thread has its data to itself, and nothing else.
 */
#ifndef RUNTIME_THREAD_CALL_H
#define RUNTIME_THREAD_CALL_H

struct thread_call;
struct error;
struct loop;

struct thread_call_type {
	void (*run)(void *data);     /* in the thread */
	void (*release)(void *data); /* when nobody needs it any more */
};

/*
 * Have `type->run` called with `data`, which is the thread call's from then on;
 * `done` comes from the loop when it has returned.  NULL with `err` set if
 * there was no thread or no descriptor to be had: the data are released.
 */
struct thread_call *thread_call_start(struct loop *loop,
    const struct thread_call_type *type, void *data, void (*done)(void *arg),
    void *arg, struct error *err);

/* No call comes after it; what still runs ends unheard.  NULL is allowed. */
void thread_call_free(struct thread_call *call);

#endif
