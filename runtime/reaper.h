/*
 * reaper.h - the end of a child process that nobody waits for.
 *
 * A process that was killed may live on for a while: it waits for a disk that
 * does not answer, or a debugger holds it.  The loop goes on meanwhile.
 */
#ifndef RUNTIME_REAPER_H
#define RUNTIME_REAPER_H

#include <sys/types.h>

struct loop;

/*
 * Kill the process group of `pid`, and have the loop reap `pid` when it has
 * ended.  Then `pid_fd`, its descriptor, is closed; -1: it has none.
 */
void reaper_kill(struct loop *loop, pid_t pid, int pid_fd);

#endif
