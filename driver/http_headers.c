#include "driver/http_headers.h"

#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

enum {
	MORE = 8, /* headers that there is room for */
};

void
http_headers_release(struct http_headers *headers)
{
	while (headers->count > 0)
		free(headers->items[--headers->count].name);
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

static void
fill(struct http_header *header, const char *name, size_t name_len,
    const char *value, size_t value_len)
{
	header->name = xmalloc(name_len + value_len + 2);
	header->value = header->name + name_len + 1;
	memcpy(header->name, name, name_len);
	header->name[name_len] = '\0';
	memcpy(header->value, value, value_len);
	header->value[value_len] = '\0';
}

void
http_header_set(struct http_header *header, const char *value)
{
	char *former = header->name;

	fill(header, former, strlen(former), value, strlen(value));
	free(former);
}

/* `header` becomes one of them, or a part of the one of its name. */
static void
put(struct http_headers *headers, struct http_header *header)
{
	struct http_header *known = http_headers_find(headers, header->name);
	char *both;

	if (known != NULL) {
		both = xasprintf("%s, %s", known->value, header->value);
		http_header_set(known, both);
		free(both);
		free(header->name);
		return;
	}
	if (headers->count % MORE == 0)
		headers->items = xreallocarray(headers->items,
		    headers->count + MORE, sizeof(headers->items[0]));
	headers->items[headers->count++] = *header;
}

static void
lower(char *text)
{
	for (; *text != '\0'; text++)
		if (*text >= 'A' && *text <= 'Z')
			*text = (char)(*text - 'A' + 'a');
}

bool
http_headers_add(
    struct http_headers *headers, const char *line, size_t len, size_t limit)
{
	const char *colon, *value, *end = line + len;
	struct http_header header;

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
	fill(&header, line, (size_t)(colon - line), value,
	    (size_t)(end - value));
	lower(header.name);
	put(headers, &header);
	return true;
}
