/*
 * log.h - lines for whoever runs the program, on standard error.
 *
 * Text lines are "program: message" and carry no time, since every
 * supervisor adds one; JSON lines are {"at", "level", "program", "message"}.
 * A line about a task starts "task <instance>/<process>/<attempt>: ".
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include <stdbool.h>

#include "common/compiler.h"

enum log_level {
	LOG_LEVEL_ERROR, /* only what ends the program */
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG,
};

/* Which lines, and their form.  Before it: text, up to LOG_LEVEL_INFO. */
void log_init(enum log_level level, bool json);

/* The level called `name`: false if there is none. */
bool log_level_find(const char *name, enum log_level *level);

/* With the meaning of errno added behind a colon; the x form without. */
void log_warn(const char *format, ...) PRINTF_LIKE(1, 2);
void log_warnx(const char *format, ...) PRINTF_LIKE(1, 2);
void log_info(const char *format, ...) PRINTF_LIKE(1, 2);
void log_debug(const char *format, ...) PRINTF_LIKE(1, 2);

/* Say so and exit 1.  Only while starting, or when memory is out. */
_Noreturn void fatal(const char *format, ...) PRINTF_LIKE(1, 2);
_Noreturn void fatalx(const char *format, ...) PRINTF_LIKE(1, 2);

#endif
