/*
 * transport.h - what the driver's transports take and answer.
 */
#ifndef LANG_TRANSPORT_H
#define LANG_TRANSPORT_H

#include <stdbool.h>

struct arena;
struct type;

struct transport_arg {
	const char *name;
	const struct type *type;
};

struct transport {
	const char *name;
	const struct transport_arg *args; /* ends with name NULL */
	const struct type *response;
	bool streams; /* its output can be read while it runs */
	const char
	    *secrets[3]; /* arguments that can hold some; ends with NULL */
};

/* The transport called `name`, or NULL. */
const struct transport *transport_find(const char *name);

/* The type of an argument; NULL if there is none of that name. */
const struct type *transport_arg(
    const struct transport *transport, const char *name);

/* Whether secrets may stand in that argument. */
bool transport_takes_secret(
    const struct transport *transport, const char *name);

/* For hints: names, separated by commas. */
char *transport_secret_names(
    struct arena *arena, const struct transport *transport);
char *transport_names(struct arena *arena);
char *transport_arg_names(
    struct arena *arena, const struct transport *transport);

#endif
