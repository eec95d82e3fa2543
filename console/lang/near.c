#include "console/lang/near.h"

#include <string.h>
#include <strings.h>

enum { LONGEST = 64 };

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Insertions, deletions and replacements that turn `a` into `b`. */
static size_t
distance(const char *a, const char *b)
{
	size_t row[LONGEST + 1], width = strlen(b), i, j, corner, above;

	for (j = 0; j <= width; j++)
		row[j] = j;
	for (i = 1; a[i - 1]; i++) {
		corner = row[0];
		row[0] = i;
		for (j = 1; j <= width; j++) {
			above = row[j];
			row[j] = least(corner + (a[i - 1] != b[j - 1]),
			    least(above, row[j - 1]) + 1);
			corner = above;
		}
	}
	return row[width];
}

void
near_init(struct near *near, const char *wanted)
{
	near->wanted = wanted;
	near->best = NULL;
	near->edits = strlen(wanted) / 3 + 1;
}

void
near_offer(struct near *near, const char *name)
{
	size_t edits;

	if (strlen(near->wanted) > LONGEST || strlen(name) > LONGEST)
		return;
	edits = strcasecmp(near->wanted, name) == 0
	            ? 0
	            : distance(near->wanted, name);
	if (edits <= near->edits && edits * 2 <= strlen(near->wanted) &&
	    (!near->best || edits < near->edits)) {
		near->best = name;
		near->edits = edits;
	}
}
