/* The place of the writer in the tree, and the names that it writes. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "console/lang/diagnostic.h"
#include "console/lang/symbol.h"
#include "console/lang/writer.h"

static char *
format_text(struct arena *arena, const char *format, va_list args)
{
	char text[512];

	vsnprintf(text, sizeof(text), format, args);
	return arena_strndup(arena, text, strlen(text));
}

size_t
write_enter(struct writer *writer, const char *format, ...)
{
	size_t before = writer->where.len;
	va_list args;

	va_start(args, format);
	buf_adds(&writer->where, format_text(writer->arena, format, args));
	va_end(args);
	return before;
}

void
write_leave(struct writer *writer, size_t before)
{
	buf_truncate(&writer->where, before);
}

void
write_fault(struct writer *writer, const char *format, ...)
{
	const char *where = writer->where.data;
	va_list args;

	if (writer->failed)
		return;
	writer->failed = true;
	va_start(args, format);
	report_file(writer->result, writer->path, "%s: %s",
	    where + (*where == '.'), format_text(writer->arena, format, args));
	va_end(args);
}

void
write_line(struct writer *writer)
{
	buf_addf(&writer->out, "\n%*s", writer->indent, "");
}

void
write_word(struct writer *writer, const char *word)
{
	if (word && symbol_is_name(word))
		buf_adds(&writer->out, word);
	else
		write_fault(writer, "`%.100s` is not a name", word ? word : "");
}

void
write_name(struct writer *writer, const char *name)
{
	if (name && symbol_reserved(name, strlen(name)) != T_NAME)
		write_fault(writer, "`%s` is a word of the language", name);
	else
		write_word(writer, name);
}

void
write_qname(struct writer *writer, const char *name)
{
	const char *dot;

	if (!name || *name == '\0') {
		write_fault(writer, "a name is missing");
		return;
	}
	for (; (dot = strchr(name, '.')); name = dot + 1) {
		write_word(writer,
		    arena_strndup(writer->arena, name, (size_t)(dot - name)));
		buf_adds(&writer->out, ".");
	}
	write_word(writer, name);
}
