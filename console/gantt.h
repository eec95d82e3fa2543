/*
 * gantt.h - when the tasks of an instance ran, drawn as a bar for each attempt.
 *
 *	from 2026-11-24 19:00:00+00, 12.5 s
 *	42  ✓ lb.Log                         END     █                     0.1 s
 *	43  ✗ http.Request export            FAILED   ░████                2.0 s
 *	43  ▶ http.Request export attempt 2  ACTIVE        ░░██████████   10.1 s
 *
 * A bar begins when the task could begin, and is light at first.  It is full
 * from the start of the attempt to its end, or until now.
 */
#ifndef CONSOLE_GANTT_H
#define CONSOLE_GANTT_H

#include <stdio.h>

struct pg_result;
struct terminal;

/*
 * Write the first `count` rows of the command's SQL (at least one): a line
 * each.
 */
void gantt_print(const struct terminal *terminal, const struct pg_result *rows,
    int count, FILE *out);

/* Write the same as an SVG picture. */
void gantt_print_svg(const struct pg_result *rows, FILE *out);

#endif
