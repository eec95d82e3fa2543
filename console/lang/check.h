/*
 * check.h - find all errors that can be found before a workflow runs.
 */
#ifndef LANG_CHECK_H
#define LANG_CHECK_H

struct module;
struct program;

/* Call this for each module once it is loaded, before any module is checked. */
void check_loaded(struct program *program, struct module *module);

/* Check all modules, also those that are loaded meanwhile. */
void check_program(struct program *program);

#endif
