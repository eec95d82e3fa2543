/*
 * options.h - the table of options, and how their values are set.
 *
 * Only the files of driver/config use it; all others read struct config.
 */
#ifndef DRIVER_CONFIG_OPTIONS_H
#define DRIVER_CONFIG_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;
struct config_list;
struct error;

enum option_type {
	OPTION_BOOL,
	OPTION_INT,
	OPTION_LIST,
	OPTION_STRING,
};

/* When another value takes effect in a running driver. */
enum option_change {
	OPTION_LIVE,
	OPTION_REGISTERED, /* at once; the workspace is told */
	OPTION_FIXED,      /* at a new start */
};

struct option {
	const char *key; /* the part before a dot is a group of the file */
	enum option_type type;
	size_t offset;      /* in struct config */
	const char *preset; /* as -o takes it */
	int64_t min, max;   /* of a number */
	const char *text;
	enum option_change change;
};

/* In the order of the example file; a group's options stand together. */
extern const struct option options[];
extern const size_t option_count;

/* The option called `key`; NULL with `err` set if there is none. */
const struct option *option_find(const char *key, struct error *err);

/* The place of an option's value: a bool, int64_t, char * or config_list. */
void *option_field(const struct config *config, const struct option *option);

/* Whether `text` is UTF-8; the error names `key`. */
bool option_is_text(const char *key, const char *text, struct error *err);

/* False, with `err` set, if the option can't have this value. */
bool option_set_int(struct config *config, const struct option *option,
    int64_t value, struct error *err);

void option_set_string(
    struct config *config, const struct option *option, const char *text);

/* `text` is as behind -o key=, or as in the column `preset`. */
bool option_set_text(struct config *config, const struct option *option,
    const char *text, struct error *err);

/* Whether both have the same value of the option. */
bool option_same(const struct option *option, const struct config *a,
    const struct config *b);

/* Exchange its two values. */
void option_swap(
    const struct option *option, struct config *a, struct config *b);

void option_list_clear(struct config_list *list);
void option_list_add(struct config_list *list, const char *item, size_t len);

/* The value has another type than the option: false, and `err` says so. */
bool option_wrong_type(const struct option *option, struct error *err);

#endif
