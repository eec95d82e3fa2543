#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/error.h"
#include "common/sink.h"
#include "common/utf8.h"

static const char *const level_names[] = {
	[LOG_LEVEL_ERROR] = "error",
	[LOG_LEVEL_WARN] = "warn",
	[LOG_LEVEL_INFO] = "info",
	[LOG_LEVEL_DEBUG] = "debug",
};

static struct {
	enum log_level level;
	enum log_form form;
	char *(*filter)(char *message);
} options = { .level = LOG_LEVEL_INFO };

static struct output {
	struct sink sink;
	int64_t missing; /* lines that standard error did not take */
} logged = { .sink.fd = STDERR_FILENO }, said = { .sink.fd = STDOUT_FILENO };

void
log_init(enum log_level level, enum log_form form)
{
	options.level = level;
	options.form = form;
}

void
log_filter(char *(*filter)(char *message))
{
	options.filter = filter;
}

bool
log_level_find(const char *name, enum log_level *level)
{
	for (size_t i = 0; i < sizeof(level_names) / sizeof(*level_names); i++)
		if (strcmp(name, level_names[i]) == 0) {
			*level = (enum log_level)i;
			return true;
		}
	return false;
}

static const char unknown[] = "\xef\xbf\xbd"; /* U+FFFD */

/* JSON's escapes for bytes that break a line or a string; other bytes stay. */
static void
put_json_string(FILE *out, const char *text)
{
	size_t left = strlen(text), len;

	putc('"', out);
	for (; left > 0; text += len, left -= len) {
		unsigned char c = (unsigned char)*text;

		len = utf8_sequence(text, left);
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else if (len > 0)
			fwrite(text, 1, len, out);
		else
			fputs(unknown, out);
		len = len > 0 ? len : 1;
	}
	putc('"', out);
}

static void
put_member(FILE *out, const char *name, const char *value)
{
	fprintf(out, ",\"%s\":", name);
	put_json_string(out, value);
}

/* As in ISO 8601: "2026-11-28T05:20:12.345Z". */
static void
put_time(FILE *out)
{
	struct timespec now;
	struct tm utc;
	char second[sizeof("2000-01-01T00:00:00")];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	strftime(second, sizeof(second), "%Y-%m-%dT%H:%M:%S", &utc);
	fprintf(out, "%s.%03ldZ", second, now.tv_nsec / 1000000);
}

static void
put_json_begin(FILE *out, enum log_level level)
{
	fputs("{\"at\":\"", out);
	put_time(out);
	fprintf(out, "\",\"level\":\"%s\"", level_names[level]);
	put_member(out, "program", program_invocation_short_name);
}

static bool
names_workspace(const struct log_about *about)
{
	return about->workspace != NULL && about->workspace[0] != '\0';
}

static void
put_json_line(FILE *out, enum log_level level, const struct log_about *about,
    const char *message)
{
	put_json_begin(out, level);
	if (names_workspace(about))
		put_member(out, "workspace", about->workspace);
	if (about->process_id != 0)
		fprintf(out,
		    ",\"instance\":%lld,\"process\":%lld,\"attempt\":%d",
		    (long long)about->instance_id, (long long)about->process_id,
		    about->attempt);
	if (about->task != NULL)
		put_member(out, "task", about->task);
	put_member(out, "message", message);
	fputs("}\n", out);
}

/* A message may quote foreign text: no control characters reach a terminal. */
static void
put_plain(FILE *out, const char *text)
{
	size_t left = strlen(text), len;

	for (; left > 0; text += len, left -= len) {
		unsigned char c = (unsigned char)*text;

		len = utf8_sequence(text, left);
		if ((c < 0x20 && c != '\t') || c == 0x7f ||
		    (len == 2 && c == 0xc2 && (unsigned char)text[1] < 0xa0))
			putc(' ', out);
		else if (len > 0)
			fwrite(text, 1, len, out);
		else
			fputs(unknown, out);
		len = len > 0 ? len : 1;
	}
}

