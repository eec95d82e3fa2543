/*
 * consent.h - ask before a verb touches more than one target.
 *
 * The console counts the targets, and asks while nothing is locked.  Afterwards
 * the verb is limited to these targets: it touches them or fewer, however long
 * the answer took.
 */
#ifndef CONSOLE_CONSENT_H
#define CONSOLE_CONSENT_H

#include <stdbool.h>

#include "console/command.h"

struct console;
struct error;
struct selector;

/*
 * Whether the verb of the command line may go on with `selector`, which
 * becomes narrower.  False: `err` says why, and `*code` is the exit code.
 */
bool consent_ask(struct console *console, struct selector *selector,
    enum exit_code *code, struct error *err);

#endif
