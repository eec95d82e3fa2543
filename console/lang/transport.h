/*
 * transport.h - what the driver's transports take and answer.
 */
#ifndef LANG_TRANSPORT_H
#define LANG_TRANSPORT_H

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
};

/* The transport called `name`, or NULL. */
const struct transport *transport_find(const char *name);

/* The type of an argument; NULL if there is none of that name. */
const struct type *transport_arg(
    const struct transport *transport, const char *name);

/* For hints: names, separated by commas. */
char *transport_names(struct arena *arena);
char *transport_arg_names(
    struct arena *arena, const struct transport *transport);

#endif
