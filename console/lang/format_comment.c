/* Comments: where they go. */
#include <string.h>

#include "console/lang/formatter.h"

static const struct comment *
next_comment(const struct formatter *formatter)
{
	return formatter->next_comment < formatter->tokens->comment_count
	           ? &formatter->tokens->comments[formatter->next_comment]
	           : NULL;
}

static bool
is_blank_before(const struct formatter *formatter, size_t at)
{
	const char *text = formatter->source->text;
	int line_ends = 0;

	while (at > 0 && strchr(" \t\n", text[at - 1]))
		line_ends += text[--at] == '\n';
	return line_ends > 1;
}

/* Whether the comment is the last on its line. */
static bool
ends_line(const struct formatter *formatter, const struct comment *comment)
{
	const char *p =
	    formatter->source->text + comment->offset + comment->len;

	return p[strspn(p, " \t")] == '\n' || p[strspn(p, " \t")] == '\0';
}

/* The other lines of a block comment are indented below its first one. */
static void
print_lines(struct formatter *formatter, const char *p, size_t len)
{
	const char *end = p + len, *stop;
	size_t blanks;

	while ((stop = memchr(p, '\n', (size_t)(end - p)))) {
		len = (size_t)(stop - p);
		while (len && strchr(" \t", p[len - 1]))
			len--;
		layout_text_n(formatter->layout, p, len);
		layout_hard(formatter->layout, 0);
		p = stop + 1;
		blanks = strspn(p, " \t");
		p += blanks;
		if (*p != '\n')
			layout_text(formatter->layout, *p == '*' ? " " : "   ");
	}
	layout_text_n(formatter->layout, p, (size_t)(end - p));
}

static void
print_comment(struct formatter *formatter, const struct comment *comment)
{
	const char *text = formatter->source->text + comment->offset;
	size_t len = comment->len;

	while (len && strchr(" \t", text[len - 1]))
		len--;
	print_lines(formatter, text, len);
	if (text[1] == '/')
		layout_break(formatter->layout);
	formatter->next_comment++;
}

void
format_separate(struct formatter *formatter, size_t start)
{
	const struct comment *comment = next_comment(formatter);

	if (comment && comment->offset < start)
		start = comment->offset;
	layout_hard(formatter->layout, is_blank_before(formatter, start));
}

void
format_leading(struct formatter *formatter, size_t start)
{
	const struct comment *comment;
	size_t next;

	while ((comment = next_comment(formatter)) && comment->offset < start) {
		print_comment(formatter, comment);
		next = start;
		if (next_comment(formatter) &&
		    next_comment(formatter)->offset < start)
			next = next_comment(formatter)->offset;
		if (ends_line(formatter, comment))
			layout_hard(formatter->layout,
			    is_blank_before(formatter, next));
		else
			layout_text(formatter->layout, " ");
	}
}

void
format_trailing(struct formatter *formatter, size_t end)
{
	const char *text = formatter->source->text;
	const struct comment *comment;

	while ((comment = next_comment(formatter)) && comment->offset >= end &&
	       strspn(text + end, " \t,;") == comment->offset - end) {
		layout_text(formatter->layout, " ");
		end = comment->offset + comment->len;
		print_comment(formatter, comment);
	}
}

size_t
format_closer(const struct formatter *formatter, size_t end)
{
	const struct tokens *tokens = formatter->tokens;
	const char *text = formatter->source->text;
	size_t i = formatter->next_comment;

	for (;; i++) {
		end += strspn(text + end, " \t\n,;");
		if (i >= tokens->comment_count ||
		    tokens->comments[i].offset != end)
			return end;
		end += tokens->comments[i].len;
	}
}

void
format_rest(struct formatter *formatter, size_t closer)
{
	const struct comment *comment;

	while (
	    (comment = next_comment(formatter)) && comment->offset < closer) {
		layout_hard(formatter->layout,
		    is_blank_before(formatter, comment->offset));
		print_comment(formatter, comment);
	}
}

void
format_skip(struct formatter *formatter, size_t end)
{
	while (next_comment(formatter) && next_comment(formatter)->offset < end)
		formatter->next_comment++;
}
