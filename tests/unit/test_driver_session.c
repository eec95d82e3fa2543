/*
 * test_driver_session.c - a session that dials, with a server that the test
 * plays by itself: it greets whoever connects, or says nothing.  What a session
 * leaves at a server is tried with a real one, which tests/run starts and PGHOST
 * names.
 */
#include "runtime/session.h"

#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/error.h"
#include "common/mem.h"
#include "common/pg.h"
#include "common/pg_params.h"
#include "runtime/loop.h"
#include "tests/unit/unit.h"

enum {
	PEERS = 8,
	DEADLINE_MS = 20000, /* for what has to come */
	PAUSES_MS = 1500,    /* all that the tests' pauses can take */
};

/* A connection to the server. */
struct peer {
	int fd; /* -1: closed */
	bool greeted;
	struct loop_watch *watch;
};

static struct {
	char directory[32];
	int fd;
	struct loop_watch *watch;
	bool silent;
	struct peer peers[PEERS];
	int accepted;
} server;

static struct loop *loop;
static struct session *session;
static int ready, down;
static int backend; /* the number of a real server's process */

/* The server --------------------------------------------------------------- */

static void
peer_close(struct peer *peer)
{
	if (peer->fd < 0)
		return;
	loop_unwatch(peer->watch);
	close(peer->fd);
	peer->fd = -1;
}

static void
on_peer(void *arg, int events)
{
	struct peer *peer = arg;
	char data[4096];

	(void)events;
	if (recv(peer->fd, data, sizeof(data), MSG_DONTWAIT) <= 0)
		peer_close(peer);
}

/* AuthenticationOk, ReadyForQuery */
static void
peer_greet(struct peer *peer)
{
	static const char greeting[] = "R\0\0\0\10\0\0\0\0Z\0\0\0\5I";

	if (peer->fd < 0 || peer->greeted)
		return;
	peer->greeted = true;
	(void)!send(peer->fd, greeting, sizeof(greeting) - 1, MSG_NOSIGNAL);
}

static void
on_connection(void *arg, int events)
{
	struct peer *peer = &server.peers[server.accepted++];

	(void)arg;
	(void)events;
	assert_true(server.accepted <= PEERS);
	peer->fd = accept(server.fd, NULL, NULL);
	peer->greeted = false;
	peer->watch = loop_watch(loop, peer->fd, LOOP_READ, on_peer, peer);
	if (!server.silent)
		peer_greet(peer);
}

/* It greets all those that wait for it. */
static void
server_heal(void)
{
	int i;

	server.silent = false;
	for (i = 0; i < server.accepted; i++)
		peer_greet(&server.peers[i]);
}

static int
server_connections(void)
{
	int i, count = 0;

	for (i = 0; i < server.accepted; i++)
		count += server.peers[i].fd >= 0;
	return count;
}

static void
server_start(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strcpy(server.directory, "/tmp/session.XXXXXX");
	assert_non_null(mkdtemp(server.directory));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/.s.PGSQL.5432",
	    server.directory);
	server.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(
	    bind(server.fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(server.fd, PEERS), 0);
	server.watch =
	    loop_watch(loop, server.fd, LOOP_READ, on_connection, NULL);
	server.silent = false;
	server.accepted = 0;
}

static void
server_stop(void)
{
	char *path = xasprintf("%s/.s.PGSQL.5432", server.directory);

	while (server.accepted > 0)
		peer_close(&server.peers[--server.accepted]);
	loop_unwatch(server.watch);
	close(server.fd);
	unlink(path);
	rmdir(server.directory);
	free(path);
}

/* A name that takes long to look up ----------------------------------------- */

static int slow_begun, slow_ended; /* look-ups of the name "slow" */
static int slow_gate[2];           /* a byte lets one of them end */

typedef int getaddrinfo_fn(const char *name, const char *service,
    const struct addrinfo *hints, struct addrinfo **found);

int
getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
    struct addrinfo **found)
{
	getaddrinfo_fn *real;
	char byte;

