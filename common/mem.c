#include "common/mem.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"

void *
xmalloc(size_t size)
{
	void *memory = malloc(size > 0 ? size : 1);

	if (memory == NULL)
		fatal("cannot allocate %zu bytes", size);
	return memory;
}

void *
xcalloc(size_t count, size_t size)
{
	if (count == 0 || size == 0)
		count = size = 1;
	void *memory = calloc(count, size);

	if (memory == NULL)
		fatal("cannot allocate %zu times %zu bytes", count, size);
	return memory;
}

void *
xreallocarray(void *old, size_t count, size_t size)
{
	if (count == 0 || size == 0)
		count = size = 1;
	void *memory = reallocarray(old, count, size);

	if (memory == NULL)
		fatal("cannot allocate %zu times %zu bytes", count, size);
	return memory;
}

char *
xstrdup(const char *text)
{
	return xstrndup(text, strlen(text));
}

char *
xstrndup(const char *text, size_t len)
{
	char *copy;

	len = strnlen(text, len);
	copy = xmalloc(len + 1);
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

void
free_wiped(void *memory)
{
	if (memory != NULL)
		explicit_bzero(memory, malloc_usable_size(memory));
	free(memory);
}

void *
realloc_wiped(void *old, size_t size)
{
	size_t had = old != NULL ? malloc_usable_size(old) : 0;
	void *memory;

	if (old != NULL && size <= had)
		return old;
	memory = xmalloc(size);
	if (old != NULL)
		memcpy(memory, old, had);
	free_wiped(old);
	return memory;
}

char *
xasprintf(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	return text;
}

char *
xvasprintf(const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		fatal("cannot format \"%s\"", format);
	return text;
}
