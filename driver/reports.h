/*
 * reports.h - the reports of one turn, packed for wf.outcome().
 */
#ifndef DRIVER_REPORTS_H
#define DRIVER_REPORTS_H

#include <stdbool.h>
#include <stdint.h>

struct reports;
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
 * Move what one turn can carry from `due` to `carried`, oldest first, and add
 * the call of wf.outcome() to the session's batch, behind that of
 * wf.output_add() with their output and what was taken before.  Nothing due:
 * no call.  True: there is one of output_add().
 */
bool reports_send(struct reports *reports, struct session *session,
    int64_t driver, struct request_list *due, struct request_list *carried);

#endif
