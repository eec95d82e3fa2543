#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const level_names[] = {
	[LOG_LEVEL_ERROR] = "error",
	[LOG_LEVEL_WARN] = "warn",
	[LOG_LEVEL_INFO] = "info",
	[LOG_LEVEL_DEBUG] = "debug",
};

static struct {
	enum log_level level;
	bool json;
} options = { .level = LOG_LEVEL_INFO };

void
log_init(enum log_level level, bool json)
{
	options.level = level;
	options.json = json;
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

/* JSON's escapes for what breaks a line or a string; the rest as it is. */
static void
put_json_string(FILE *out, const char *text)
{
	putc('"', out);
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			putc(c, out);
	}
	putc('"', out);
}

static void
put_json_line(FILE *out, enum log_level level, const char *message)
{
	struct timespec now;
	struct tm utc;
	char second[sizeof("2000-01-01T00:00:00")];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	strftime(second, sizeof(second), "%Y-%m-%dT%H:%M:%S", &utc);
	fprintf(out,
	    "{\"at\":\"%s.%03ldZ\",\"level\":\"%s\",\"program\":", second,
	    now.tv_nsec / 1000000, level_names[level]);
	put_json_string(out, program_invocation_short_name);
	fputs(",\"message\":", out);
	put_json_string(out, message);
	fputs("}\n", out);
}

/* A message may quote the world: no control characters reach a terminal. */
static void
put_text_line(FILE *out, enum log_level level, const char *message)
{
	fprintf(out, "%s: ", program_invocation_short_name);
	if (level == LOG_LEVEL_WARN)
		fputs("warning: ", out);
	for (; *message != '\0'; message++) {
		unsigned char c = (unsigned char)*message;

		putc((c < 0x20 && c != '\t') || c == 0x7f ? ' ' : c, out);
	}
	putc('\n', out);
}

/*
 * One line in one write, so that lines of several programs on one standard
 * error do not mix.  Uses nothing that can end up here again.
 */
static void
log_line(enum log_level level, int error, const char *format, va_list args)
{
	char *message = NULL, *line = NULL;
	size_t message_len, line_len;
	FILE *out;

	if (level > options.level)
		return;
	out = open_memstream(&message, &message_len);
	if (out == NULL)
		return;
	vfprintf(out, format, args);
	if (error != 0)
		fprintf(out, ": %s", strerror(error));
	fclose(out);
	out = open_memstream(&line, &line_len);
	if (out != NULL && message != NULL) {
		(options.json ? put_json_line : put_text_line)(
		    out, level, message);
		fclose(out);
		fwrite(line, 1, line_len, stderr);
		fflush(stderr);
	}
	free(line);
	free(message);
}

#define LOG_LINE(level, error, format) \
	do { \
		int saved_errno = errno; \
		va_list args; \
\
		va_start(args, format); \
		log_line(level, error, format, args); \
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
