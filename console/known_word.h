/*
 * known_word.h - words that people know from other systems.
 *
 * Somebody who types `wf-console status` or `run -f FILE` has used another
 * system, or lb-workflow. A guess by spelling would mislead them: the nearest
 * word to `status` is `start`.  Here it says what does that work in this program.
 */
#ifndef CONSOLE_KNOWN_WORD_H
#define CONSOLE_KNOWN_WORD_H

#include <stddef.h>

struct command;
struct error;

/* What does the work of a command of another system; NULL: it is not known. */
const char *known_command(const char *word);

/*
 * What does the work of an option of another system, as "-f" or "--name", in
 * this command (NULL: before a command); NULL: it is not known.
 */
const char *known_option(const struct command *command, const char *option);

/*
 * What to say of a word that begins no command: what does its work here, or
 * else the command that is spelled much like it.  Of a command that destroys
 * something only the help is named.  `first` goes before the command: "" or
 * "help ".
 */
void known_word_hint(const char *word, const char *first, struct error *err);

#endif
