/*
 * log.h - lines on standard error, for the person who runs the program.
 *
 * Text lines are "program: message".  They begin with the time only in the form
 * LOG_TIMED: most supervisors add one.  JSON lines are {"at", "level", "program", "message"}, with
 * "workspace", "instance", "process", "attempt" and "task" where the line is
 * about one; a text line has these before its message.  A message is always one
 * line, whatever bytes it has: JSON escapes them, and in text control
 * characters become blanks.  Bytes that are not UTF-8 become U+FFFD.  The
 * program does not wait for the reader of its log: a line that cannot be
 * written (sink.h) is left out, and the next line that can be written says how
 * many are missing.
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"

struct error;

enum log_level {
	LOG_LEVEL_ERROR, /* only the message with which the program ends */
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG,
};

enum log_form {
	LOG_TEXT,
	LOG_TIMED, /* text that begins with the time, in UTC */
	LOG_JSON,
};

/*
 * Set which lines are written, and their form.  Without a call: text, up to
 * LOG_LEVEL_INFO.
 */
void log_init(enum log_level level, enum log_form form);

/*
 * Have `filter` change each message before it is written: it takes a message
 * from malloc() and gives one back.  NULL: messages stay as they are.
 */
void log_filter(char *(*filter)(char *message));

/* The level called `name`: false if there is none. */
bool log_level_find(const char *name, enum log_level *level);

/* The meaning of errno is added behind a colon; the x form does not add it. */
void log_warn(const char *format, ...) PRINTF_LIKE(1, 2);
void log_warnx(const char *format, ...) PRINTF_LIKE(1, 2);
void log_info(const char *format, ...) PRINTF_LIKE(1, 2);
void log_debug(const char *format, ...) PRINTF_LIKE(1, 2);

/* The subject of a line. */
struct log_about {
	/*
	 * its name; NULL or "": the only workspace, or the line is about none
	 */
	const char *workspace;
	/* 0: the line is not about a task */
	int64_t instance_id, process_id;
	int attempt;
	const char *task; /* its type */
};

void log_about(enum log_level level, const struct log_about *about,
    const char *format, ...) PRINTF_LIKE(3, 4);

/* A line about a workspace. */
#define LOG_IN(level, name, ...) \
	log_about( \
	    level, &(struct log_about){ .workspace = (name) }, __VA_ARGS__)

/* Write the text of a task to standard output. */
void log_say(const struct log_about *about, const char *text);

/* Why a program ends, with detail and hint; written at every log level. */
void log_error(const struct error *err);

/*
 * Log the message and exit 1.  For the start of a program, for lack of memory,
 * and for an indispensable call that fails again and again.
 */
_Noreturn void fatal(const char *format, ...) PRINTF_LIKE(1, 2);
_Noreturn void fatalx(const char *format, ...) PRINTF_LIKE(1, 2);

#endif
