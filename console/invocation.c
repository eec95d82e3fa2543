#include "console/invocation.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"
#include "common/suggestion.h"
#include "console/command.h"
#include "console/known_word.h"
#include "console/value.h"

static void
give(struct invocation *invocation, struct given given)
{
	invocation->given = xreallocarray(invocation->given,
	    invocation->given_count + 1, sizeof(*invocation->given));
	invocation->given[invocation->given_count++] = given;
}

void
invocation_add(struct invocation *invocation, const char *name,
    const char *type, const char *value)
{
	give(invocation,
	    (struct given){ .name = name, .type = type, .value = value });
}

void
invocation_drop(struct invocation *invocation, size_t count)
{
	invocation->given_count -= count;
}

const char *
invocation_next(
    const struct invocation *invocation, const char *name, size_t *at)
{
	const struct given *given;

	while (*at < invocation->given_count) {
		given = &invocation->given[(*at)++];
		if (strcasecmp(given->name, name) == 0)
			return given->value;
	}
	return NULL;
}

const char *
invocation_value(const struct invocation *invocation, const char *name)
{
	const char *value, *last = NULL;
	size_t at = 0;

	while ((value = invocation_next(invocation, name, &at)) != NULL)
		last = value;
	return last;
}

void
invocation_release(struct invocation *invocation)
{
	size_t i;

	for (i = 0; i < invocation->given_count; i++)
		if (invocation->given[i].is_operand)
			free((void *)(uintptr_t)invocation->given[i].name);
	free(invocation->given);
}

/* The command line ------------------------------------------------------- */

struct reader {
	struct invocation *invocation;
	char **argv; /* the arguments that are not read yet */
	const char **operands;
	size_t operand_count;
	bool only_operands; /* after "--" */
	struct error *err;
};

/* Whether it has this name (len bytes); its letter if len is 0. */
static bool
is_called(
    const struct option *option, const char *name, size_t len, char letter)
{
	if (len == 0)
		return option->letter == letter;
	return strlen(option->name) == len &&
	       strncmp(option->name, name, len) == 0;
}

/* The command's own options win over the global ones. */
static const struct option *
find_option(
    const struct command *command, const char *name, size_t len, char letter)
{
	size_t i;

	for (i = 0; command != NULL && i < command_option_count; i++)
		if (is_called(&command_options[i], name, len, letter) &&
		    command_takes(command, &command_options[i]))
			return &command_options[i];
	for (i = 0; i < global_option_count; i++)
		if (is_called(&global_options[i], name, len, letter))
			return &global_options[i];
	return NULL;
}

static void
hint_at_help(const struct command *command, struct error *err)
{
	if (command == NULL)
		error_hint(err, "`wf-console help` lists what there is.");
	else
		error_hint(err, "Usage: wf-console %s (`wf-console help %.*s`)",
		    command->pattern, (int)pattern_words(command->pattern),
		    command->pattern);
}

static bool
refuse_option(const struct reader *reader, const char *text, size_t len)
{
	const struct command *command = reader->invocation->command;
	struct suggestion suggestion;
	char *wanted = xstrndup(text, len);
	const char *known = known_option(command, wanted);
	size_t i;

	error_set(reader->err, "unknown option %s", wanted);
	hint_at_help(command, reader->err);
	if (known != NULL) {
		error_hint(reader->err, "%s", known);
		free(wanted);
		return false;
	}
	suggestion_init(&suggestion, wanted + strspn(wanted, "-"));
	for (i = 0; i < command_option_count && command != NULL; i++)
		if (command_takes(command, &command_options[i]))
			suggestion_offer(&suggestion, command_options[i].name,
			    strlen(command_options[i].name));
	for (i = 0; i < global_option_count; i++)
		suggestion_offer(&suggestion, global_options[i].name,
		    strlen(global_options[i].name));
	if (suggestion.best != NULL)
		error_hint(reader->err, "Did you mean --%s?", suggestion.best);
	free(wanted);
	return false;
}

