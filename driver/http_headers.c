#include "driver/http_headers.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

void
http_headers_release(struct http_headers *headers)
{
	while (headers->count > 0) {
		free(headers->items[--headers->count].name);
		free(headers->items[headers->count].value);
	}
	free(headers->items);
	*headers = (struct http_headers){ 0 };
}

struct http_header *
http_headers_find(const struct http_headers *headers, const char *name)
{
	size_t i;

	for (i = 0; i < headers->count; i++)
		if (strcmp(headers->items[i].name, name) == 0)
			return &headers->items[i];
	return NULL;
}

/* Both strings become the headers'. */
static void
put(struct http_headers *headers, char *name, char *value)
{
	struct http_header *known = http_headers_find(headers, name);
	char *both;

	if (known != NULL) {
		both = xasprintf("%s, %s", known->value, value);
		free(known->value);
		free(name);
		free(value);
		known->value = both;
		return;
	}
	headers->items = xreallocarray(
	    headers->items, headers->count + 1, sizeof(headers->items[0]));
	headers->items[headers->count].name = name;
	headers->items[headers->count++].value = value;
}

static char *
lower(const char *text, size_t len)
{
	char *copy = xstrndup(text, len), *c;

	for (c = copy; *c != '\0'; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	return copy;
}

bool
http_headers_add(
    struct http_headers *headers, const char *line, size_t len, size_t limit)
{
	const char *colon, *value, *end = line + len;

	if (len >= 5 && memcmp(line, "HTTP/", 5) == 0) {
		http_headers_release(headers);
		return true;
	}
	if (len > limit - headers->bytes)
		return false;
	headers->bytes += len;
	colon = memchr(line, ':', len);
	if (colon == NULL)
		return true;
	for (value = colon + 1; value < end && *value == ' '; value++)
		;
	while (end > value && (unsigned char)end[-1] <= ' ')
		end--;
	put(headers, lower(line, (size_t)(colon - line)),
	    xstrndup(value, (size_t)(end - value)));
	return true;
}
