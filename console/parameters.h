/*
 * parameters.h - the parameters of a new instance, from the command line.
 */
#ifndef CONSOLE_PARAMETERS_H
#define CONSOLE_PARAMETERS_H

#include <stdbool.h>

struct buf;
struct error;
struct invocation;
struct json;

#define PARAMETERS_FILE_MAX (1 << 20) /* the most that the workspace takes */

/* Add a file to `content`, whose limit is PARAMETERS_FILE_MAX. */
bool parameters_read_file(
    const char *path, struct buf *content, struct error *err);

/*
 * --params and --param as one JSON object, for the caller to free().
 * `declared` is the workflow's list of parameters (docs/spec.md), or NULL if
 * it is not known: it decides whether a value is JSON or a string.  NULL with
 * `err` set if a file can't be read or a value is not UTF-8.
 */
char *parameters_json(const struct invocation *invocation,
    const struct json *declared, struct error *err);

#endif
