/*
 * Where requests may go: rules, a host, an address and a URL, a line each; the
 * first line is http.allow, the second http.deny.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "driver/config/config.h"
#include "driver/config/options.h"
#include "driver/transport/http/guard.h"
#include "driver/transport/http/url.h"
#include "tests/fuzz/fuzz.h"

static char *
line_of(struct fuzz_input *input)
{
	char *line = fuzz_line(input);

	return line != NULL ? line : calloc(1, 1);
}

/* Metadata and link-local addresses, in the usual spelling. */
static bool
is_link_local(const char *address)
{
	unsigned char bytes[4];

	return inet_pton(AF_INET, address, bytes) == 1 && bytes[0] == 169 &&
	       bytes[1] == 254;
}

static void
check_guard(const struct config *config, const char *host, const char *address)
{
	struct error err = { 0 };
	struct guard *guard =
	    guard_new(&config->http.allow, &config->http.deny, &err);
	bool ok;

	MUST((guard != NULL) == (err.message == NULL));
	if (guard != NULL) {
		ok = guard_check_text(guard, host, address, &err);
		MUST(ok == (err.message == NULL));
		if (config->http.allow.count == 0)
			MUST(!ok);
	}
	guard_free(guard);
	error_release(&err);
}

/* By the rules that count where the configuration has none. */
static void
check_preset(const char *host, const char *address)
{
	struct error err = { 0 };
	struct config preset;
	struct guard *guard;

	config_preset(&preset);
	guard = guard_new(&preset.http.allow, &preset.http.deny, &err);
	MUST(guard != NULL);
	MUST(!is_link_local(address) ||
	     !guard_check_text(guard, host, address, &err));
	guard_free(guard);
	config_release(&preset);
	error_release(&err);
}

/* What is shown of a URL is one, and the same one. */
static void
check_shown(const struct http_url *url)
{
	struct error err = { 0 };
	char *text = http_url_text(url), *host = http_url_host(url);
	struct http_url *shown = http_url_new(text, &err);
	char *again;

	MUST(shown != NULL);
	again = http_url_text(shown);
	MUST(strcmp(text, again) == 0);
	free(again);
	again = http_url_seen(NULL, text);
	MUST(strcmp(text, again) == 0);
	free(again);
	again = http_url_host(shown);
	MUST(strcmp(host, again) == 0);
	free(again);
	http_url_free(shown);
	free(host);
	free(text);
}

static void
check_url(const char *text)
{
	struct error err = { 0 };
	struct http_url *url = http_url_new(text, &err);

	MUST((url == NULL) == (err.message != NULL));
	if (url != NULL) {
		check_shown(url);
		MUST(http_url_add(url, "key", text, &err) ==
		     (err.message == NULL));
	}
	http_url_free(url);
	error_release(&err);
	if (!guard_url(text, &err))
		MUST(err.message != NULL);
	error_release(&err);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { (const char *)data, size };
	char *allow = line_of(&input), *deny = line_of(&input);
	char *host = line_of(&input), *address = line_of(&input);
	char *url = line_of(&input);
	struct error err = { 0 };
	struct config config;

	config_preset(&config);
	option_set_text(&config, option_find("http.allow", &err), allow, &err);
	option_set_text(&config, option_find("http.deny", &err), deny, &err);
	check_guard(&config, host, address);
	check_preset(host, address);
	check_url(url);
	config_release(&config);
	free(url);
	free(address);
	free(host);
	free(deny);
	free(allow);
	return 0;
}
