/*
 * check.h - everything that can be known before a workflow runs.
 */
#ifndef LANG_CHECK_H
#define LANG_CHECK_H

struct module;
struct program;

/* To be called for each module once it is loaded, before any is checked. */
void check_loaded(struct program *program, struct module *module);

/* Check all modules, also those that are loaded on the way. */
void check_program(struct program *program);

#endif
