/*
 * What comes from a database or a program, on a terminal: nothing of it moves
 * the cursor or turns a line around, in any format, and JSON stays JSON.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/utf8.h"
#include "console/output.h"
#include "console/terminal.h"
#include "console/text.h"
#include "tests/fuzz/fuzz.h"

static const struct column columns[] = {
	{ "name", VALUE_TEXT },
	{ "detail", VALUE_JSON },
	{ "last", VALUE_TEXT },
};

static void
check_text(const char *text)
{
	struct buf safe, fitted;
	size_t width;

	buf_init(&safe, 0);
	text_add_safe(&safe, text, "\n\t");
	MUST(fuzz_is_safe(safe.data, safe.len));
	buf_truncate(&safe, 0);
	text_add_safe(&safe, text, "");
	MUST(fuzz_is_safe(safe.data, safe.len));
	MUST(strpbrk(safe.data, "\n\t") == NULL);
	for (width = 1; width < 20; width += 6) {
		buf_init(&fitted, 0);
		text_add_fitted(&fitted, safe.data, width, width & 2, "…");
		MUST(text_width(fitted.data) == width);
		buf_release(&fitted);
	}
	buf_release(&safe);
}

static void
check_json(const char *text, const char *keep)
{
	struct buf safe;

	buf_init(&safe, 0);
	text_add_safe_json(&safe, text, keep);
	MUST(fuzz_is_safe(safe.data, safe.len));
	if (fuzz_is_json(text, strlen(text)))
		MUST(fuzz_is_json(safe.data, safe.len));
	buf_release(&safe);
}

static void
check_format(
    const struct output_format *format, const char *const *cells, size_t width)
{
	static struct terminal terminal;
	struct output output = { .format = format, .terminal = &terminal };
	char *text = NULL, *c;
	size_t len;

	if (terminal.glyphs == NULL)
		terminal_init(&terminal, true);
	terminal.width = width;
	output.file = open_memstream(&text, &len);
	output_begin(&output, columns, 3);
	output_row(&output, cells);
	output_row(&output, cells);
	output_end(&output);
	fclose(output.file);
	if (format == &output_json && fuzz_is_json(cells[1], strlen(cells[1])))
		MUST(fuzz_is_json(text, len));
	if (format == &output_csv) /* its lines end so */
		for (c = text; *c != '\0'; c++)
			if (*c == '\r')
				*c = '\n';
	MUST(fuzz_is_safe(text, len));
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { (const char *)data, size };
	size_t len;
	char *name = fuzz_part(&input, &len), *json = fuzz_part(&input, &len);
	const char *const cells[] = { name, json, name };

	check_text(name);
	check_json(json, "");
	check_json(json, "\n\t");
	check_format(&output_csv, cells, 0);
	check_format(&output_json, cells, 0);
	check_format(&output_record, cells, 0);
	check_format(&output_table, cells, len % 60);
	free(json);
	free(name);
	return 0;
}
