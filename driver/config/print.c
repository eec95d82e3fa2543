#include <stdlib.h>
#include <string.h>

#include "driver/config/config.h"
#include "driver/config/options.h"

static void
print_quoted(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void
print_value(const struct config *config, const struct option *option, FILE *out)
{
	const struct config_list *list = option_field(config, option);
	size_t i;

	switch (option->type) {
	case OPTION_BOOL:
		fputs(*(bool *)option_field(config, option) ? "true" : "false",
		    out);
		break;
	case OPTION_INT:
		fprintf(out, "%lld",
		    (long long)*(int64_t *)option_field(config, option));
		break;
	case OPTION_LIST:
		fputc('[', out);
		for (i = 0; i < list->count; i++) {
			fputs(i ? ", " : "", out);
			print_quoted(list->items[i], out);
		}
		fputc(']', out);
		break;
	case OPTION_STRING:
		print_quoted(*(char **)option_field(config, option), out);
		break;
	}
}

static void
print_text(const char *text, const char *indent, FILE *out)
{
	size_t len;

	for (; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		fprintf(out, "%s# %.*s\n", indent, (int)len, text);
	}
}

/* The part of a key before its dot: its length, 0 if there is none. */
static size_t
group_length(const char *key)
{
	const char *dot = strchr(key, '.');

	return dot ? (size_t)(dot - key) : 0;
}

static void
print_option(
    const struct config *config, const struct option *option, FILE *out)
{
	size_t group = group_length(option->key);
	const char *indent = group ? "\t" : "";

	fputc('\n', out);
	print_text(option->text, indent, out);
	if (option->change == OPTION_FIXED)
		print_text("Read at the start only.", indent, out);
	fprintf(out, "%s%s = ", indent, option->key + group + (group != 0));
	print_value(config, option, out);
	fputs(";\n", out);
}

/* The table has no rows for workspaces, since the user chooses their names. */
static void
print_workspaces(const struct config *config, FILE *out)
{
	size_t i;

	fputs(
	    "\n# Several workspaces for one driver, instead of connection and\n"
	    "# sql_connection: a group each, under the name that the log has.\n"
	    "# They share the slots; one that fails holds nobody else up.\n"
	    "#\tetl: {\n"
	    "#\t\tconnection = \"dbname=etl\";\n"
	    "#\t\tsql_connection = \"dbname=etl user=etl_sql\";\n"
	    "#\t};\n"
	    "workspaces: {\n",
	    out);
	for (i = 0; i < config->workspace_count; i++) {
		fprintf(out,
		    "\t%s: {\n\t\tconnection = ", config->workspaces[i].name);
		print_quoted(config->workspaces[i].connection, out);
		fputs(";\n\t\tsql_connection = ", out);
		print_quoted(config->workspaces[i].sql_connection, out);
		fputs(";\n\t};\n", out);
	}
	fputs("};\n", out);
}

void
config_print(const struct config *config, FILE *out)
{
	const char *key, *former = "";
	size_t i, group, open = 0;

	fputs("# Configuration of wf-driver: every option, at its default.\n",
	    out);
	for (i = 0; i < option_count; i++, former = key, open = group) {
		key = options[i].key;
		group = group_length(key);
		if (open && (group != open || strncmp(key, former, open) != 0))
			fputs("};\n", out);
		if (group && (group != open || strncmp(key, former, open) != 0))
			fprintf(out, "\n%.*s: {\n", (int)group, key);
		print_option(config, &options[i], out);
	}
	if (open)
		fputs("};\n", out);
	print_workspaces(config, out);
}
