/*
 * reports.h - the reports of one turn, packed for wf.outcome().
 */
#ifndef DRIVER_REPORTS_H
#define DRIVER_REPORTS_H

#include <stdbool.h>
#include <stdint.h>

struct reports;
struct request;
struct request_list;
struct request_table;
struct session;

/* The packing material; it is used again and again. */
struct reports *reports_new(void);
void reports_free(struct reports *reports);

/*
 * Take fresh output of requests, as much as a turn can carry; true: there is
 * more.
 */
bool reports_add_output(
    struct reports *reports, const struct request_table *table);

/*
 * Which turn carries reports of the request's instance, or of one that can't be
 * told from it: its number; 0: none does.  Another turn would find the instance
 * held by that one.
 */
int reports_carrier(
    const struct reports *reports, const struct request *request);

/* Move one to those that turn `number` carries; its instance is that turn's. */
void reports_carry(struct reports *reports, int number, struct request *request,
    struct request_list *carried);

/*
 * As many as one turn can carry from `due`, oldest first; none is another's.
 * Those of instances that somebody holds go with each other, and do not wait.
 */
void reports_carry_due(struct reports *reports, int number,
    struct request_list *due, struct request_list *carried);

/* The workspace was too busy for it: somebody holds its instance. */
void reports_hold(struct reports *reports, const struct request *request);

/* The turn that carried them has ended: their instances are nobody's. */
void reports_end(struct reports *reports, const struct request_list *carried);

/*
 * Add the call of wf.outcome() with what is carried to the session's batch,
 * behind that of wf.output_add() with their output and what was taken before.
 * Nothing carried: no call.  `alone`: they are the only ones of their sort, so
 * that they may wait for their instance a little, and how often that has failed
 * is the first one's.  True: there is a call of output_add().
 */
bool reports_send(struct reports *reports, struct session *session,
    int64_t driver, const struct request_list *carried, bool alone);

#endif
