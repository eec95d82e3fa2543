/*
 * tree.h - the processes of an instance, drawn as a tree.
 *
 *	41  ▶ nightly                 ACTIVE
 *	42  ├─ ✓ lb.Log               END
 *	43  └─ ✗ http.Request export  FAILED  attempt 3, http: answered 503
 */
#ifndef CONSOLE_TREE_H
#define CONSOLE_TREE_H

#include <stdio.h>

struct pg_result;
struct terminal;

/*
 * Write the first `count` rows of wf.tree, one or more: a line for each.  Rows
 * after these say how the branches go on.
 */
void tree_print(const struct terminal *terminal, const struct pg_result *rows,
    int count, FILE *out);

#endif
