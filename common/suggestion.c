#include "common/suggestion.h"

#include <string.h>
#include <strings.h>

enum { LONGEST = 64 }; /* a longer word would take too long */

/*
 * Edits that turn `a` into `b`: insert, delete, replace a character, or swap
 * two neighbours (the commonest slip of the fingers).
 */
static size_t
distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t rows[3][LONGEST + 1];
	size_t *before = rows[0], *last = rows[1], *row = rows[2], *spare;
	size_t i, j, best;

	for (j = 0; j <= b_len; j++)
		last[j] = j;
	for (i = 1; i <= a_len; i++) {
		row[0] = i;
		for (j = 1; j <= b_len; j++) {
			best = last[j - 1] + (a[i - 1] != b[j - 1]);
			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
		spare = before;
		before = last;
		last = row;
		row = spare;
	}
	return last[b_len];
}

void
suggestion_init(struct suggestion *suggestion, const char *wanted)
{
	suggestion->wanted = wanted;
	suggestion->best = NULL;
	suggestion->best_len = 0;
	suggestion->edits = strlen(wanted) / 3 + 2;
}

void
suggestion_offer(struct suggestion *suggestion, const char *name, size_t len)
{
	size_t wanted_len = strlen(suggestion->wanted), edits = 0;

	if (wanted_len == 0 || wanted_len > LONGEST || len > LONGEST)
		return;
	/* the beginning of a name, in any case, is as good as the name */
	if (len < wanted_len ||
	    strncasecmp(name, suggestion->wanted, wanted_len) != 0)
		edits = distance(suggestion->wanted, wanted_len, name, len);
	if (edits < suggestion->edits && edits * 2 <= wanted_len) {
		suggestion->best = name;
		suggestion->best_len = len;
		suggestion->edits = edits;
	}
}
