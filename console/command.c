#include "console/command.h"

#include <string.h>

size_t
pattern_words(const char *pattern)
{
	size_t len = strcspn(pattern, "ABCDEFGHIJKLMNOPQRSTUVWXYZ[");

	while (len > 0 && pattern[len - 1] == ' ')
		len--;
	return len;
}

bool
pattern_next(const char *pattern, size_t *at, struct placeholder *found)
{
	const char *word;

	if (*at == 0)
		*at = pattern_words(pattern);
	*at += strspn(pattern + *at, " ");
	word = pattern + *at;
	if (*word == '\0')
		return false;
	*at += strcspn(word, " ");
	found->is_optional = *word == '[';
	found->name = word + found->is_optional;
	found->len = strcspn(found->name, " ].");
	found->repeats = found->name[found->len] == '.';
	return true;
}

bool
command_takes(const struct command *command, const struct option *option)
{
	size_t len = strlen(option->name);
	const char *word = command->options;

	for (; word != NULL && *word != '\0'; word += strspn(word, " ")) {
		if (strcspn(word, " ") == len &&
		    strncmp(word, option->name, len) == 0)
			return true;
		word += strcspn(word, " ");
	}
	return false;
}

bool
command_same_words(const struct command *a, const struct command *b)
{
	size_t words = pattern_words(a->pattern);

	return words == pattern_words(b->pattern) &&
	       strncmp(a->pattern, b->pattern, words) == 0;
}
