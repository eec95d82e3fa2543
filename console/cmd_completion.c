/*
 * cmd_completion.c - completion for bash and zsh, printed from the command
 * table.
 *
 * Both scripts are the same `case`s between a head and a tail of their own: the
 * command's words before the cursor decide what may follow, and which options
 * there are.
 */
#include <stdio.h>
#include <string.h>

#include "console/commands.h"
#include "console/console.h"

/* The differences between the shells. */
struct shell {
	const char *head, *tail;
	const char *open, *close; /* of a list */
	void (*print_item)(
	    FILE *out, const char *word, size_t len, const char *summary);
};

static void
print_bash_item(FILE *out, const char *word, size_t len, const char *summary)
{
	(void)summary;
	fprintf(out, "%.*s ", (int)len, word);
}

/* 'word:what it does' */
static void
print_zsh_item(FILE *out, const char *word, size_t len, const char *summary)
{
	fprintf(out, "'%.*s", (int)len, word);
	if (summary != NULL)
		putc(':', out);
	for (; summary != NULL && *summary != '\0'; summary++)
		if (*summary == '\'')
			fputs("'\\''", out);
		else
			putc(*summary, out);
	fputs("' ", out);
}

static const struct shell bash = {
	.head = "# bash completion for wf-console, printed by `wf-console "
	        "completion bash`\n"
	        "_wf_console() {\n"
	        "    local cur=${COMP_WORDS[COMP_CWORD]} "
	        "prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	        "    local said='' skip='' word options='' globals='' next=''\n"
	        "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n",
	.open = "='",
	.close = "'",
	.print_item = print_bash_item,
	.tail =
	    "    if [[ $cur == -* ]]; then\n"
	    "        mapfile -t COMPREPLY < <(compgen -W \"$options $globals\" "
	    "-- \"$cur\")\n"
	    "    elif [ -n \"$next\" ]; then\n"
	    "        mapfile -t COMPREPLY < <(compgen -W \"$next\" -- "
	    "\"$cur\")\n"
	    "    else\n"
	    "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	    "        compopt -o filenames 2>/dev/null\n"
	    "    fi\n"
	    "}\n"
	    "complete -F _wf_console wf-console\n",
};

static const struct shell zsh = {
	.head = "#compdef wf-console\n"
	        "# zsh completion for wf-console, printed by `wf-console "
	        "completion zsh`\n"
	        "_wf-console() {\n"
	        "    local cur=$words[CURRENT] prev=$words[CURRENT-1]\n"
	        "    local said='' skip='' word\n"
	        "    local -a options globals next\n"
	        "    for word in \"${(@)words[2,CURRENT-1]}\"; do\n",
	.open = "=(",
	.close = ")",
	.print_item = print_zsh_item,
	.tail = "    if [[ $cur == -* ]]; then\n"
	        "        options+=($globals)\n"
	        "        _describe -o option options\n"
	        "    elif (( $#next )); then\n"
	        "        _describe word next\n"
	        "    else\n"
	        "        _files\n"
	        "    fi\n"
	        "}\n"
	        "if [[ $funcstack[1] == _wf-console ]]; then\n"
	        "    _wf-console \"$@\"\n"
	        "else\n"
	        "    compdef _wf-console wf-console\n"
	        "fi\n",
};

/* "-d|--dbname|": options whose value is the next word. */
static void
print_valued(FILE *out, const struct option *options, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (options[i].value == NULL)
			continue;
		if (options[i].letter != '\0')
			fprintf(out, "-%c|", options[i].letter);
		fprintf(out, "--%s|", options[i].name);
	}
}

/* The loop over the words before the cursor. */
static void
print_loop(FILE *out)
{
	fprintf(out, "        if [ -n \"$skip\" ]; then skip=''; continue; fi\n"
	             "        case $word in\n"
	             "        ");
	print_valued(out, command_options, command_option_count);
	print_valued(out, global_options, global_option_count);
	fprintf(out, "-o) skip=1 ;;\n"
	             "        -*) ;;\n"
	             "        *) said+=\"$word \" ;;\n"
	             "        esac\n"
	             "    done\n");
}

static void
print_option(FILE *out, const struct shell *shell, const struct option *option)
{
	char name[40];
	int len = snprintf(name, sizeof(name), "--%s", option->name);

	shell->print_item(out, name, (size_t)len, option->text);
}