static void
put_text_begin(FILE *out)
{
	if (options.form == LOG_TIMED) {
		put_time(out);
		putc(' ', out);
	}
}

static void
put_text_line(FILE *out, enum log_level level, const struct log_about *about,
    const char *message)
{
	put_text_begin(out);
	fprintf(out, "%s: ", program_invocation_short_name);
	if (level == LOG_LEVEL_WARN)
		fputs("warning: ", out);
	if (names_workspace(about)) {
		put_plain(out, about->workspace);
		fputs(": ", out);
	}
	if (about->process_id != 0)
		fprintf(out,
		    "task %lld/%lld/%d: ", (long long)about->instance_id,
		    (long long)about->process_id, about->attempt);
	put_plain(out, message);
	putc('\n', out);
}

/* "17/42 text": the numbers of the task before its text */
static void
put_said(FILE *out, enum log_level level, const struct log_about *about,
    const char *text)
{
	(void)level;
	put_text_begin(out);
	if (names_workspace(about)) {
		put_plain(out, about->workspace);
		fputs(": ", out);
	}
	fprintf(out, "%lld/%lld ", (long long)about->instance_id,
	    (long long)about->process_id);
	put_plain(out, text);
	putc('\n', out);
}

static const struct log_about nothing;

typedef void put_fn(FILE *out, enum log_level level,
    const struct log_about *about, const char *message);

/* Without memory there is no text, or only its beginning. */
static bool
is_line(const char *text, size_t len)
{
	return text != NULL && len > 0 && text[len - 1] == '\n';
}

/* The line for the caller to free(); NULL if there is no memory for it. */
static char *
make_line(put_fn *put, enum log_level level, const struct log_about *about,
    const char *message, size_t *len)
{
	char *line = NULL;
	FILE *out;

	*len = 0;
	out = open_memstream(&line, len);
	if (out == NULL)
		return NULL;
	put(out, level, about, message);
	fclose(out);
	if (is_line(line, *len))
		return line;
	free(line);
	return NULL;
}

/*
 * The last words of a program that has no memory for its message.  The message
 * is left out as a whole, because its secrets may not have been removed yet.
 */
static bool
say_no_memory(void)
{
	const char *format = options.form == LOG_JSON
	                         ? "{\"level\":\"error\",\"program\":\"%s\","
	                           "\"message\":\"%s\"}\n"
	                         : "%s: %s\n";
	char line[200];
	int len = snprintf(line, sizeof(line), format,
	    program_invocation_short_name, "no memory to say what happened");

	return len < (int)sizeof(line) &&
	       sink_write(&logged.sink, line, (size_t)len);
}

/* Count a line for which there is no memory. */
static void
lose_line(struct output *output, enum log_level level)
{
	if (output != &logged || level > LOG_LEVEL_ERROR || !say_no_memory())
		output->missing++;
}

static put_fn *
form(put_fn *text)
{
	return options.form == LOG_JSON ? put_json_line : text;
}

/* Write how many lines are missing before this one. */
static bool
tell_missing(struct output *output)
{
	char message[80];
	size_t len;
	char *line;
	bool told;

	snprintf(message, sizeof(message),
	    "%lld lines before this could not be written",
	    (long long)output->missing);
	line = make_line(
	    form(put_text_line), LOG_LEVEL_WARN, &nothing, message, &len);
	told = line != NULL && sink_write(&output->sink, line, len);
	free(line);
	if (told)
		output->missing = 0;
	return told;
}

/* One line in one write: lines of several programs do not mix. */
static void
add_line(struct output *output, put_fn *text, enum log_level level,
    const struct log_about *about, const char *message)
{
	size_t len;
	char *line = make_line(form(text), level, about, message, &len);

	if (line == NULL)
		lose_line(output, level);
	else if ((output->missing > 0 && !tell_missing(output)) ||
	         !sink_write(&output->sink, line, len))
		output->missing++;
	free(line);
}

