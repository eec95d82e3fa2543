#include "driver/identity.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/pg_params.h"
#include "driver/config.h"
#include "driver/request.h"
#include "driver/transport.h"
#include "driver/workspace.h"

struct identity {
	char *name;
	int64_t slots;
	struct pg_array transports, queues;
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

struct identity *
identity_new(const struct config *config, const struct transports *transports)
{
	struct identity *identity = xmalloc(sizeof(*identity));
	const char *name;
	size_t i;

	identity->name = driver_name(config);
	identity->slots = config->slots;
	pg_array_init(&identity->transports, PG_TYPE_TEXT);
	pg_array_init(&identity->queues, PG_TYPE_TEXT);
	for (i = 0; (name = transports_name(transports, i)) != NULL; i++)
		pg_array_add_text(&identity->transports, name);
	for (i = 0; i < config->queues.count; i++)
		pg_array_add_text(&identity->queues, config->queues.items[i]);
	return identity;
}

void
identity_free(struct identity *identity)
{
	if (identity == NULL)
		return;
	pg_array_release(&identity->transports);
	pg_array_release(&identity->queues);
	free(identity->name);
	free(identity);
}

static void
add_token(struct request *request, void *arg)
{
	pg_array_add_uuid(arg, request->task.token);
}

void
identity_register(const struct identity *identity, struct session *session,
    int64_t previous, const struct request_table *table)
{
	struct pg_array tokens;

	pg_array_init(&tokens, PG_TYPE_UUID);
	request_each(table, add_token, &tokens);
	workspace_schema_version(session);
	workspace_register(session, &(struct workspace_driver){
	                                .name = identity->name,
	                                .version = IDENTITY_VERSION,
	                                .transports = &identity->transports,
	                                .queues = &identity->queues,
	                                .slots = identity->slots,
	                                .previous = previous,
	                                .tokens = &tokens,
	                            });
	pg_array_release(&tokens);
}
