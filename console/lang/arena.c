#include "console/lang/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

#define CHUNK_SIZE ((size_t)64 * 1024)

struct chunk {
	struct chunk *next;
	size_t used, size;
	alignas(max_align_t) char data[];
};

struct arena {
	struct chunk *chunks; /* the first one is being filled */
};

struct arena *
arena_new(void)
{
	return xcalloc(1, sizeof(struct arena));
}

void
arena_free(struct arena *arena)
{
	struct chunk *chunk;

	if (!arena)
		return;
	while ((chunk = arena->chunks)) {
		arena->chunks = chunk->next;
		free(chunk);
	}
	free(arena);
}

static struct chunk *
add_chunk(struct arena *arena, size_t size)
{
	struct chunk *chunk = xmalloc(sizeof(*chunk) + size);

	chunk->next = arena->chunks;
	chunk->used = 0;
	chunk->size = size;
	arena->chunks = chunk;
	return chunk;
}

void *
arena_alloc(struct arena *arena, size_t size)
{
	const size_t unit = alignof(max_align_t);
	struct chunk *chunk = arena->chunks;
	void *memory;

	size = (size + unit - 1) / unit * unit;
	if (!chunk || chunk->size - chunk->used < size)
		chunk = add_chunk(arena, size > CHUNK_SIZE ? size : CHUNK_SIZE);
	memory = chunk->data + chunk->used;
	chunk->used += size;
	return memset(memory, 0, size);
}

char *
arena_strndup(struct arena *arena, const char *text, size_t len)
{
	char *copy = arena_alloc(arena, len + 1);

	if (len)
		memcpy(copy, text, len);
	return copy;
}

char *
arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	char *text, *copy;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	copy = arena_strndup(arena, text, strlen(text));
	free(text);
	return copy;
}
