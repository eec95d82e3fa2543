/*
 * page.h - the lines of a live view; a line may stand for something that the
 * user can open.
 */
#ifndef CONSOLE_PAGE_H
#define CONSOLE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pg_result;
struct terminal;

/* Start with { 0 }. */
struct page {
	struct page_line {
		char *text;
		int64_t id; /* of the thing that it stands for; 0: nothing */
	} * lines;
	size_t count;
};

void page_release(struct page *page);

/* One line, without an id. */
void page_add(struct page *page, const char *text);

/*
 * A table: its heading, then a line for each row, whose id is in the first
 * column if `has_ids`.  Nothing if there are no rows.
 */
void page_add_table(struct page *page, const struct terminal *terminal,
    const struct pg_result *rows, const char *shown, bool has_ids);

/* A tree: the rows of wf.tree, with their ids. */
void page_add_tree(struct page *page, const struct terminal *terminal,
    const struct pg_result *rows);

/*
 * The index of the line of `id`; if there is none, `otherwise` or the last
 * line.
 */
size_t page_find(const struct page *page, int64_t id, size_t otherwise);

/* The first line that stands for something; the first of all if none does. */
size_t page_first(const struct page *page);

#endif
