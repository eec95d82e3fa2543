/*
 * Secrets, when what they were filled into is over: the memory of the driver has
 * none of them.  One copy is wanted, that of known.c, for what is still to be
 * redacted; the test makes it forget that one.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "driver/config/config.h"
#include "driver/secret/known.h"
#include "driver/secret/secret.h"
#include "driver/transport/outcome.h"
#include "driver/transport/ssh/wrapper.h"
#include "driver/transport/transport.h"
#include "runtime/loop.h"
#include "tests/unit/private.h"
#include "tests/unit/unit.h"

enum {
	SECRET_LEN = 300, /* longer than what buffers begin with */
	PAGES = 1 << 16,
};

/* A larger one is the shadow of a sanitizer, which says what may be read. */
#define LARGEST (1UL << 28)

static char directory[256];
static char url[64];
static pid_t server;
static struct config config;
static struct secrets *secrets;
static struct loop *loop;

/* Byte `i` of the secret, which stands nowhere in this program as a whole. */
static char
secret_at(size_t i)
{
	return (char)('A' + (i * i * 7 + i * 11 + i / 13) % 26);
}

static bool
is_secret(const char *text)
{
	size_t i = 0;

	/* a part of it is bad enough */
	while (i < SECRET_LEN / 4 && text[i] == secret_at(i + 20))
		i++;
	return i == SECRET_LEN / 4;
}

/* The memory --------------------------------------------------------------- */

static size_t
count_in(int memory, size_t from, size_t to)
{
	static char page[PAGES + SECRET_LEN];
	size_t found = 0, at, i;
	ssize_t len;

	for (at = from; at < to; at += PAGES) {
		size_t most = to - at < sizeof(page) ? to - at : sizeof(page);

		len = pread(memory, page, most, (off_t)at);
		for (i = 0; len > SECRET_LEN && i < (size_t)len - SECRET_LEN;
		     i++)
			found += is_secret(page + i);
		explicit_bzero(page, sizeof(page)); /* it is memory, too */
	}
	return found;
}

/* In all mappings that may be written to. */
static size_t
count_secrets(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	unsigned long from, to;
	char line[512], rights[8];
	size_t found = 0;

	assert_non_null(maps);
	assert_true(memory >= 0);
	while (fgets(line, sizeof(line), maps) != NULL)
		if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 &&
		    strncmp(rights, "rw", 2) == 0 && to - from < LARGEST)
			found += count_in(memory, from, to);
	close(memory);
	fclose(maps);
	return found;
}

/* The world ---------------------------------------------------------------- */

static void
put_secret(void)
{
	char path[512], text[SECRET_LEN];
	size_t i;
	int fd;

	for (i = 0; i < SECRET_LEN; i++)
		text[i] = secret_at(i);
	snprintf(path, sizeof(path), "%s/one", directory);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0400);
	assert_true(write(fd, text, sizeof(text)) == (ssize_t)sizeof(text));
	close(fd);
	explicit_bzero(text, sizeof(text));
}

/* A request of the tests ends in END. */
static void
answer(int fd)
{
	static const char answered[] = "HTTP/1.1 200 OK\r\n"
	                               "Content-Length: 0\r\n\r\n";
	char text[65536];
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0) {
		len += (size_t)n;
		text[len] = '\0';
		if (strstr(text, "END") == NULL)
			continue;
		len = 0;
		if (write(fd, answered, sizeof(answered) - 1) < 0)
			break;
	}
	close(fd);
}

/* In a process of its own: what it receives is not in our memory. */
static void
start_server(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(
	    bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 16), 0);
	getsockname(listener, (struct sockaddr *)&address, &len);
	snprintf(
	    url, sizeof(url), "http://127.0.0.1:%d/x", ntohs(address.sin_port));
	server = fork();
	assert_true(server >= 0);
	if (server == 0) {
		while ((fd = accept(listener, NULL, NULL)) >= 0)
			answer(fd);
		_exit(0);
	}
	close(listener);
}

static int
set_up(void **state)
{
	struct error err = { 0 };
	char option[512];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_true(private_directory(directory, sizeof(directory)));
	start_server();
	put_secret();
	config_preset(&config);
	snprintf(option, sizeof(option), "secrets.directory=%s", directory);
	assert_true(config_set(&config, option, &err));
	assert_true(
	    config_set(&config, "secrets.grants=one unit t.Do *", &err));
	assert_true(config_set(
	    &config, "exec.programs=swallow=/bin/sh -c cat>/dev/null", &err));
	assert_true(config_set(&config, "exec.env=TOKEN", &err));
	assert_true(config_set(&config, "http.allow=127.0.0.0/8", &err));
	secrets = secrets_new(&config);
	loop = loop_new();
	return 0;
}

