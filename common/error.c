#include "common/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

/* Replace `*field`.  Its old text may be among the arguments. */
static void
set_text(char **field, const char *format, va_list args)
{
	char *text = xvasprintf(format, args);

	free(*field);
	*field = text;
}

/* A new error: hint, detail and SQLSTATE of the former one are dropped. */
static void
set_message(struct error *err, char *message)
{
	error_release(err);
	err->message = message;
}

void
error_set(struct error *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_message(err, xvasprintf(format, args));
	va_end(args);
}

void
error_set_errno(struct error *err, const char *format, ...)
{
	const char *reason = strerror(errno);
	va_list args;
	char *text;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	set_message(err, xasprintf("%s: %s", text, reason));
	free(text);
}

void
error_prefix(struct error *err, const char *format, ...)
{
	va_list args;
	char *text, *message;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	message = xasprintf("%s: %s", text, err->message);
	free(text);
	free(err->message);
	err->message = message;
}

void
error_hint(struct error *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_text(&err->hint, format, args);
	va_end(args);
}

void
error_detail(struct error *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_text(&err->detail, format, args);
	va_end(args);
}

void
error_sqlstate(struct error *err, const char *sqlstate)
{
	size_t len = strnlen(sqlstate, sizeof(err->sqlstate) - 1);

	memcpy(err->sqlstate, sqlstate, len);
	err->sqlstate[len] = '\0';
}

void
error_release(struct error *err)
{
	free(err->message);
	free(err->hint);
	free(err->detail);
	*err = (struct error){ 0 };
}