/* What may follow an option: one of a few words, or something unknown. */
static void
print_values_of(
    FILE *out, const struct shell *shell, const struct option *option)
{
	static const struct {
		const char *type, *words;
	} values[] = {
		{ "ACTION", "retry ignore resolve raise cancel abort" },
		{ "DRAWING", "dot mermaid svg" },
		{ "FORMAT", "table json csv" },
	};
	const char *word = NULL;
	size_t v, len;

	for (v = 0; v < sizeof(values) / sizeof(values[0]); v++)
		if (option->value != NULL &&
		    strcmp(option->value, values[v].type) == 0)
			word = values[v].words;
	if (word == NULL)
		return;
	fprintf(out, "    --%s", option->name);
	if (option->letter != '\0')
		fprintf(out, "|-%c", option->letter);
	fprintf(out, ") next%s", shell->open);
	for (; *word != '\0'; word += len + (word[len] == ' ')) {
		len = strcspn(word, " ");
		shell->print_item(out, word, len, NULL);
	}
	fprintf(out, "%s ;;\n", shell->close);
}

static void
print_values(FILE *out, const struct shell *shell)
{
	size_t i;

	fprintf(out, "    [ -z \"$skip\" ] || next%s%s\n", shell->open,
	    shell->close);
	fprintf(out, "    case $prev in\n");
	for (i = 0; i < command_option_count; i++)
		print_values_of(out, shell, &command_options[i]);
	for (i = 0; i < global_option_count; i++)
		print_values_of(out, shell, &global_options[i]);
	fprintf(out, "    esac\n");
}

/* Whether no earlier command begins with the same `len` characters. */
static bool
is_first(const struct command *command, size_t len)
{
	const struct command *other = command_next(NULL);

	while (other != command &&
	       (strncmp(other->pattern, command->pattern, len) != 0 ||
	           strchr(" ", other->pattern[len]) == NULL))
		other = command_next(other);
	return other == command;
}

/* The options of each command, by its words. */
static void
print_options(FILE *out, const struct shell *shell)
{
	const struct command *command = NULL;
	size_t words, o;

	fprintf(out, "    case $said in\n");
	while ((command = command_next(command)) != NULL) {
		words = pattern_words(command->pattern);
		if (!is_first(command, words))
			continue;
		fprintf(out, "    \"%.*s \"*) options%s", (int)words,
		    command->pattern, shell->open);
		for (o = 0; o < command_option_count; o++)
			if (command_takes(command, &command_options[o]))
				print_option(out, shell, &command_options[o]);
		fprintf(out, "%s ;;\n", shell->close);
	}
	fprintf(out, "    esac\n");
}

/*
 * The words that come `after` other words, each once, wherever they stand in
 * the table.
 */
static void
print_words_after(FILE *out, const struct shell *shell, const char *after)
{
	const struct command *command = NULL;
	size_t len = strlen(after), word;

	while ((command = command_next(command)) != NULL) {
		const char *pattern = command->pattern;

		if (strncmp(pattern, after, len) != 0 ||
		    pattern_words(pattern) <= len)
			continue;
		word = len + strcspn(pattern + len, " ");
		if (is_first(command, word))
			shell->print_item(out, pattern + len, word - len,
			    word == pattern_words(pattern) ? command->summary
			                                   : NULL);
	}
}

static void
print_next(
    FILE *out, const struct shell *shell, const char *said, const char *after)
{
	fprintf(out, "    '%s') next%s", said, shell->open);
	print_words_after(out, shell, after);
	fprintf(out, "%s ;;\n", shell->close);
}

/* The words of commands: first words, and words after one like "workspace". */
static void
print_words(FILE *out, const struct shell *shell)
{
	const struct command *command = NULL;
	size_t len;

	fprintf(out, "    case $said in\n");
	print_next(out, shell, "", "");
	while ((command = command_next(command)) != NULL) {
		const char *pattern = command->pattern;
		char first[32];

		len = strcspn(pattern, " ");
		if (len >= pattern_words(pattern) || len + 1 >= sizeof(first) ||
		    !is_first(command, len))
			continue;
		snprintf(first, sizeof(first), "%.*s ", (int)len, pattern);
		print_next(out, shell, first, first);
	}
	print_next(out, shell, "help ", "");
	fprintf(out, "    esac\n");
}

static void
print_globals(FILE *out, const struct shell *shell)
{
	size_t i;

	fprintf(out, "    globals%s", shell->open);
	for (i = 0; i < global_option_count; i++)
		print_option(out, shell, &global_options[i]);
	fprintf(out, "%s\n", shell->close);
}

static void
print_script(FILE *out, const struct shell *shell)
{
	fputs(shell->head, out);
	print_loop(out);
	print_globals(out, shell);
	print_options(out, shell);
	print_words(out, shell);
	print_values(out, shell);
	fputs(shell->tail, out);
}

enum exit_code
cmd_completion_bash(struct console *console, struct error *err)
{
	(void)err;
	print_script(console->out, &bash);
	return EXIT_DONE;
}

enum exit_code
cmd_completion_zsh(struct console *console, struct error *err)
{
	(void)err;
	print_script(console->out, &zsh);
	return EXIT_DONE;
}
