/*
 * reports.h - the reports of one turn, packed for wf.outcome().
 */
#ifndef DRIVER_REPORTS_H
#define DRIVER_REPORTS_H

#include <stdint.h>

struct reports;
struct request_list;
struct session;

/* The packing material; it is used again and again. */
struct reports *reports_new(void);
void reports_free(struct reports *reports);

/*
 * Move what one turn can carry from `due` to `carried`, oldest first, and add
 * the call of wf.outcome() to the session's batch.  Nothing due: no call.
 */
void reports_send(struct reports *reports, struct session *session,
    int64_t driver, struct request_list *due, struct request_list *carried);

#endif
