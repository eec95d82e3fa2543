/*
 * share.h - texts that say how many elements of a forall are meant.
 */
#ifndef LANG_SHARE_H
#define LANG_SHARE_H

#include <stdbool.h>

/*
 * Whether a text means a number of elements, as wf._elements_meant in SQL reads it: a
 * number or a percentage; if `sums`, also all, sums, differences, parentheses,
 * min(…) and max(…).
 */
bool share_is_valid(const char *text, bool sums);

#endif
