#include "console/page.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "common/pg.h"
#include "console/console.h"
#include "console/tree.h"

void
page_release(struct page *page)
{
	while (page->count > 0)
		free(page->lines[--page->count].text);
	free(page->lines);
	*page = (struct page){ 0 };
}

static void
add(struct page *page, const char *text, size_t len, int64_t id)
{
	page->lines =
	    xreallocarray(page->lines, page->count + 1, sizeof(page->lines[0]));
	page->lines[page->count++] = (struct page_line){
		.text = xstrndup(text, len),
		.id = id,
	};
}

void
page_add(struct page *page, const char *text)
{
	add(page, text, strlen(text), 0);
}

/* Add the lines that were printed: `above` lines, then one for each row. */
static void
add_printed(struct page *page, const char *text, int above,
    const struct pg_result *rows, int id_column)
{
	int row = -above;
	size_t len;

	for (; *text != '\0'; text += len + (text[len] == '\n'), row++) {
		len = strcspn(text, "\n");
		add(page, text, len,
		    row >= 0 && id_column >= 0
		        ? pg_value_bigint(rows, row, id_column)
		        : 0);
	}
}

static FILE *
open_text(char **text, size_t *len)
{
	FILE *file = open_memstream(text, len);

	if (file == NULL)
		fatal("cannot allocate a page");
	return file;
}

/* The text has whole lines, unless memory ran out. */
static void
close_text(FILE *file, char *const *text, const size_t *len)
{
	fclose(file);
	if (*text == NULL || (*len > 0 && (*text)[*len - 1] != '\n'))
		fatalx("cannot allocate a page");
}

void
page_add_table(struct page *page, const struct terminal *terminal,
    const struct pg_result *rows, const char *shown, bool has_ids)
{
	struct output output = {
		.format = &output_table,
		.terminal = terminal,
		.shown = shown,
	};
	char *text = NULL;
	size_t len;

	output.file = open_text(&text, &len);
	console_put(&output, rows);
	close_text(output.file, &text, &len);
	add_printed(page, text, 1, rows, has_ids ? 0 : -1);
	free(text);
}

void
page_add_tree(struct page *page, const struct terminal *terminal,
    const struct pg_result *rows)
{
	char *text = NULL;
	size_t len;
	FILE *file = open_text(&text, &len);

	tree_print(terminal, rows, pg_rows(rows), file);
	close_text(file, &text, &len);
	add_printed(page, text, 0, rows, pg_column(rows, "process_id"));
	free(text);
}

size_t
page_find(const struct page *page, int64_t id, size_t otherwise)
{
	size_t i;

	for (i = 0; id != 0 && i < page->count; i++)
		if (page->lines[i].id == id)
			return i;
	if (otherwise < page->count)
		return otherwise;
	return page->count > 0 ? page->count - 1 : 0;
}

size_t
page_first(const struct page *page)
{
	size_t i;

	for (i = 0; i < page->count; i++)
		if (page->lines[i].id != 0)
			return i;
	return 0;
}
