/*
 * program.h - where this program's own files and companions are.
 *
 * In a build tree the program finds them beside itself, so you can try it
 * without installing it.  Otherwise they are where the build put them.
 */
#ifndef CONSOLE_PROGRAM_H
#define CONSOLE_PROGRAM_H

struct error;

/*
 * A file of workspace-sql, such as "install.sql", for the caller to free();
 * NULL with `err` set if it does not exist.
 */
char *program_sql_file(const char *name, struct error *err);

/* Another of our programs: the one beside this one, else the one in PATH. */
char *program_companion(const char *name);

#endif
