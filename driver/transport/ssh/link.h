/*
 * link.h - one connection to a host that many sessions share.
 *
 * A client of its own makes the connection (ControlMaster) and then stays in
 * the background.  It serves other clients through a socket.  We hold a
 * connection to that socket: it tells us when the link is gone, and tells the
 * link that we are there.  Without such a connection the link ends by itself
 * after a few seconds.
 */
#ifndef DRIVER_TRANSPORT_SSH_LINK_H
#define DRIVER_TRANSPORT_SSH_LINK_H

struct config;
struct error;
struct loop;
struct ssh_link;
struct ssh_target;

struct ssh_link_events {
	void (*up)(void *arg);

	/*
	 * The link could not be made, or is gone.  Free it; no event comes
	 * after.
	 */
	void (*down)(void *arg, const char *reason);
};

/*
 * Connect to `target` and share the connection at `socket`; the link takes the
 * string over.  NULL with `err` set if the client could not be run.
 */
struct ssh_link *ssh_link_new(struct loop *loop, const struct config *config,
    const struct ssh_target *target, char *socket,
    const struct ssh_link_events *events, void *arg, struct error *err);

const char *ssh_link_socket(const struct ssh_link *link);

/* End the link and the sessions on it.  NULL is allowed. */
void ssh_link_free(struct ssh_link *link);

#endif