/* The message without secrets, for the caller to free(). */
static char *
filtered(char *message)
{
	return options.filter != NULL && message != NULL
	           ? options.filter(message)
	           : message;
}

/* The message for the caller to free(); NULL if there is no memory for it. */
static char *
print(int error, const char *format, va_list args)
{
	char *message = NULL;
	size_t len;
	FILE *out = open_memstream(&message, &len);
	bool whole;

	if (out == NULL)
		return NULL;
	whole = vfprintf(out, format, args) >= 0 &&
	        (error == 0 || fprintf(out, ": %s", strerror(error)) >= 0);
	fclose(out);
	if (whole)
		return message;
	free(message);
	return NULL;
}

/* Calls nothing that can call this function again. */
static void
log_line(enum log_level level, const struct log_about *about, int error,
    const char *format, va_list args)
{
	char *message;

	if (level > options.level)
		return;
	message = filtered(print(error, format, args));
	if (message != NULL)
		add_line(&logged, put_text_line, level, about, message);
	else
		lose_line(&logged, level);
	free(message);
}

void
log_about(enum log_level level, const struct log_about *about,
    const char *format, ...)
{
	int saved_errno = errno;
	va_list args;

	va_start(args, format);
	log_line(level, about, 0, format, args);
	va_end(args);
	errno = saved_errno;
}

void
log_say(const struct log_about *about, const char *text)
{
	char *message = filtered(strdup(text));

	if (message != NULL)
		add_line(&said, put_said, LOG_LEVEL_INFO, about, message);
	else
		lose_line(&said, LOG_LEVEL_INFO);
	free(message);
}

static void
put_json_error(FILE *out, const struct error *err)
{
	put_json_begin(out, LOG_LEVEL_ERROR);
	put_member(out, "message", err->message);
	if (err->detail != NULL)
		put_member(out, "detail", err->detail);
	if (err->hint != NULL)
		put_member(out, "hint", err->hint);
	fputs("}\n", out);
}

static void
put_text_error(FILE *out, const struct error *err)
{
	const char *const parts[] = { err->message, err->detail, err->hint };
	static const char *const labels[] = { "", "detail: ", "hint: " };
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i] == NULL)
			continue;
		fprintf(
		    out, "%s: %s", program_invocation_short_name, labels[i]);
		put_plain(out, parts[i]);
		putc('\n', out);
	}
}

void
log_error(const struct error *err)
{
	char *lines = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&lines, &len);

	if (out != NULL) {
		(options.form == LOG_JSON ? put_json_error : put_text_error)(
		    out, err);
		fclose(out);
	}
	if (is_line(lines, len))
		(void)sink_write(&logged.sink, lines, len);
	else
		lose_line(&logged, LOG_LEVEL_ERROR);
	free(lines);
}

#define LOG_LINE(level, error, format) \
	do { \
		int saved_errno = errno; \
		va_list args; \
\
		va_start(args, format); \
		log_line(level, &nothing, error, format, args); \
		va_end(args); \
		errno = saved_errno; \
	} while (0)

void
log_warn(const char *format, ...)
{
	LOG_LINE(LOG_LEVEL_WARN, errno, format);
}

void
log_warnx(const char *format, ...)
{
	LOG_LINE(LOG_LEVEL_WARN, 0, format);
}

void
log_info(const char *format, ...)
{
	LOG_LINE(LOG_LEVEL_INFO, 0, format);
}

void
log_debug(const char *format, ...)
{
	LOG_LINE(LOG_LEVEL_DEBUG, 0, format);
}

void
fatal(const char *format, ...)
{
	LOG_LINE(LOG_LEVEL_ERROR, errno, format);
	exit(1);
}

void
fatalx(const char *format, ...)
{
	LOG_LINE(LOG_LEVEL_ERROR, 0, format);
	exit(1);
}
