#include "driver/transport/words.h"

#include <stdlib.h>

#include "common/mem.h"

void
words_give(struct words *words, char *word)
{
	words->list = xreallocarray(
	    words->list, words->count + 2, sizeof(words->list[0]));
	words->list[words->count++] = word;
	words->list[words->count] = NULL;
}

void
words_add(struct words *words, const char *text)
{
	words_give(words, xstrdup(text));
}

void
words_release(struct words *words)
{
	while (words->count > 0)
		free_wiped(words->list[--words->count]);
	free(words->list);
}
