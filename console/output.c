#include "console/output.h"

#include <string.h>

/*
 * The formats for -o.  A record is the table's form of a single thing: `show`
 * chooses it, and so does --expanded.
 */
static const struct output_format *const formats[] = {
	&output_csv,
	&output_json,
	&output_table,
};

const struct output_format *
output_format_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

void
output_begin(
    struct output *output, const struct column *columns, size_t column_count)
{
	output->columns = columns;
	output->column_count = column_count;
	output->row_count = 0;
	output->format->begin(output);
}

void
output_row(struct output *output, const char *const *cells)
{
	output->row_count++;
	output->format->row(output, cells);
}

void
output_settle(struct output *output)
{
	if (output->format->settle != NULL)
		output->format->settle(output);
}

void
output_end(struct output *output)
{
	output->format->end(output);
}