static int
tear_down(void **state)
{
	char command[512];

	(void)state;
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	loop_free(loop);
	secrets_free(secrets);
	config_release(&config);
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

/* A request ---------------------------------------------------------------- */

static void
on_done(void *arg, struct outcome *outcome)
{
	*(struct outcome *)arg = *outcome;
	loop_stop(loop);
}

static void
run(const struct transport *transport, void *transport_state,
    const char *format, const char *places)
{
	char *args = xasprintf(format, url);
	struct task task = {
		.token = "",
		.trace_id = "",
		.request = "start",
		.workspace = "",
		.args = args,
		.args_len = strlen(args),
		.secrets = places,
		.workflow = "unit",
		.type = "t.Do",
	};
	struct error err = { 0 };
	struct outcome outcome;
	struct filled filled;
	struct run *begun;

	outcome_init(&outcome);
	filled_init(&filled);
	assert_true(secrets_fill(secrets, &task, &filled, &err));
	assert_true(count_secrets() > 0); /* or the test would see nothing */
	task.args = filled.args.data;
	task.args_len = filled.args.len;
	begun =
	    transport->start(transport_state, &task, on_done, &outcome, &err);
	assert_non_null(begun);
	loop_run(loop);
	transport->free(begun);
	filled_release(&filled);
	known_clear();
	assert_int_equal(outcome.event, OUTCOME_RESPONSE);
	outcome_release(&outcome);
	free(args);
}

static void
test_exec(void **state)
{
	struct error err = { 0 };
	void *exec;

	(void)state;
	assert_true(transport_exec.open(loop, &config, &exec, &err));
	run(&transport_exec, exec,
	    "{\"program\":\"swallow\",\"stdin\":null,\"env\":{\"TOKEN\":"
	    "[\"Bearer \",\"!\"]}}",
	    "[{\"at\":[\"stdin\"],\"secret\":\"one\"},"
	    "{\"at\":[\"env\",\"TOKEN\"],\"text\":[\"one\"]}]");
	assert_int_equal(count_secrets(), 0);
	transport_exec.close(exec);
}

static void
test_http(void **state)
{
	static const struct {
		const char *args, *places;
	} cases[] = {
		{ "{\"url\":\"%s\",\"method\":\"POST\",\"headers\":{"
		  "\"Authorization\":[\"Bearer \",\"\"]},\"body\":\"END\"}",
		    "[{\"at\":[\"headers\",\"Authorization\"],"
		    "\"text\":[\"one\"]}]" },
		{ "{\"url\":\"%s\",\"method\":\"POST\","
		  "\"body\":[\"\",\"END\"]}",
		    "[{\"at\":[\"body\"],\"text\":[\"one\"]}]" },
		{ "{\"url\":\"%s\",\"method\":\"POST\",\"body\":{\"n\":"
		  "12345678901234567890123,\"list\":[1,{\"token\":null}],"
		  "\"z\":\"END\"}}",
		    "[{\"at\":[\"body\",\"list\",1,\"token\"],"
		    "\"secret\":\"one\"}]" },
		{ "{\"url\":\"%s\",\"method\":\"POST\","
		  "\"form\":{\"token\":null,\"z\":\"END\"}}",
		    "[{\"at\":[\"form\",\"token\"],\"secret\":\"one\"}]" },
		{ "{\"url\":\"%s\",\"method\":\"POST\",\"form\":{\"file\":"
		  "{\"filename\":\"f\",\"content\":null},\"z\":\"END\"}}",
		    "[{\"at\":[\"form\",\"file\",\"content\"],"
		    "\"secret\":\"one\"}]" },
	};
	struct error err = { 0 };
	void *http;
	size_t i;

	(void)state;
	assert_true(transport_http.open(loop, &config, &http, &err));
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		run(&transport_http, http, cases[i].args, cases[i].places);
		if (count_secrets() > 0)
			fail_msg("case %zu leaves a copy", i);
	}
	transport_http.close(http);
}

/* What ssh makes of its arguments; the rest of it is exec's. */
static void
test_ssh(void **state)
{
	struct error err = { 0 };
	struct filled filled;
	struct buf env, text;
	struct json *args;
	struct task task = {
		.args = "{\"stdin\":null,\"env\":{\"TOKEN\":[\"it's \",\"\"]}}",
		.secrets = "[{\"at\":[\"stdin\"],\"secret\":\"one\"},"
		           "{\"at\":[\"env\",\"TOKEN\"],\"text\":[\"one\"]}]",
		.workflow = "unit",
		.type = "t.Do",
	};

	(void)state;
	task.args_len = strlen(task.args);
	filled_init(&filled);
	buf_init_secret(&env, 0);
	buf_init_secret(&text, 0);
	assert_true(secrets_fill(secrets, &task, &filled, &err));
	assert_true(
	    json_parse_secret(filled.args.data, filled.args.len, &args, &err));
	assert_true(ssh_wrapper_env(&env, json_get(args, "env"), &err));
	ssh_wrapper_go(&text, env.data, json_string(json_get(args, "stdin")),
	    json_string_length(json_get(args, "stdin")));
	assert_true(count_secrets() >= 4);
	json_free_secret(args);
	buf_release(&env);
	buf_release(&text);
	filled_release(&filled);
	known_clear();
	assert_int_equal(count_secrets(), 0);
}

/* Without any of it copies are left: the test would see them. */
static void
test_a_copy_is_found(void **state)
{
	struct error err = { 0 };
	struct buf value, copy;

	(void)state;
	assert_true(secret_read(secrets, "one", &value, &err));
	buf_init(&copy, 0);
	buf_add(&copy, value.data, value.len);
	buf_release(&value);
	assert_int_equal(count_secrets(), 1);
	explicit_bzero(copy.data, copy.len);
	buf_release(&copy);
	assert_int_equal(count_secrets(), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_copy_is_found),
	cmocka_unit_test(test_exec),
	cmocka_unit_test(test_http),
	cmocka_unit_test(test_ssh),
};

int
main(void)
{
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
