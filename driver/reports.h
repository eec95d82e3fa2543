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

/* The memory for packing; every turn uses it again. */
struct reports *reports_new(void);
void reports_free(struct reports *reports);

/*
 * Take fresh output of requests, as much as a turn can carry.  True: there is
 * more.
 */
bool reports_add_output(
    struct reports *reports, const struct request_table *table);

/*
 * The number of the turn that carries reports of the request's instance, or of
 * an instance in the same place; 0: none does.  For another turn the instance
 * would be held by that turn.
 */
int reports_carrier(
    const struct reports *reports, const struct request *request);

/*
 * Move a report to `carried`, the list of turn `number`.  The instance is that
 * turn's from then on.
 */
void reports_carry(struct reports *reports, int number, struct request *request,
    struct request_list *carried);

/*
 * Move as many reports from `due` as one turn can carry, oldest first.  No
 * other turn may carry their instances.  Reports of instances that somebody
 * holds go together, and do not wait.
 */
void reports_carry_due(struct reports *reports, int number,
    struct request_list *due, struct request_list *carried);

/* The workspace was too busy for the report: somebody holds its instance. */
void reports_hold(struct reports *reports, const struct request *request);

/* The turn that carried the reports has ended: it gives up their instances. */
void reports_end(struct reports *reports, const struct request_list *carried);

/*
 * Add the call of wf.outcome() to the session's batch, if reports are carried.
 * Before it comes the call of wf.output_add(), with their output and the output
 * that was taken before.  `alone`: the turn carries nothing else, so the
 * reports may wait a little for their instance; the first report tells how
 * often it has failed alone.  Returns whether there is a call of output_add().
 */
bool reports_send(struct reports *reports, struct session *session,
    int64_t driver, const struct request_list *carried, bool alone);

#endif
