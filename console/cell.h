/*
 * cell.h - one value as a person reads it.
 */
#ifndef CONSOLE_CELL_H
#define CONSOLE_CELL_H

#include "console/terminal.h"

struct buf;
struct column;

/* Add `value` (NULL adds nothing) on one line, safe for a terminal. */
void cell_add(struct buf *buf, const struct column *column, const char *value);

/*
 * Add a time for programs: "2026-11-21 00:39:00.5+00", as PostgreSQL prints
 * it, becomes "2026-11-21T00:39:00.5+00:00".  Infinities stay as they are.
 */
void cell_add_iso_time(struct buf *buf, const char *time);

/* Add a duration, given in seconds: "12s", "3m 12s", "2d 4h". */
void cell_add_duration(struct buf *buf, const char *seconds);

/*
 * The style of a value of this column: that of a state depends on its meaning.
 */
enum style cell_style(const struct column *column, const char *value);

/* Add the column's heading: "started_at" is STARTED, "elapsed_s" ELAPSED. */
void cell_add_heading(struct buf *buf, const struct column *column);

#endif
