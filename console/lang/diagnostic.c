#include "console/lang/diagnostic.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/utf8.h"
#include "console/lang/arena.h"
#include "console/lang/lang.h"
#include "console/lang/source.h"
#include "console/lang/symbol.h"

static char *
format_text(struct arena *arena, const char *format, va_list args)
{
	char *text = xvasprintf(format, args);
	char *copy = arena_strndup(arena, text, strlen(text));

	free(text);
	return copy;
}

/* The next free place, or NULL. */
static struct lang_diagnostic *
next_diagnostic(struct lang_result *result)
{
	if (!result->arena)
		result->arena = arena_new();
	if (result->length == LANG_DIAGNOSTICS_MAX) {
		result->left_out++;
		return NULL;
	}
	return &result->diagnostics[result->length++];
}

void
report(struct lang_result *result, const struct source *source, size_t offset,
    const char *format, ...)
{
	struct lang_diagnostic *diagnostic = next_diagnostic(result);
	struct position position;
	va_list args;

	if (!diagnostic)
		return;
	position = source_position(source, offset);
	diagnostic->order = source->order;
	diagnostic->file = source->path;
	diagnostic->line = position.line;
	diagnostic->column = position.column;
	diagnostic->source_line =
	    source_line(source, result->arena, position.line);
	va_start(args, format);
	diagnostic->message = format_text(result->arena, format, args);
	va_end(args);
}

void
report_file(
    struct lang_result *result, const char *path, const char *format, ...)
{
	struct lang_diagnostic *diagnostic = next_diagnostic(result);
	va_list args;

	if (!diagnostic)
		return;
	diagnostic->file = arena_strndup(result->arena, path, strlen(path));
	va_start(args, format);
	diagnostic->message = format_text(result->arena, format, args);
	va_end(args);
}

void
report_hint(struct lang_result *result, const char *format, ...)
{
	va_list args;

	if (result->left_out)
		return;
	va_start(args, format);
	result->diagnostics[result->length - 1].hint =
	    format_text(result->arena, format, args);
	va_end(args);
}

int
report_failed(const struct lang_result *result)
{
	return result->length > 0;
}

static int
compare(const void *left, const void *right)
{
	const struct lang_diagnostic *a = left, *b = right;

	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->column != b->column)
		return a->column < b->column ? -1 : 1;
	return strcmp(a->message, b->message);
}

/* Whether diagnostic number `i` repeats an earlier one. */
static int
is_repeated(const struct lang_result *result, size_t i)
{
	size_t j;

	for (j = 0; j < i; j++)
		if (compare(&result->diagnostics[i], &result->diagnostics[j]) ==
		    0)
			return 1;
	return 0;
}

void
report_sort(struct lang_result *result)
{
	size_t i, kept = 0;

	for (i = 0; i < result->length; i++)
		if (!is_repeated(result, i))
			result->diagnostics[kept++] = result->diagnostics[i];
	result->length = kept;
	qsort(result->diagnostics, result->length,
	    sizeof(result->diagnostics[0]), compare);
}

/*
 * Print `text` without anything that could control a terminal or turn the line
 * around, as a path or a string of the source may have.  Each character stays
 * one character, so that the caret fits.
 */
static void
print_safe(const char *text, FILE *out)
{
	size_t left = strlen(text), len;

	for (; left > 0; text += len, left -= len) {
		len = utf8_sequence(text, left);
		if (len == 0 || (unsigned char)*text < ' ' ||
		    symbol_invisible(source_decode(text, &len))) {
			putc(*text == '\t' ? '\t' : '?', out);
			len = len ? len : 1;
		} else {
			fwrite(text, 1, len, out);
		}
	}
}

static void
print_line(const char *text, FILE *out)
{
	print_safe(text, out);
	putc('\n', out);
}

/* The blanks before the caret: tabs stay tabs, so that the caret fits. */
static void
print_caret(const struct lang_diagnostic *diagnostic, FILE *out)
{
	const char *p = diagnostic->source_line;
	int column;
	size_t len;

	fputs("  ", out);
	for (column = 1; column < diagnostic->column && *p; column++) {
		source_decode(p, &len);
		putc(*p == '\t' ? '\t' : ' ', out);
		p += len;
	}
	fputs("^\n", out);
}

void
lang_result_print(const struct lang_result *result, FILE *out)
{
	const struct lang_diagnostic *diagnostic;
	size_t i;

	for (i = 0; i < result->length; i++) {
		diagnostic = &result->diagnostics[i];
		print_safe(diagnostic->file, out);
		if (diagnostic->line)
			fprintf(out, ":%d:%d", diagnostic->line,
			    diagnostic->column);
		fputs(": error: ", out);
		print_line(diagnostic->message, out);
		if (diagnostic->source_line && *diagnostic->source_line) {
			fputs("  ", out);
			print_line(diagnostic->source_line, out);
			print_caret(diagnostic, out);
		}
		if (diagnostic->hint) {
			fputs("hint: ", out);
			print_line(diagnostic->hint, out);
		}
	}
	if (result->left_out)
		fprintf(out, "and %zu more\n", result->left_out);
}

void
lang_result_release(struct lang_result *result)
{
	arena_free(result->arena);
	memset(result, 0, sizeof(*result));
}
