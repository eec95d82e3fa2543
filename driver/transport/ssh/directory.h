/*
 * directory.h - a private directory for the sockets of connections.
 *
 * The driver locks it while it lives.  So the next driver knows which
 * directories a killed driver has left, and removes them.
 */
#ifndef DRIVER_TRANSPORT_SSH_DIRECTORY_H
#define DRIVER_TRANSPORT_SSH_DIRECTORY_H

struct error;
struct ssh_directory;

enum {
	SSH_SOCKET_MAX = 90, /* of 107 bytes: ssh adds 17 for a moment */
};

/*
 * Make a directory below `base`; "": below $RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR
 * or /tmp, the first where this works.  NULL with `err` set if there is none.
 */
struct ssh_directory *ssh_directory_new(const char *base, struct error *err);

/* The name of a new socket in it, for the caller to free(). */
char *ssh_directory_socket(struct ssh_directory *directory);

/* Remove the directory with its contents.  NULL is allowed. */
void ssh_directory_free(struct ssh_directory *directory);

#endif
