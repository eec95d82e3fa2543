/*
 * parameters.h - the parameters of a new instance, from the command line.
 */
#ifndef CONSOLE_PARAMETERS_H
#define CONSOLE_PARAMETERS_H

struct error;
struct invocation;
struct json;

/*
 * --params and --param as one JSON object, for the caller to free().
 * `declared` is the workflow's list of parameters (docs/spec.md), or NULL if
 * it is not known: it decides whether a value is JSON or a string.  NULL with
 * `err` set if a file can't be read or a value is not UTF-8.
 */
char *parameters_json(const struct invocation *invocation,
    const struct json *declared, struct error *err);

#endif
