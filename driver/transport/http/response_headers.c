#include "driver/transport/http/response_headers.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "driver/transport/http/url.h"

enum {
	MORE = 8, /* headers to allocate room for */
};

static void
lower(char *text)
{
	for (; *text != '\0'; text++)
		if (*text >= 'A' && *text <= 'Z')
			*text = (char)(*text - 'A' + 'a');
}

/* The values of all headers called `name`; for the caller to free(). */
static char *
join_values(CURL *easy, const char *name, size_t amount)
{
	struct curl_header *header;
	struct buf text;
	size_t i;

	buf_init(&text, 0);
	for (i = 0; i < amount; i++)
		if (curl_easy_header(easy, name, i, CURLH_HEADER, -1,
		        &header) == CURLHE_OK) {
			buf_adds(&text, i > 0 ? ", " : "");
			buf_adds(&text, header->value);
		}
	return buf_take(&text);
}

static struct http_header *
add(struct http_headers *headers)
{
	if (headers->count % MORE == 0)
		headers->items = xreallocarray(headers->items,
		    headers->count + MORE, sizeof(headers->items[0]));
	return &headers->items[headers->count++];
}

void
http_headers_take(struct http_headers *headers, CURL *easy, const char *base)
{
	struct curl_header *from = NULL;
	struct http_header *header;
	char *absolute;

	while ((from = curl_easy_nextheader(easy, CURLH_HEADER, -1, from)) !=
	       NULL) {
		if (from->index >
		    0) /* its value is in the first one of its name */
			continue;
		header = add(headers);
		header->name = xstrdup(from->name);
		lower(header->name);
		/* libcurl compares a name that it looks for with all others */
		header->value =
		    from->amount == 1
		        ? xstrdup(from->value)
		        : join_values(easy, from->name, from->amount);
		if (strcmp(header->name, "location") == 0) {
			absolute = http_url_seen(base, header->value);
			free(header->value);
			header->value = absolute;
		}
	}
}

void
http_headers_release(struct http_headers *headers)
{
	while (headers->count > 0) {
		headers->count--;
		free(headers->items[headers->count].name);
		free(headers->items[headers->count].value);
	}
	free(headers->items);
	*headers = (struct http_headers){ 0 };
}