static bool
take_option(struct reader *reader, const struct option *option,
    const char *value, struct error *err)
{
	struct invocation *invocation = reader->invocation;
	char *what;
	bool ok = true;

	if (option->value != NULL) {
		what = xasprintf("--%s", option->name);
		ok = value_check(
		    option->value, strlen(option->value), value, what, err);
		free(what);
	}
	if (ok && !option->repeats &&
	    invocation_value(invocation, option->name) != NULL) {
		error_set(err, "--%s is given twice", option->name);
		hint_at_help(invocation->command, err);
		ok = false;
	}
	if (ok)
		give(invocation, (struct given){ .name = option->name,
		                     .type = option->value,
		                     .value = value });
	return ok;
}

/* The value of an option: the text behind its name, or the next argument. */
static bool
read_value(
    struct reader *reader, const struct option *option, const char *attached)
{
	if (option->value == NULL) {
		if (attached == NULL)
			return take_option(reader, option, "true", reader->err);
		error_set(reader->err, "--%s takes no value", option->name);
		hint_at_help(reader->invocation->command, reader->err);
		return false;
	}
	if (attached == NULL && (attached = *reader->argv) != NULL)
		reader->argv++;
	if (attached != NULL)
		return take_option(reader, option, attached, reader->err);
	error_set(
	    reader->err, "--%s needs a value: %s", option->name, option->value);
	hint_at_help(reader->invocation->command, reader->err);
	return false;
}

/* "--name", "--name=value", "--name value" */
static bool
read_long_option(struct reader *reader, const char *text)
{
	size_t len = strcspn(text + 2, "=");
	const struct option *option =
	    find_option(reader->invocation->command, text + 2, len, '\0');

	if (option == NULL)
		return refuse_option(reader, text, len + 2);
	return read_value(
	    reader, option, text[len + 2] == '=' ? text + len + 3 : NULL);
}

/* "-x", "-xvalue", "-x value"; flags may be joined: "-xy" */
static bool
read_short_options(struct reader *reader, const char *text)
{
	const struct option *option;
	const char *letter;

	for (letter = text + 1; *letter != '\0'; letter++) {
		option =
		    find_option(reader->invocation->command, NULL, 0, *letter);
		if (option == NULL)
			return refuse_option(reader, text, strlen(text));
		if (option->value != NULL)
			return read_value(reader, option,
			    letter[1] != '\0' ? letter + 1 : NULL);
		if (!read_value(reader, option, NULL))
			return false;
	}
	return true;
}

/* Read options up to the next operand, which stays in argv. */
static bool
read_options(struct reader *reader)
{
	const char *text;

	while ((text = *reader->argv) != NULL && !reader->only_operands) {
		if (text[0] != '-' || text[1] == '\0')
			return true;
		reader->argv++;
		if (strcmp(text, "--") == 0)
			reader->only_operands = true;
		else if (text[1] == '-' ? !read_long_option(reader, text)
		                        : !read_short_options(reader, text))
			return false;
	}
	return true;
}

static bool
read_operands(struct reader *reader)
{
	while (read_options(reader)) {
		if (*reader->argv == NULL)
			return true;
		reader->operands = xreallocarray(reader->operands,
		    reader->operand_count + 1, sizeof(*reader->operands));
		reader->operands[reader->operand_count++] = *reader->argv++;
	}
	return false;
}

/* How many arguments are the words of `command`, if `argv` starts with them. */
static size_t
match_words(const struct command *command, char **argv)
{
	const char *word = command->pattern;
	const char *end = word + pattern_words(word);
	size_t count = 0, len;

	for (; word < end; word += strspn(word, " ")) {
		len = strcspn(word, " ");
		if (argv[count] == NULL || strlen(argv[count]) != len ||
		    strncmp(argv[count], word, len) != 0)
			return 0;
		count++;
		word += len;
	}
	return count;
}

/*
 * The command that has most words in common; several may have the same words.
 */
static const struct command *
find_command(char **argv, size_t *words)
{
	const struct command *command = NULL, *best = NULL;
	size_t count;

	*words = 0;
	while ((command = command_next(command)) != NULL) {
		count = match_words(command, argv);
		if (count > *words) {
			*words = count;
			best = command;
		}
	}
	return best;
}