	*(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
	if (name == NULL || strcmp(name, "slow") != 0)
		return real(name, service, hints, found);
	__atomic_fetch_add(&slow_begun, 1, __ATOMIC_SEQ_CST);
	if (read(slow_gate[0], &byte, 1) != 1)
		abort();
	__atomic_fetch_add(&slow_ended, 1, __ATOMIC_SEQ_CST);
	return EAI_AGAIN;
}

/* Waiting ------------------------------------------------------------------- */

static struct {
	bool (*holds)(void);
	int64_t left_ms;
	struct timer timer;
} awaited;

static void
look(void *arg)
{
	(void)arg;
	awaited.left_ms -= 5;
	if (awaited.left_ms <= 0 || awaited.holds())
		loop_stop(loop);
	else
		loop_timer_set(loop, &awaited.timer, 5);
}

/* Whether it holds within so many ms, during which the loop goes on. */
static bool
comes_within(bool (*holds)(void), int64_t ms)
{
	awaited.holds = holds;
	awaited.left_ms = ms;
	awaited.timer.fn = look;
	loop_timer_set(loop, &awaited.timer, 0);
	loop_run(loop);
	return holds();
}

static void
wait_for(bool (*holds)(void))
{
	assert_true(comes_within(holds, DEADLINE_MS));
}

static bool
is_ready(void)
{
	return session_is_ready(session);
}

static bool
is_down(void)
{
	return down > 0;
}

static bool
dials_again(void)
{
	return server.accepted >= 2;
}

static bool
dials_twice(void)
{
	return server.accepted >= 3;
}

static bool
all_closed(void)
{
	return server_connections() == 0;
}

static bool
looks_up(void)
{
	return __atomic_load_n(&slow_begun, __ATOMIC_SEQ_CST) > 0;
}

static bool
looks_up_again(void)
{
	return __atomic_load_n(&slow_begun, __ATOMIC_SEQ_CST) > 1;
}

static bool
looked_up(void)
{
	return __atomic_load_n(&slow_ended, __ATOMIC_SEQ_CST) ==
	       __atomic_load_n(&slow_begun, __ATOMIC_SEQ_CST);
}

/* Tests ----------------------------------------------------------------------- */

static void
on_ready(void *arg)
{
	(void)arg;
	ready++;
}

static void
on_answer(void *arg, const struct session_answer *answer)
{
	(void)arg;
	(void)answer;
}

static void
on_down(void *arg, const struct error *err, int failures)
{
	(void)arg;
	(void)err;
	(void)failures;
	down++;
}

static const struct session_events events = {
	.ready = on_ready,
	.answer = on_answer,
	.down = on_down,
};

static char *conninfo;

static void
open_session(const char *host)
{
	conninfo = xasprintf("host=%s user=nobody dbname=nothing", host);
	session = session_new(loop,
	    &(struct session_options){
	        .conninfo = conninfo, .program = "test_driver_session" },
	    &events, NULL);
}

/* At the real server, which lets itself be waited for for so long. */
static void
open_real_session(int64_t answer_ms)
{
	conninfo = xstrdup("");
	session = session_new(loop,
	    &(struct session_options){ .conninfo = conninfo,
	        .program = "test_driver_session",
	        .answer_ms = answer_ms },
	    &events, NULL);
	wait_for(is_ready);
	session_send(session, SESSION_BEGIN, NULL);
	session_go(session);
	wait_for(is_ready);
	backend = session_backend(session);
}

/* Whether the real server still has the session that was open last. */
static bool
backend_is_gone(void)
{
	struct pg_target target = { .program = "test_driver_session" };
	struct error err = { 0 };
	struct pg *pg = pg_connect(&target, &err);
	struct pg_params params;
	struct pg_result *result;
	bool gone;

	assert_non_null(pg);
	pg_params_init(&params);
	pg_params_add_bigint(&params, backend);
	result = pg_query(pg,
	    "select not exists (select from pg_stat_activity where pid = $1)",
	    &params, &err);
	assert_non_null(result);
	gone = pg_value_bool(result, 0, 0);
	pg_result_free(result);
	pg_params_release(&params);
	pg_free(pg);
	return gone;
}

/* Its connection is lost, and the server does not greet the next one. */
static void
lose_connection(void)
{
	open_session(server.directory);
	wait_for(is_ready);
	server.silent = true;
	peer_close(&server.peers[0]);
	wait_for(dials_again);
	assert_int_equal(down, 1);
}

static void
test_a_reset_while_it_dials_changes_nothing(void **state)
{
	(void)state;
	lose_connection();
	session_reset(session, "a time limit");
	(void)comes_within(dials_twice, PAUSES_MS);
	server_heal();
	wait_for(is_ready);
	assert_int_equal(server.accepted, 2);
	assert_int_equal(server_connections(), 1);
	assert_int_equal(ready, 2);
	assert_int_equal(down, 1);
}

static void
test_another_host_is_sought_only_by_a_session_that_has_one(void **state)
{
	(void)state;
	lose_connection();
	session_avoid(session, "a reason");
	session_cancel(session);
	(void)comes_within(dials_twice, PAUSES_MS);
	server_heal();
	wait_for(is_ready);
	assert_int_equal(server.accepted, 2);
}

static void
test_a_session_freed_while_it_dials_leaves_no_connection(void **state)
{
	(void)state;
	lose_connection();
	session_reset(session, "task abandoned");
	(void)comes_within(dials_twice, PAUSES_MS);
	session_free(session);
	session = NULL;
	server_heal();
	wait_for(all_closed);
}

static void
test_a_reset_of_a_connection_dials_once(void **state)
{
	(void)state;
	open_session(server.directory);
	wait_for(is_ready);
	session_reset(session, "one");
	session_reset(session, "two");
	wait_for(is_down);
	wait_for(is_ready);
	assert_int_equal(server.accepted, 2);
	assert_int_equal(server_connections(), 1);
	assert_int_equal(down, 1);
}

static void
test_a_reset_while_it_looks_a_name_up_changes_nothing(void **state)
{
	(void)state;
	open_session("slow");
	wait_for(looks_up);
	session_reset(session, "a time limit");
	(void)comes_within(looks_up_again, PAUSES_MS);
	assert_int_equal(slow_begun, 1);
	assert_int_equal(write(slow_gate[1], "x", 1), 1);
	wait_for(is_down);
}

static void
test_a_look_up_that_is_given_up_ends_unheard(void **state)
{
	(void)state;
	open_session("slow");
	wait_for(looks_up);
	session_free(session);
	session = NULL;
	assert_int_equal(write(slow_gate[1], "x", 1), 1);
	wait_for(looked_up);
	assert_int_equal(down, 0);
}

static void
test_a_statement_nobody_waits_for_any_more_ends(void **state)
{
	(void)state;
	open_real_session(200);
	session_send(session, "select pg_sleep(600)", NULL);
	session_go(session);
	wait_for(is_down);
	wait_for(backend_is_gone);
}

static void
test_the_statement_of_a_session_that_was_freed_ends(void **state)
{
	(void)state;
	open_real_session(0);
	session_send(session, "select pg_sleep(600)", NULL);
	session_go(session);
	session_free(session);
	session = NULL;
	wait_for(backend_is_gone);
}

static int
set_up(void **state)
{
	(void)state;
	loop = loop_new();
	ready = down = 0;
	slow_begun = slow_ended = 0;
	assert_int_equal(pipe(slow_gate), 0);
	server_start();
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	session_free(session);
	session = NULL;
	free(conninfo);
	/* look-ups that were begun meanwhile */
	while (!looked_up())
		(void)!write(slow_gate[1], "x", 1);
	close(slow_gate[0]);
	close(slow_gate[1]);
	server_stop();
	loop_free(loop);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static const struct CMUnitTest tests[] = {
	TEST(test_a_reset_while_it_dials_changes_nothing),
	TEST(test_another_host_is_sought_only_by_a_session_that_has_one),
	TEST(test_a_session_freed_while_it_dials_leaves_no_connection),
	TEST(test_a_reset_of_a_connection_dials_once),
	TEST(test_a_reset_while_it_looks_a_name_up_changes_nothing),
	TEST(test_a_look_up_that_is_given_up_ends_unheard),
	TEST(test_a_statement_nobody_waits_for_any_more_ends),
	TEST(test_the_statement_of_a_session_that_was_freed_ends),
};

UNIT_TESTS(tests)
