/*
 * consent.h - ask before a verb touches more than one target.
 *
 * What would be touched is looked up without a lock, told, and asked about
 * while nothing is locked.  Afterwards the verb is held to what was told: it
 * touches that or less, however long the answer took.
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
