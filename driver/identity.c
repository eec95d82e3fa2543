#include "driver/identity.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/pg_params.h"
#include "driver/config/config.h"
#include "driver/request.h"
#include "driver/transport/transport.h"
#include "driver/workspace.h"
#include "runtime/session.h"

struct identity {
	char *name;
	int64_t slots;
	struct pg_array transports, queues, capabilities;
	int64_t driver;
	bool known;
	bool changed; /* since the current registration began */
};

static char *
driver_name(const struct config *config)
{
	char host[64] = "";

	if (config->name[0] != '\0')
		return xstrdup(config->name);
	if (gethostname(host, sizeof(host) - 1) < 0 || host[0] == '\0')
		return xstrdup("driver");
	return xstrdup(host);
}

static void
set_list(struct pg_array *array, const struct config_list *list)
{
	size_t i;

	pg_array_init(array, PG_TYPE_TEXT);
	for (i = 0; i < list->count; i++)
		pg_array_add_text(array, list->items[i]);
}

static void
forget_options(struct identity *identity)
{
	pg_array_release(&identity->transports);
	pg_array_release(&identity->queues);
	pg_array_release(&identity->capabilities);
	free(identity->name);
}

static void
take_options(struct identity *identity, const struct config *config,
    const struct transports *transports)
{
	const char *name;
	size_t i;

	identity->name = driver_name(config);
	identity->slots = config->slots;
	pg_array_init(&identity->transports, PG_TYPE_TEXT);
	for (i = 0; (name = transports_name(transports, i)) != NULL; i++)
		pg_array_add_text(&identity->transports, name);
	set_list(&identity->queues, &config->queues);
	set_list(&identity->capabilities, &config->capabilities);
}

struct identity *
identity_new(const struct config *config, const struct transports *transports)
{
	struct identity *identity = xcalloc(1, sizeof(*identity));

	take_options(identity, config, transports);
	return identity;
}

void
identity_free(struct identity *identity)
{
	if (identity == NULL)
		return;
	forget_options(identity);
	free(identity);
}

void
identity_change(struct identity *identity, const struct config *config,
    const struct transports *transports)
{
	forget_options(identity);
	take_options(identity, config, transports);
	identity->known = false;
	identity->changed = true;
}

void
identity_forget(struct identity *identity)
{
	identity->known = false;
}

void
identity_disown(struct identity *identity)
{
	identity->driver = 0;
	identity->known = false;
}

bool
identity_is_known(const struct identity *identity)
{
	return identity->known;
}

int64_t
identity_driver(const struct identity *identity)
{
	return identity->driver;
}

static void
add_token(struct request *request, void *arg)
{
	pg_array_add_uuid(arg, request->task.token);
}

void
identity_register(struct identity *identity, struct session *session,
    const struct request_table *table, const struct pg_array *marks)
{
	struct pg_array tokens;

	identity->changed = false;
	pg_array_init(&tokens, PG_TYPE_UUID);
	request_each(table, add_token, &tokens);
	workspace_greet(session);
	workspace_register(session, &(struct workspace_driver){
	                                .name = identity->name,
	                                .version = IDENTITY_VERSION,
	                                .transports = &identity->transports,
	                                .queues = &identity->queues,
	                                .slots = identity->slots,
	                                .previous = identity->driver,
	                                .tokens = &tokens,
	                                .capabilities = &identity->capabilities,
	                                .marks = marks,
	                            });
	pg_array_release(&tokens);
}

void
identity_registered(
    struct identity *identity, const struct session_answer *answer)
{
	identity->driver = workspace_registered(answer->results[1]);
	identity->known = !identity->changed;
}
