/*
 * emit.h - a checked program as the JSON of docs/spec.md.
 */
#ifndef LANG_EMIT_H
#define LANG_EMIT_H

struct decl;
struct program;

/*
 * The compiled tree of the first module.  Nothing may have been reported.
 * The same program always gives the same bytes.  The caller frees it.
 */
char *emit_program(struct program *program);

/* A task type alone.  The caller frees it. */
char *emit_type(struct program *program, const struct decl *decl);

#endif