/* "workspace" alone, or followed by a word that no command has there. */
static void
list_second_words(const char *first, struct error *err)
{
	const struct command *command = NULL;
	size_t len = strlen(first), words;
	struct buf list;

	buf_init(&list, 0);
	while ((command = command_next(command)) != NULL) {
		words = pattern_words(command->pattern);
		if (strncmp(command->pattern, first, len) == 0 && words > len &&
		    command->pattern[len] == ' ')
			buf_addf(&list, "%s%.*s", list.len > 0 ? ", " : "",
			    (int)(words - len - 1), command->pattern + len + 1);
	}
	if (list.len > 0) {
		error_set(err, "\"%s\" needs a second word", first);
		error_hint(err, "One of: %s.", list.data);
	}
	buf_release(&list);
}

static bool
refuse_command(const char *first, struct error *err)
{
	if (first == NULL) {
		error_set(err, "no command given");
		hint_at_help(NULL, err);
		return false;
	}
	error_set(err, "unknown command \"%s\"", first);
	known_word_hint(first, "", err);
	list_second_words(first, err);
	return false;
}

/* Check one operand and store it under the placeholder's name. */
static bool
take_operand(struct reader *reader, const struct placeholder *wanted,
    const char *value, struct error *err)
{
	char *name = xstrndup(wanted->name, wanted->len);

	if (!value_check(name, wanted->len, value, name, err)) {
		free(name);
		return false;
	}
	give(reader->invocation, (struct given){ .name = name,
	                             .type = name,
	                             .value = value,
	                             .is_operand = true });
	return true;
}

/* Give the operands to the placeholders of `command`. */
static bool
fill_pattern(
    struct reader *reader, const struct command *command, struct error *err)
{
	struct placeholder wanted;
	size_t at = 0, next = 0;

	while (pattern_next(command->pattern, &at, &wanted)) {
		if (next == reader->operand_count && !wanted.is_optional) {
			error_set(err, "%.*s is missing", (int)wanted.len,
			    wanted.name);
			hint_at_help(command, err);
			return false;
		}
		while (next < reader->operand_count) {
			if (!take_operand(
			        reader, &wanted, reader->operands[next++], err))
				return false;
			if (!wanted.repeats)
				break;
		}
	}
	if (next == reader->operand_count)
		return true;
	error_set(
	    err, "\"%s\" is one argument too many", reader->operands[next]);
	hint_at_help(command, err);
	return false;
}

/* Forget the operands taken so far, to try another pattern. */
static void
drop_operands(struct invocation *invocation)
{
	while (invocation->given_count > 0 &&
	       invocation->given[invocation->given_count - 1].is_operand)
		free((void *)(uintptr_t)invocation
		         ->given[--invocation->given_count]
		         .name);
}

/* Rows with the same words differ by the types of their operands. */
static bool
choose_pattern(struct reader *reader)
{
	struct invocation *invocation = reader->invocation;
	const struct command *command = invocation->command;

	for (; command != NULL &&
	       command_same_words(command, invocation->command);
	     command = command_next(command)) {
		error_release(reader->err);
		if (fill_pattern(reader, command, reader->err)) {
			invocation->command = command;
			return true;
		}
		drop_operands(invocation);
	}
	return false;
}

static bool
read_command(struct reader *reader)
{
	struct invocation *invocation = reader->invocation;
	static char *help[] = { "help", NULL },
	            *version[] = { "version", NULL };
	char **argv = reader->argv;
	size_t words;

	if (*argv == NULL && invocation_value(invocation, "help") != NULL)
		argv = help;
	if (*argv == NULL && invocation_value(invocation, "version") != NULL)
		argv = version;
	invocation->command = find_command(argv, &words);
	if (invocation->command == NULL)
		return refuse_command(*argv, reader->err);
	reader->argv = argv + words;
	return read_operands(reader) &&
	       (invocation_value(invocation, "help") != NULL ||
	           choose_pattern(reader));
}

bool
invocation_parse(
    struct invocation *invocation, int argc, char **argv, struct error *err)
{
	struct reader reader = {
		.invocation = invocation,
		.argv = argc > 0 ? argv + 1 : argv,
		.err = err,
	};
	bool ok;

	*invocation = (struct invocation){ 0 };
	ok = read_options(&reader) && read_command(&reader);
	free(reader.operands);
	return ok;
}
