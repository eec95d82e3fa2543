/*
 * The arguments of a request and the places of its secrets, as the workspace
 * sends them: two parts, the second about the first.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "driver/config.h"
#include "driver/redact.h"
#include "driver/secret.h"
#include "driver/transport.h"
#include "tests/fuzz/fuzz.h"

#define SECRET "hunter22"

static struct secrets *secrets;
static struct config config;

static void
set_up(void)
{
	struct error err = { 0 };

	setenv("FUZZ_token", SECRET, 1);
	config_preset(&config);
	MUST(config_set(&config, "secrets.environment=FUZZ_", &err));
	secrets = secrets_new(&config);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { (const char *)data, size };
	struct error err = { 0 };
	struct task task = { 0 };
	struct buf filled;
	size_t len;
	char *args = fuzz_part(&input, &task.args_len);
	char *places = fuzz_part(&input, &len);

	if (secrets == NULL)
		set_up();
	task.args = args;
	task.secrets = places;
	buf_init(&filled, 0);
	redact_add(SECRET, strlen(SECRET)); /* as of an earlier request */
	if (secrets_fill(secrets, &task, &filled, &err)) {
		MUST(fuzz_is_json(filled.data, filled.len));
		redact_json(&filled);
		MUST(fuzz_is_json(filled.data, filled.len));
		MUST(
		    !fuzz_has(filled.data, filled.len, SECRET, strlen(SECRET)));
	} else {
		MUST(err.message != NULL);
	}
	redact_clear();
	secret_wipe(&filled);
	error_release(&err);
	free(places);
	free(args);
	return 0;
}
