/* form.h - the argument `form` as a body, as browsers send it. */
#ifndef DRIVER_TRANSPORT_HTTP_FORM_H
#define DRIVER_TRANSPORT_HTTP_FORM_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct json;

/* Strings are the caller's to free(). */
struct http_form {
	char *body;
	size_t len;
	char *type; /* for Content-Type */
};

/*
 * `form` is an object.  A value is a scalar, a file, a list of those (its name
 * comes several times), or null (it is left out).  A file is an object
 * {filename, content, type?}.  With a file the body is multipart/form-data,
 * otherwise application/x-www-form-urlencoded.  The same form always makes the
 * same body, since all attempts of a task have the same Idempotency-Key.
 * False with `err` set: the form is wrong.
 */
bool http_form_make(
    struct http_form *made, const struct json *form, struct error *err);

/* A scalar as text, for the caller to free(); NULL for any other value. */
char *http_form_scalar(const struct json *value);

#endif
