/*
 * log.h - lines for whoever runs the program, on standard error.
 *
 * Text lines are "program: message" and carry no time, since every
 * supervisor adds one; JSON lines are {"at", "level", "program", "message"}
 * with "workspace", "instance", "process", "attempt" and "task" where the line
 * is about one, in text before the message.  Whatever bytes a message has, it
 * is one line: in JSON they are escaped, in text control characters are
 * blanks; what is not UTF-8 becomes U+FFFD.
 *
 * Nobody waits for who reads them: what cannot be written (sink.h) is left
 * out, and once it can be again the log says how many lines are missing.
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"

struct error;

enum log_level {
	LOG_LEVEL_ERROR, /* only what ends the program */
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG,
};

/* Which lines, and their form.  Before it: text, up to LOG_LEVEL_INFO. */
void log_init(enum log_level level, bool json);

/*
 * Have `filter` look at each message before it is written: it takes a message
 * from malloc() and gives one back.  NULL: nobody does.
 */
void log_filter(char *(*filter)(char *message));

/* The level called `name`: false if there is none. */
bool log_level_find(const char *name, enum log_level *level);

/* With the meaning of errno added behind a colon; the x form without. */
void log_warn(const char *format, ...) PRINTF_LIKE(1, 2);
void log_warnx(const char *format, ...) PRINTF_LIKE(1, 2);
void log_info(const char *format, ...) PRINTF_LIKE(1, 2);
void log_debug(const char *format, ...) PRINTF_LIKE(1, 2);

/* The subject of a line. */
struct log_about {
	const char *workspace; /* its name; NULL or "": the only one, or none */
	int64_t instance_id, process_id; /* of a task; 0: of none */
	int attempt;
	const char *task; /* its type */
};

void log_about(enum log_level level, const struct log_about *about,
    const char *format, ...) PRINTF_LIKE(3, 4);

/* About a workspace. */
#define LOG_IN(level, name, ...) \
	log_about( \
	    level, &(struct log_about){ .workspace = (name) }, __VA_ARGS__)

/* Write what a task says to standard output. */
void log_say(const struct log_about *about, const char *text);

/* Why a program ends, with detail and hint; the level is not asked. */
void log_error(const struct error *err);

/*
 * Say so and exit 1.  Only while starting, when memory is out, or when a call
 * without which nothing goes on fails again and again.
 */
_Noreturn void fatal(const char *format, ...) PRINTF_LIKE(1, 2);
_Noreturn void fatalx(const char *format, ...) PRINTF_LIKE(1, 2);

#endif
