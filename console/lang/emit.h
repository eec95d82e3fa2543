/*
 * emit.h - print a checked program as the JSON of docs/spec.md.
 */
#ifndef LANG_EMIT_H
#define LANG_EMIT_H

struct decl;
struct program;

/*
 * The compiled tree of the first module.  Call this only if no error was
 * reported.  The same program always gives the same bytes.  The caller frees
 * it.
 */
char *emit_program(struct program *program);

/* The tree of one task type.  The caller frees it. */
char *emit_type(struct program *program, const struct decl *decl);

#endif
