/*
 * known_word.h - words that people know from other systems.
 *
 * Somebody who types `wf-console status` or `run -f FILE` has used another
 * system, or lb-workflow.  A guess by spelling would mislead them: the nearest
 * word to `status` is `start`.  This table says which command does that work
 * here.
 */
#ifndef CONSOLE_KNOWN_WORD_H
#define CONSOLE_KNOWN_WORD_H

#include <stddef.h>

struct command;
struct error;

/* What to use here for a command of another system; NULL: unknown word. */
const char *known_command(const char *word);

/*
 * What to use here for an option of another system, such as "-f" or "--name",
 * in this command (NULL: before a command); NULL: unknown option.
 */
const char *known_option(const struct command *command, const char *option);

/*
 * The hint for a word that begins no command: what to use here, or else the
 * command with a similar spelling.  For a command that destroys something the
 * hint names only its help.  `first` goes before the command: "" or "help ".
 */
void known_word_hint(const char *word, const char *first, struct error *err);

#endif
