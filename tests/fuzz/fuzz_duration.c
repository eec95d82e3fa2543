/* Spans of time as people write them. */
#include <string.h>

#include "console/lang/arena.h"
#include "console/lang/duration.h"
#include "tests/fuzz/fuzz.h"

/* P1DT2H3M4.005S, with at least one number. */
static void
check_iso(const char *iso)
{
	MUST(*iso == 'P');
	MUST(iso[1] != '\0' && iso[strlen(iso) - 1] != 'T');
	MUST(iso[1 + strspn(iso + 1, "0123456789.DTHMS")] == '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	const char *text = arena_strndup(arena, (const char *)data, size);
	const char *literal, *spoken;

	literal = duration_literal(arena, text, strlen(text));
	spoken = duration_text(arena, text);
	if (spoken != NULL)
		check_iso(spoken);
	/* what is a literal is text as well, and means the same */
	if (literal != NULL) {
		MUST(spoken != NULL);
		MUST(strcmp(literal, spoken) == 0);
	}
	arena_free(arena);
	return 0;
}
