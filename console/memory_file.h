/*
 * memory_file.h - files that live in memory, for other programs to use as
 * /proc/self/fd/N.
 */
#ifndef CONSOLE_MEMORY_FILE_H
#define CONSOLE_MEMORY_FILE_H

#include <stdbool.h>

struct buf;
struct error;

/* A file that holds `text`, for the caller to close(); -1 with `err` set. */
int memory_file_make(const char *text, struct error *err);

/* Add the whole file. */
bool memory_file_read(int fd, struct buf *buf, struct error *err);

#endif
