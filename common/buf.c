#include "common/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

/*
 * Where an empty buffer points.  Nothing is written there, and nothing frees
 * it.
 */
static char nothing[1];

enum {
	FIRST_SIZE = 256,
};

void
buf_init(struct buf *buf, size_t limit)
{
	*buf = (struct buf){
		.data = nothing,
		.limit = limit > 0 ? limit : SIZE_MAX - 1,
	};
}

/* Room for `more` bytes and a NUL.  Doubling keeps the copying linear. */
static void
reserve(struct buf *buf, size_t more)
{
	size_t need = buf->len + more + 1;
	size_t size = buf->size > 0 ? buf->size : FIRST_SIZE;

	if (need <= buf->size)
		return;
	while (size < need)
		size = size > SIZE_MAX / 2 ? need : size * 2;
	buf->data = xreallocarray(buf->size > 0 ? buf->data : NULL, size, 1);
	buf->size = size;
}

bool
buf_add(struct buf *buf, const void *data, size_t len)
{
	if (len > buf->limit - buf->len)
		return false;
	if (len == 0)
		return true;
	reserve(buf, len);
	memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
	return true;
}

bool
buf_adds(struct buf *buf, const char *text)
{
	return buf_add(buf, text, strlen(text));
}

bool
buf_addc(struct buf *buf, char c)
{
	return buf_add(buf, &c, 1);
}

bool
buf_addf(struct buf *buf, const char *format, ...)
{
	va_list args;
	char *text;
	bool added;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	added = buf_adds(buf, text);
	free(text);
	return added;
}

void
buf_truncate(struct buf *buf, size_t len)
{
	if (len >= buf->len)
		return;
	buf->len = len;
	buf->data[len] = '\0';
}

void
buf_fit(struct buf *buf)
{
	if (buf->size <= buf->len + 1)
		return;
	buf->size = buf->len + 1;
	buf->data = xreallocarray(buf->data, buf->size, 1);
}

char *
buf_take(struct buf *buf)
{
	size_t limit = buf->limit;
	char *text = buf->size > 0 ? buf->data : xstrdup("");

	buf_init(buf, limit);
	return text;
}

void
buf_release(struct buf *buf)
{
	if (buf->size > 0)
		free(buf->data);
	buf_init(buf, buf->limit);
}
