/*
 * bind.h - from the SQL of the command table to a query with parameters.
 */
#ifndef CONSOLE_BIND_H
#define CONSOLE_BIND_H

struct invocation;
struct pg_params;

/*
 * Replace each `:name` by a parameter of the type that the argument or
 * option of that name has, and add its value to `params`:
 *
 *   given once      the value, null if it was left out, false for a flag
 *   may be repeated an array of all that was given, null if nothing was
 *   :instance and :process   also the two parts of a TARGET or PROCESS
 *
 * Returns the text for the caller to free().
 */
char *bind_sql(const char *sql, const struct invocation *invocation,
    struct pg_params *params);

#endif
