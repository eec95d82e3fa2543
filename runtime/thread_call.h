/*
 * thread_call.h - a call that waits, made by a thread of its own.
 *
 * It is for calls that libraries offer in no other way; the loop goes on
 * meanwhile.  The thread has its data to itself, and uses nothing else.
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
 * Have a thread call `type->run` with `data`, which the thread call takes over.
 * `done` comes from the loop when `run` has returned.  NULL with `err` set if
 * no thread or no descriptor was free: the data are released.
 */
struct thread_call *thread_call_start(struct loop *loop,
    const struct thread_call_type *type, void *data, void (*done)(void *arg),
    void *arg, struct error *err);

/*
 * `done` does not come after this; a thread that still runs ends unheard.  NULL
 * is allowed.
 */
void thread_call_free(struct thread_call *call);

#endif
