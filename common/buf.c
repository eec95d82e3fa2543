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

void
buf_init_secret(struct buf *buf, size_t limit)
{
	buf_init(buf, limit);
	buf->secret = true;
}

/* Empty, and of the same kind. */
static void
reset(struct buf *buf)
{
	*buf = (struct buf){
		.data = nothing,
		.limit = buf->limit,
		.secret = buf->secret,
	};
}

static char *
resize(const struct buf *buf, size_t size)
{
	char *old = buf->size > 0 ? buf->data : NULL;

	return buf->secret ? realloc_wiped(old, size)
	                   : xreallocarray(old, size, 1);
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
	buf->data = resize(buf, size);
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
	buf->data = resize(buf, buf->size);
}

char *
buf_take(struct buf *buf)
{
	char *text = buf->size > 0 ? buf->data : xstrdup("");

	reset(buf);
	return text;
}

void
buf_release(struct buf *buf)
{
	if (buf->size > 0 && buf->secret)
		free_wiped(buf->data);
	else if (buf->size > 0)
		free(buf->data);
	reset(buf);
}
