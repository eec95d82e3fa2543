#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/log.h"
#include "common/mem.h"
#include "driver/config/config.h"
#include "driver/secret/secret.h"
#include "driver/transport/transport.h"

/* Keep sorted by name. */
static const struct transport *const all[] = {
	&transport_builtin,
	&transport_exec,
	&transport_http,
	&transport_sql,
	&transport_ssh,
};

enum {
	ALL = sizeof(all) / sizeof(all[0]),
};

_Static_assert((int)ALL <= (int)TRANSPORTS_MOST, "too many transports");

struct transports {
	struct secrets *secrets;
	size_t count;
	struct {
		const struct transport *transport;
		void *state;
	} open[ALL];
};

static bool
is_known(const char *name)
{
	size_t i;

	for (i = 0; i < ALL; i++)
		if (strcmp(all[i]->name, name) == 0)
			return true;
	return false;
}

static void
hint_names(struct error *err)
{
	struct buf names;
	size_t i;

	buf_init(&names, 0);
	for (i = 0; i < ALL; i++)
		buf_addf(&names, "%s%s", i > 0 ? ", " : "", all[i]->name);
	error_hint(err, "There are %s.", names.data);
	buf_release(&names);
}

/* An empty list means all. */
static bool
is_wanted(const struct config_list *wanted, const char *name)
{
	size_t i;

	for (i = 0; i < wanted->count; i++)
		if (strcmp(wanted->items[i], name) == 0)
			return true;
	return wanted->count == 0;
}

static bool
check_names(const struct config_list *names, struct error *err)
{
	size_t i;

	for (i = 0; i < names->count; i++)
		if (!is_known(names->items[i])) {
			error_set(err, "transports: unknown transport \"%s\"",
			    names->items[i]);
			hint_names(err);
			return false;
		}
	return true;
}

struct transports *
transports_open(
    struct loop *loop, const struct config *config, struct error *err)
{
	struct transports *transports = xcalloc(1, sizeof(*transports));
	struct error why = { 0 };
	size_t i, n;

	if (!check_names(&config->transports, err)) {
		free(transports);
		return NULL;
	}
	transports->secrets = secrets_new(config);
	for (i = 0; i < ALL; i++) {
		n = transports->count;
		if (!is_wanted(&config->transports, all[i]->name))
			continue;
		if (all[i]->open(
		        loop, config, &transports->open[n].state, &why)) {
			transports->open[n].transport = all[i];
			transports->count++;
		} else if (why.message != NULL) {
			*err = why;
			transports_close(transports);
			return NULL;
		}
	}
	return transports;
}

void
transports_close(struct transports *transports)
{
	size_t i;

	if (transports == NULL)
		return;
	for (i = 0; i < transports->count; i++)
		transports->open[i].transport->close(transports->open[i].state);
	secrets_free(transports->secrets);
	free(transports);
}

struct transports *
transports_attach(const struct transports *transports,
    const struct config_workspace *workspace)
{
	struct transports *attached = xcalloc(1, sizeof(*attached));
	const struct transport *transport;
	void *state;
	size_t i;

	attached->secrets =
	    secrets_attach(transports->secrets, workspace->name);
	for (i = 0; i < transports->count; i++) {
		transport = transports->open[i].transport;
		state = transports->open[i].state;
		if (transport->attach != NULL) {
			state = transport->attach(state, workspace);
			if (state == NULL)
				continue;
		}
		attached->open[attached->count].transport = transport;
		attached->open[attached->count].state = state;
		attached->count++;
	}
	return attached;
}

void
transports_detach(struct transports *transports)
{
	size_t i;

	if (transports == NULL)
		return;
	for (i = 0; i < transports->count; i++)
		if (transports->open[i].transport->detach != NULL)
			transports->open[i].transport->detach(
			    transports->open[i].state);
	secrets_detach(transports->secrets);
	free(transports);
}

void
transports_connected(const struct transports *transports, bool connected)
{
	size_t i;

	for (i = 0; i < transports->count; i++)
		if (transports->open[i].transport->connected != NULL)
			transports->open[i].transport->connected(
			    transports->open[i].state, connected);
}

/* Discard what the first `count` transports have prepared. */
static void
discard(struct transports *transports, void **prepared, size_t count)
{
	const struct transport *transport;
	size_t i;

	for (i = 0; i < count; i++) {
		transport = transports->open[i].transport;
		if (transport->discard != NULL)
			transport->discard(prepared[i]);
	}
}

bool
transports_reload(struct transports *transports, const struct config *fresh,
    struct error *err)
{
	void *prepared[ALL] = { NULL };
	const struct transport *transport;
	size_t i;

	for (i = 0; i < transports->count; i++) {
		transport = transports->open[i].transport;
		if (transport->prepare == NULL ||
		    transport->prepare(
		        transports->open[i].state, fresh, &prepared[i], err))
			continue;
		discard(transports, prepared, i);
		return false;
	}
	for (i = 0; i < transports->count; i++) {
		transport = transports->open[i].transport;
		if (transport->commit != NULL)
			transport->commit(
			    transports->open[i].state, prepared[i]);
	}
	return true;
}

const struct secrets *
transports_secrets(const struct transports *transports)
{
	return transports->secrets;
}

const char *
transports_name(const struct transports *transports, size_t i)
{
	return i < transports->count ? transports->open[i].transport->name
	                             : NULL;
}

const struct transport *
transports_find(
    const struct transports *transports, const char *name, void **state)
{
	size_t i;

	for (i = 0; i < transports->count; i++)
		if (strcmp(transports->open[i].transport->name, name) == 0) {
			*state = transports->open[i].state;
			return transports->open[i].transport;
		}
	return NULL;
}
