#include "common/near.h"

#include <string.h>
#include <strings.h>

enum { LONGEST = 64 }; /* longer words are not worth the work */

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
near_init(struct near *near, const char *wanted)
{
	near->wanted = wanted;
	near->best = NULL;
	near->best_len = 0;
	near->edits = strlen(wanted) / 3 + 2;
}

void
near_offer(struct near *near, const char *name, size_t len)
{
	size_t wanted_len = strlen(near->wanted), edits = 0;

	if (wanted_len == 0 || wanted_len > LONGEST || len > LONGEST)
		return;
	/* the beginning of a name, in whatever case, is as good as the name */
	if (len < wanted_len ||
	    strncasecmp(name, near->wanted, wanted_len) != 0)
		edits = distance(near->wanted, wanted_len, name, len);
	if (edits < near->edits && edits * 2 <= wanted_len) {
		near->best = name;
		near->best_len = len;
		near->edits = edits;
	}
}
