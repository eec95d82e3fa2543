/*
 * directory.h - a private directory for the sockets of connections.
 *
 * It is locked while its driver lives, so that the next one knows what was
 * left behind by one that was killed, and removes it.
 */
#ifndef DRIVER_TRANSPORT_SSH_DIRECTORY_H
#define DRIVER_TRANSPORT_SSH_DIRECTORY_H

struct error;
struct ssh_directory;

enum {
	SSH_SOCKET_MAX = 90, /* of 107 bytes: ssh adds 17 while it makes it */
};

/*
 * Make one below `base`; "": below $RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR or
 * /tmp, the first that will do.  NULL with `err` set if there is none.
 */
struct ssh_directory *ssh_directory_new(const char *base, struct error *err);

/* The name of a new socket in it, for the caller to free(). */
char *ssh_directory_socket(struct ssh_directory *directory);

/* Remove it with all that is in it.  NULL is allowed. */
void ssh_directory_free(struct ssh_directory *directory);

#endif
