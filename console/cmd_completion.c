/*
 * cmd_completion.c - completion for bash, printed from the command table.
 */
#include <stdio.h>
#include <string.h>

#include "console/commands.h"
#include "console/console.h"

/* Before the tables, and behind them.  `i` words are complete. */
static const char begin[] =
    "# bash completion for wf-console, printed by `wf-console completion "
    "bash`\n"
    "_wf_console() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    local words='' skip='' word options='' next=''\n"
    "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
    "        if [ -n \"$skip\" ]; then skip=''; continue; fi\n"
    "        case $word in\n";

static const char end[] =
    "    if [[ $cur == -* ]]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$options $globals\" -- "
    "\"$cur\")\n"
    "    elif [ -n \"$next\" ]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$next\" -- \"$cur\")\n"
    "    else\n"
    "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
    "        compopt -o filenames 2>/dev/null\n"
    "    fi\n"
    "}\n"
    "complete -F _wf_console wf-console\n";

/* "-d|--dbname|": options whose value is the next word. */
static void
print_valued(const struct option *options, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (options[i].value == NULL)
			continue;
		if (options[i].letter != '\0')
			printf("-%c|", options[i].letter);
		printf("--%s|", options[i].name);
	}
}

/* What can follow an option, where that is known. */
static void
print_values(void)
{
	static const struct {
		const char *type, *words;
	} values[] = {
		{ "ACTION", "retry ignore resolve raise cancel abort" },
		{ "DRAWING", "dot mermaid svg" },
		{ "FORMAT", "table json csv" },
	};
	const struct option *tables[] = { command_options, global_options };
	const size_t counts[] = { command_option_count, global_option_count };
	size_t table, i, v;

	printf("    case $prev in\n");
	for (table = 0; table < 2; table++)
		for (i = 0; i < counts[table]; i++)
			for (v = 0; v < sizeof(values) / sizeof(values[0]);
			     v++) {
				const struct option *option = &tables[table][i];

				if (option->value == NULL ||
				    strcmp(option->value, values[v].type) != 0)
					continue;
				printf("    --%s", option->name);
				if (option->letter != '\0')
					printf("|-%c", option->letter);
				printf(") next='%s' ;;\n", values[v].words);
			}
	printf("    esac\n");
}

static bool
is_first_with_words(size_t i)
{
	return i == 0 || !command_same_words(&commands[i], &commands[i - 1]);
}

/* The options of each command, by its words. */
static void
print_options(void)
{
	size_t i, o;

	printf("    case $words in\n");
	for (i = 0; i < command_count; i++) {
		if (!is_first_with_words(i))
			continue;
		printf("    \"%.*s \"*) options='",
		    (int)pattern_words(commands[i].pattern),
		    commands[i].pattern);
		for (o = 0; o < command_option_count; o++)
			if (command_takes(&commands[i], &command_options[o]))
				printf("--%s ", command_options[o].name);
		printf("' ;;\n");
	}
	printf("    esac\n");
}

/* The words that come `after` others, each once: they need not be adjacent. */
static void
print_words_after(const char *after)
{
	size_t len = strlen(after), i, j, word;

	for (i = 0; i < command_count; i++) {
		const char *pattern = commands[i].pattern;

		if (strncmp(pattern, after, len) != 0 ||
		    pattern_words(pattern) <= len)
			continue;
		word = len + strcspn(pattern + len, " ");
		for (j = 0; j < i; j++)
			if (strncmp(commands[j].pattern, pattern, word) == 0 &&
			    strchr(" ", commands[j].pattern[word]) != NULL)
				break;
		if (j == i)
			printf("%.*s ", (int)(word - len), pattern + len);
	}
}

/* The words of commands: the first ones, and what follows "workspace". */
static void
print_words(void)
{
	size_t i, len;

	printf("    case $words in\n    '') next='");
	print_words_after("");
	printf("' ;;\n");
	for (i = 0; i < command_count; i++) {
		const char *pattern = commands[i].pattern;
		char first[32];

		len = strcspn(pattern, " ");
		if (len >= pattern_words(pattern) || len + 1 >= sizeof(first) ||
		    (i > 0 && strncmp(commands[i - 1].pattern, pattern,
		                  len + 1) == 0))
			continue;
		snprintf(first, sizeof(first), "%.*s ", (int)len, pattern);
		printf("    '%s') next='", first);
		print_words_after(first);
		printf("' ;;\n");
	}
	printf("    'help ') next='");
	print_words_after("");
	printf("' ;;\n    esac\n");
}

static void
print_globals(void)
{
	size_t i;

	printf("    local globals='");
	for (i = 0; i < global_option_count; i++)
		printf("--%s ", global_options[i].name);
	printf("'\n");
}

enum exit_code
cmd_completion(struct console *console, struct error *err)
{
	(void)console;
	(void)err;
	fputs(begin, stdout);
	printf("        ");
	print_valued(command_options, command_option_count);
	print_valued(global_options, global_option_count);
	printf("-o) skip=1 ;;\n"
	       "        -*) ;;\n"
	       "        *) words+=\"$word \" ;;\n"
	       "        esac\n"
	       "    done\n");
	print_globals();
	print_options();
	print_words();
	print_values();
	fputs(end, stdout);
	return EXIT_DONE;
}
