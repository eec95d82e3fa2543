/*
 * The arguments of a request and the places of its secrets, as the workspace
 * sends them: two parts, the second about the first.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "driver/config/config.h"
#include "driver/secret/known.h"
#include "driver/secret/redact.h"
#include "driver/secret/secret.h"
#include "driver/transport/transport.h"
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
	MUST(config_set(&config, "secrets.grants=* * * *", &err));
	secrets = secrets_new(&config);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { (const char *)data, size };
	struct error err = { 0 };
	struct task task = { 0 };
	struct filled filled;
	size_t len;
	char *args = fuzz_part(&input, &task.args_len);
	char *places = fuzz_part(&input, &len);

	if (secrets == NULL)
		set_up();
	task.workflow = "fuzz";
	task.type = "t.Do";
	task.args = args;
	task.secrets = places;
	filled_init(&filled);
	/* as of an earlier request */
	known_let_go(known_hold(SECRET, strlen(SECRET)));
	if (secrets_fill(secrets, &task, &filled, &err)) {
		MUST(fuzz_is_json(filled.args.data, filled.args.len));
		redact_json(&filled.args);
		MUST(fuzz_is_json(filled.args.data, filled.args.len));
		MUST(!fuzz_has(
		    filled.args.data, filled.args.len, SECRET, strlen(SECRET)));
	} else {
		MUST(err.message != NULL);
	}
	filled_release(&filled);
	known_clear();
	error_release(&err);
	free(places);
	free(args);
	return 0;
}
