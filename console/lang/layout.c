#include "console/lang/layout.h"

#include <stdbool.h>
#include <string.h>

#include "common/buf.h"
#include "console/lang/arena.h"

enum piece_kind { TEXT, LINE, SOFT, HARD, BLANK, BREAK, OPEN, CLOSE, INDENT };

struct piece {
	enum piece_kind kind;
	const char *text;
	size_t len;
	int by;
};

struct layout {
	struct arena *arena;
	struct piece *list;
	size_t length, room;
};

struct layout *
layout_new(struct arena *arena)
{
	struct layout *layout = arena_alloc(arena, sizeof(*layout));

	layout->arena = arena;
	return layout;
}

static struct piece *
add(struct layout *layout, enum piece_kind kind)
{
	struct piece *list;

	if (layout->length == layout->room) {
		layout->room = layout->room * 2 + 256;
		list = arena_alloc(
		    layout->arena, layout->room * sizeof(struct piece));
		if (layout->length)
			memcpy(list, layout->list,
			    layout->length * sizeof(struct piece));
		layout->list = list;
	}
	layout->list[layout->length] = (struct piece){ .kind = kind };
	return &layout->list[layout->length++];
}

void
layout_text_n(struct layout *layout, const char *text, size_t len)
{
	struct piece *piece = add(layout, TEXT);

	piece->text = text;
	piece->len = len;
}

void
layout_text(struct layout *layout, const char *text)
{
	layout_text_n(layout, text, strlen(text));
}

void
layout_line(struct layout *layout)
{
	add(layout, LINE);
}

void
layout_soft(struct layout *layout)
{
	add(layout, SOFT);
}

void
layout_hard(struct layout *layout, int blank)
{
	add(layout, blank ? BLANK : HARD);
}

void
layout_break(struct layout *layout)
{
	add(layout, BREAK);
}

void
layout_open(struct layout *layout)
{
	add(layout, OPEN);
}

void
layout_close(struct layout *layout)
{
	add(layout, CLOSE);
}

void
layout_indent(struct layout *layout, int by)
{
	add(layout, INDENT)->by = by;
}

/* Characters up to the first line end, or the end of the text. */
static int
first_width(const struct piece *piece)
{
	int width = 0;
	size_t i;

	for (i = 0; i < piece->len && piece->text[i] != '\n'; i++)
		width += ((unsigned char)piece->text[i] & 0xc0) != 0x80;
	return width;
}

static bool
has_line_end(const struct piece *piece)
{
	return memchr(piece->text, '\n', piece->len) != NULL;
}

/*
 * Whether the group that opens at `at` fits on the line, together with the text
 * after it, up to the next place where a line may end.
 */
static bool
fits(const struct layout *layout, size_t at, int room)
{
	const struct piece *piece;
	bool inside = true;
	int depth = 0;

	for (; room >= 0 && at < layout->length; at++) {
		piece = &layout->list[at];
		if (piece->kind == TEXT) {
			room -= first_width(piece);
			if (has_line_end(piece))
				return !inside && room >= 0;
		} else if (piece->kind == OPEN) {
			depth++;
		} else if (piece->kind == CLOSE) {
			inside = inside && --depth > 0;
		} else if (piece->kind != INDENT) {
			if (!inside)
				return true;
			if (piece->kind != LINE && piece->kind != SOFT)
				return false;
			room -= piece->kind == LINE;
		}
	}
	return room >= 0;
}

struct printer {
	struct buf out;
	int width, column, indent;
	bool *flat; /* per open group */
	size_t depth;
};

static void
print_end(struct printer *printer, bool blank)
{
	while (
	    printer->out.len && printer->out.data[printer->out.len - 1] == ' ')
		buf_truncate(&printer->out, printer->out.len - 1);
	buf_adds(&printer->out, blank ? "\n\n" : "\n");
	printer->column = -1; /* the indentation comes with the text */
}

static void
print_text(struct printer *printer, const struct piece *piece)
{
	const char *p = piece->text, *end = p + piece->len, *stop;

	if (printer->column < 0) {
		buf_addf(&printer->out, "%*s", printer->indent, "");
		printer->column = printer->indent;
	}
	buf_add(&printer->out, p, piece->len);
	printer->column += first_width(piece);
	while ((stop = memchr(p, '\n', (size_t)(end - p)))) {
		p = stop + 1;
		printer->column = (int)(end - p);
	}
}

static void
print_piece(struct printer *printer, const struct layout *layout, size_t at)
{
	const struct piece *piece = &layout->list[at];
	bool flat = printer->flat[printer->depth];
	int column = printer->column < 0 ? printer->indent : printer->column;

	switch (piece->kind) {
	case TEXT:
		print_text(printer, piece);
		break;
	case LINE:
		if (flat)
			print_text(
			    printer, &(struct piece){ .text = " ", .len = 1 });
		else
			print_end(printer, false);
		break;
	case SOFT:
		if (!flat)
			print_end(printer, false);
		break;
	case HARD:
	case BLANK:
		print_end(printer, piece->kind == BLANK);
		break;
	case OPEN:
		flat = flat || fits(layout, at, printer->width - column);
		printer->flat[++printer->depth] = flat;
		break;
	case CLOSE:
		printer->depth--;
		break;
	case INDENT:
		printer->indent += piece->by;
		break;
	case BREAK:
		break;
	}
}

char *
layout_print(struct layout *layout, int width)
{
	struct printer printer = { .width = width, .column = -1 };
	size_t i;

	buf_init(&printer.out, 0);
	printer.flat =
	    arena_alloc(layout->arena, (layout->length + 1) * sizeof(bool));
	for (i = 0; i < layout->length; i++)
		print_piece(&printer, layout, i);
	return buf_take(&printer.out);
}
