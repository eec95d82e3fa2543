#include "driver/transport/ssh/client.h"

#include <stdlib.h>

#include "common/buf.h"
#include "common/mem.h"
#include "driver/config/config.h"
#include "driver/transport/words.h"
#include "runtime/child.h"

static void
add_option(struct words *words, const char *option)
{
	words_add(words, "-o");
	words_add(words, option);
}

void
ssh_client_options(
    struct words *words, const struct config *config, const char *const *first)
{
	size_t i;

	words_add(words, config->ssh.program);
	if (config->ssh.config_file[0] != '\0') {
		words_add(words, "-F");
		words_add(words, config->ssh.config_file);
	}
	words_add(words, "-T");
	for (; *first != NULL; first++)
		add_option(words, *first);
	add_option(words, "BatchMode=yes");
	add_option(words, "ClearAllForwardings=yes");
	add_option(words, "ForwardAgent=no");
	add_option(words, "PermitLocalCommand=no");
	for (i = 0; i < config->ssh.options.count; i++)
		add_option(words, config->ssh.options.items[i]);
	/* ssh_config's value of it is for people, who see the warning */
	add_option(words, "StrictHostKeyChecking=yes");
}

void
ssh_client_target(struct words *words, const struct ssh_target *target)
{
	char *port;

	if (target->user != NULL) {
		words_add(words, "-l");
		words_add(words, target->user);
	}
	if (target->port != 0) {
		port = xasprintf("%lld", (long long)target->port);
		words_add(words, "-p");
		words_add(words, port);
		free(port);
	}
	words_add(words, "--");
	words_add(words, target->host);
}

struct child *
ssh_client_start(struct loop *loop, const struct words *words,
    const struct child_events *events, void *arg, struct error *err)
{
	const char *agent = getenv("SSH_AUTH_SOCK");
	char *env[] = { agent ? xasprintf("SSH_AUTH_SOCK=%s", agent) : NULL,
		NULL };
	const struct child_program program = { .argv = words->list,
		.env = env };
	struct child *child = child_start(loop, &program, events, arg, err);

	free(env[0]);
	return child;
}

char *
ssh_client_last_line(const struct buf *text)
{
	size_t end = text->len, start;

	while (end > 0 && (unsigned char)text->data[end - 1] <= ' ')
		end--;
	for (start = end; start > 0 && text->data[start - 1] != '\n'; start--)
		;
	return xstrndup(text->data + start, end - start);
}
