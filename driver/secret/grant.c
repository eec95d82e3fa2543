#include "driver/secret/grant.h"

#include <string.h>
#include <strings.h>

#include "common/error.h"
#include "driver/config/config.h"

#define BLANK " \t"

enum { SECRET, WORKFLOW, TYPE, DESTINATION, WORDS };

/* A piece of a line. */
struct word {
	const char *text;
	size_t len;
};

/*
 * Returns how many words there are.  Words behind the fourth are only counted.
 */
static size_t
split(const char *line, struct word words[WORDS])
{
	size_t count = 0;

	for (line += strspn(line, BLANK); *line != '\0';
	     line += strspn(line, BLANK)) {
		size_t len = strcspn(line, BLANK);

		if (count < WORDS)
			words[count] = (struct word){ line, len };
		count++;
		line += len;
	}
	return count;
}

static bool
word_is(struct word word, const char *text)
{
	return strlen(text) == word.len &&
	       strncmp(word.text, text, word.len) == 0;
}

static bool
is_granted(struct word word, const char *text)
{
	return word_is(word, "*") || word_is(word, text);
}

/* Destinations ------------------------------------------------------------- */

/* The destinations that a grant may name. */
static const struct scheme {
	const char *name;
	const char *port; /* that may be left out */
	int (*compare)(const char *, const char *, size_t);
} schemes[] = {
	{ "https://", ":443", strncasecmp },
	{ "http://", ":80", strncasecmp },
	{ "ssh://", "", strncasecmp },
	{ "exec://", "", strncmp },
};

static bool
ends_with(struct word word, const char *end)
{
	size_t len = strlen(end);

	return len > 0 && word.len > len &&
	       strncmp(word.text + word.len - len, end, len) == 0;
}

/* The scheme of `word`; NULL if it has none. */
static const struct scheme *
scheme_of(struct word word)
{
	size_t i, len;

	for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		len = strlen(schemes[i].name);
		if (word.len >= len &&
		    strncmp(word.text, schemes[i].name, len) == 0)
			return &schemes[i];
	}
	return NULL;
}

static bool
is_granted_place(struct word word, const char *destination)
{
	const struct scheme *scheme = scheme_of(word);
	size_t start, len = strlen(destination), tail;

	if (word_is(word, "*"))
		return true;
	if (scheme == NULL)
		return false;
	start = strlen(scheme->name);
	if (ends_with(word, scheme->port))
		word.len -= strlen(scheme->port);
	if (word.len < start + 2 || strncmp(word.text + start, "*.", 2) != 0)
		return len == word.len &&
		       scheme->compare(word.text, destination, len) == 0;
	tail = word.len - start - 1;
	return len > start + tail &&
	       strncmp(word.text, destination, start) == 0 &&
	       scheme->compare(
	           word.text + start + 1, destination + len - tail, tail) == 0;
}

/*
 * A path, a user or a second pattern would never be compared, so none is
 * allowed.
 */
static bool
is_destination(struct word word)
{
	const struct scheme *scheme = scheme_of(word);
	struct word host = word;

	if (word_is(word, "*"))
		return true;
	if (scheme == NULL)
		return false;
	host.text += strlen(scheme->name);
	host.len -= strlen(scheme->name);
	if (host.len > 2 && strncmp(host.text, "*.", 2) == 0)
		host = (struct word){ host.text + 2, host.len - 2 };
	return host.len > 0 && memchr(host.text, '/', host.len) == NULL &&
	       memchr(host.text, '*', host.len) == NULL &&
	       memchr(host.text, '@', host.len) == NULL;
}

bool
secret_destination_check(const char *text, size_t len)
{
	return is_destination((struct word){ text, len });
}

bool
secret_destination_holds(const char *text, size_t len, const char *destination)
{
	return is_granted_place((struct word){ text, len }, destination);
}

/* The lines ---------------------------------------------------------------- */

bool
secret_grants_check(const struct config_list *grants, struct error *err)
{
	struct word words[WORDS];
	size_t i, count;

	for (i = 0; i < grants->count; i++) {
		count = split(grants->items[i], words);
		if (count != WORDS) {
			error_set(err,
			    "secrets.grants: \"%s\" has %zu words, not 4",
			    grants->items[i], count);
			error_hint(err, "Write \"SECRET WORKFLOW TASK_TYPE "
			                "DESTINATION\".");
			return false;
		}
		if (!is_destination(words[DESTINATION])) {
			error_set(err,
			    "secrets.grants: \"%s\" ends with no destination",
			    grants->items[i]);
			error_hint(err,
			    "Write https://HOST, http://HOST, ssh://HOST or "
			    "exec://PROGRAM, with a port or \"*.\" before a "
			    "domain where it is needed, or *.");
			return false;
		}
	}
	return true;
}

static bool
allows(const char *line, const struct secret_use *use)
{
	struct word words[WORDS];

	return split(line, words) == WORDS &&
	       is_granted(words[SECRET], use->secret) &&
	       is_granted(words[WORKFLOW], use->workflow) &&
	       is_granted(words[TYPE], use->type) &&
	       (use->destination == NULL ||
	           is_granted_place(words[DESTINATION], use->destination));
}

bool
secret_grants_allow(const struct config_list *grants,
    const struct secret_use *use, struct error *err)
{
	const char *destination = use->destination;
	size_t i;

	for (i = 0; i < grants->count; i++)
		if (allows(grants->items[i], use))
			return true;
	if (destination == NULL)
		error_set(err,
		    "workflow %s may not use secret %s in a task of type %s",
		    use->workflow, use->secret, use->type);
	else
		error_set(err,
		    "secret %s may not go to %s from a task of type %s in "
		    "workflow %s",
		    use->secret, destination, use->type, use->workflow);
	error_hint(err,
	    "If it should, add \"%s %s %s %s\" to secrets.grants in the "
	    "driver's configuration, then retry the task.",
	    use->secret, use->workflow, use->type,
	    destination != NULL ? destination : "DESTINATION");
	return false;
}
