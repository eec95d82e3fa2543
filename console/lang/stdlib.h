/*
 * stdlib.h - the standard library's source, built into the program.
 *
 * The array is printed by embed.sh from workspace-sql/stdlib (one entry per
 * file) and ends with an entry whose name is NULL.
 */
#ifndef LANG_STDLIB_H
#define LANG_STDLIB_H

struct lang_library {
	const char *name; /* the module: `http` for http.wf */
	const char *text;
};

extern const struct lang_library lang_stdlib[];

#endif
