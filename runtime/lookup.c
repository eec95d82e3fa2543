#include "runtime/lookup.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/error.h"
#include "common/mem.h"
#include "runtime/thread_call.h"

/* The data of the thread. */
struct search {
	char *name;
	int code; /* of getaddrinfo() */
	struct addrinfo *found;
};

struct lookup {
	struct thread_call *thread;
	struct search *search; /* owned by the thread call */
};

static void
run(void *data)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct search *search = data;

	search->code = getaddrinfo(search->name, NULL, &hints, &search->found);
}

static void
release(void *data)
{
	struct search *search = data;

	if (search->found != NULL)
		freeaddrinfo(search->found);
	free(search->name);
	free(search);
}

static const struct thread_call_type call = { .run = run, .release = release };

struct lookup *
lookup_start(struct loop *loop, const char *name, void (*done)(void *arg),
    void *arg, struct error *err)
{
	struct lookup *lookup = xcalloc(1, sizeof(*lookup));

	lookup->search = xcalloc(1, sizeof(*lookup->search));
	lookup->search->name = xstrdup(name);
	lookup->thread =
	    thread_call_start(loop, &call, lookup->search, done, arg, err);
	if (lookup->thread == NULL) {
		free(lookup);
		return NULL;
	}
	return lookup;
}

char *
lookup_address(const struct lookup *lookup, size_t i, struct error *err)
{
	const struct search *search = lookup->search;
	const struct addrinfo *at = search->found;
	char text[NI_MAXHOST];
	size_t left;

	for (left = i; at != NULL && left > 0; left--)
		at = at->ai_next;
	if (at != NULL && getnameinfo(at->ai_addr, at->ai_addrlen, text,
	                      sizeof(text), NULL, 0, NI_NUMERICHOST) == 0)
		return xstrdup(text);
	if (i == 0)
		error_set(err, "cannot look up the host \"%s\": %s",
		    search->name, gai_strerror(search->code));
	return NULL;
}

void
lookup_free(struct lookup *lookup)
{
	if (lookup == NULL)
		return;
	thread_call_free(lookup->thread);
	free(lookup);
}
