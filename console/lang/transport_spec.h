/*
 * transport_spec.h - the arguments and responses of the driver's transports.
 *
 * wf.transport is the workspace's part of it (code/definition/transport.sql).
 */
#ifndef LANG_TRANSPORT_SPEC_H
#define LANG_TRANSPORT_SPEC_H

#include <stdbool.h>
#include <stdio.h>

struct arena;
struct type;

struct transport_arg {
	const char *name;
	const struct type *type;
};

struct transport_spec {
	const char *name;
	const struct transport_arg *args; /* ends with name NULL */
	const struct type *response;
	bool streams; /* its output can be read while it runs */
	const char
	    *secrets[4]; /* arguments that may have secrets; ends with NULL */
};

/* The transport called `name`, or NULL. */
const struct transport_spec *transport_spec_find(const char *name);

/* The type of an argument; NULL if the transport has no such argument. */
const struct type *transport_spec_arg(
    const struct transport_spec *transport, const char *name);

/* Whether secrets may stand in that argument. */
bool transport_spec_takes_secret(
    const struct transport_spec *transport, const char *name);

/* For hints: names, separated by commas. */
char *transport_spec_secret_names(
    struct arena *arena, const struct transport_spec *transport);
char *transport_spec_names(struct arena *arena);
char *transport_spec_arg_names(
    struct arena *arena, const struct transport_spec *transport);

/*
 * A line for each transport: its name, whether it streams (t or f), and the
 * arguments that may have secrets, separated by commas.
 */
void transport_spec_print(FILE *file);

#endif
