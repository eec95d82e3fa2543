#include "runtime/exposure.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "common/pg.h"

/*
 * A warning.  It is kept until the next reload, so that it is not logged twice.
 */
struct exposure {
	struct exposure *next;
	char *label, *text;
	size_t sessions; /* open ones that it is about */
};

static struct {
	struct exposure *first;
	bool warn;
} known;

static void
say(const struct exposure *exposure)
{
	if (known.warn)
		LOG_IN(LOG_LEVEL_WARN, exposure->label, "%s", exposure->text);
}

void
exposure_init(bool warn)
{
	struct exposure **at = &known.first, *exposure;

	known.warn = warn;
	while ((exposure = *at) != NULL) {
		if (exposure->sessions > 0) {
			say(exposure);
			at = &exposure->next;
			continue;
		}
		*at = exposure->next;
		free(exposure->label);
		free(exposure->text);
		free(exposure);
	}
}

static struct exposure *
find(const char *label, const char *text)
{
	struct exposure *exposure = known.first;

	while (exposure != NULL && (strcmp(exposure->label, label) != 0 ||
	                               strcmp(exposure->text, text) != 0))
		exposure = exposure->next;
	return exposure;
}

struct exposure *
exposure_hold(const char *label, const struct pg *pg)
{
	char *text = pg_exposure(pg);
	struct exposure *exposure;

	if (text == NULL)
		return NULL;
	if (label == NULL)
		label = "";
	exposure = find(label, text);
	if (exposure != NULL) {
		free(text);
	} else {
		exposure = xcalloc(1, sizeof(*exposure));
		exposure->label = xstrdup(label);
		exposure->text = text;
		exposure->next = known.first;
		known.first = exposure;
		say(exposure);
	}
	exposure->sessions++;
	return exposure;
}

void
exposure_drop(struct exposure *exposure)
{
	if (exposure != NULL)
		exposure->sessions--;
}
