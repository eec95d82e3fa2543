#include "driver/transport/ssh/wrapper.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/json.h"
#include "driver/transport/ssh/scripts.h"

static void
add_quoted(struct buf *buf, const char *text, size_t len)
{
	size_t i;

	buf_addc(buf, '\'');
	for (i = 0; i < len; i++)
		if (text[i] == '\'')
			buf_adds(buf, "'\\''");
		else
			buf_addc(buf, text[i]);
	buf_addc(buf, '\'');
}

void
ssh_wrapper_quote(struct buf *buf, const char *text)
{
	add_quoted(buf, text, strlen(text));
}

static bool
is_variable(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
	                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	return *name != '\0' && (*name < '0' || *name > '9') &&
	       name[strspn(name, allowed)] == '\0';
}

/* A word on one line: a variable of the wrapper stands for line ends. */
static void
add_value(struct buf *buf, const char *text)
{
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, "\n");
		add_quoted(buf, text, len);
		if (text[len] == '\0')
			break;
		buf_adds(buf, "\"$_l\"");
	}
}

bool
ssh_wrapper_env(struct buf *buf, const struct json *env, struct error *err)
{
	size_t i;

	if (env != NULL && json_type(env) != JSON_OBJECT) {
		error_set(err, "env must be an object");
		return false;
	}
	for (i = 0; i < json_length(env); i++) {
		const char *name = json_key_at(env, i);
		const char *value = json_c_string(json_value_at(env, i));

		if (!is_variable(name) || value == NULL) {
			error_set(err,
			    "env: %s must be a variable's name, its value a "
			    "string",
			    name);
			return false;
		}
		/*
		 * one command, so that all its words are read before it sets
		 * any
		 */
		buf_addf(buf, "%s %s=", i == 0 ? "export" : "", name);
		add_value(buf, value);
	}
	buf_addc(buf, '\n');
	return true;
}

static bool
add_command(struct buf *buf, const struct json *command, struct error *err)
{
	size_t i;

	if (command == NULL) {
		buf_adds(buf, "exec sh -s");
		return true;
	}
	if (json_type(command) != JSON_LIST || json_length(command) == 0) {
		error_set(err, "command must be a list of strings");
		error_hint(err, "A whole script goes into script.");
		return false;
	}
	for (i = 0; i < json_length(command); i++) {
		const char *text = json_c_string(json_at(command, i));

		if (text == NULL) {
			error_set(err, "command[%zu] must be a string", i);
			return false;
		}
		if (i > 0)
			buf_addc(buf, ' ');
		ssh_wrapper_quote(buf, text);
	}
	return true;
}

bool
ssh_wrapper_command(
    struct buf *buf, const struct ssh_wrapper *wrapper, struct error *err)
{
	struct buf inner;
	bool ok;

	buf_init(&inner, 0);
	buf_addf(&inner, "_n=%s _grace=%lld _end=", wrapper->nonce,
	    (long long)(wrapper->grace_ms + 999) / 1000);
	ssh_wrapper_quote(&inner, ssh_script_ender);
	buf_adds(&inner, "; _run() { exec 3<&-; eval \"$_env\"; ");
	ok = add_command(&inner, wrapper->command, err);
	buf_addf(&inner, "; }; %s", ssh_script_wrapper);
	/* any login shell will do: it only has to take one quoted word */
	buf_adds(buf, "exec sh -c ");
	ssh_wrapper_quote(buf, inner.data);
	buf_release(&inner);
	if (!ok || buf->len <= SSH_COMMAND_MAX)
		return ok;
	error_set(err,
	    "command is too long: %zu bytes, quoted and with what runs around "
	    "it; a host takes %d",
	    buf->len, SSH_COMMAND_MAX);
	error_hint(err, "Give long text as stdin or in env.");
	return false;
}

void
ssh_wrapper_go(struct buf *buf, const char *env, const char *input, size_t len)
{
	/* the x shows that all of the input is there */
	buf_addf(buf, "go %zu\n", len > 0 ? len + 1 : 0);
	buf_adds(buf, env);
	if (len == 0)
		return;
	buf_add(buf, input, len);
	buf_addc(buf, 'x');
}

/* The exit status that a shell prints, 0 to 255; -1 for any other text. */
static int
read_code(const char *text, size_t len)
{
	int code = 0;
	size_t i;

	if (len < 1 || len > 3)
		return -1;
	for (i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		code = code * 10 + (text[i] - '0');
	}
	return code;
}

static struct ssh_record_found
read_record(const char *text, size_t at, const char *body, const char *end)
{
	struct ssh_record_found found = { .at = at };
	size_t len = (size_t)(end - body);

	found.length = (size_t)(end - (text + at)) + 1;
	if (len == 5 && memcmp(body, "begun", 5) == 0) {
		found.record = SSH_RECORD_BEGUN;
	} else if (len > 5 && memcmp(body, "exit ", 5) == 0) {
		found.exit_code = read_code(body + 5, len - 5);
		if (found.exit_code >= 0)
			found.record = SSH_RECORD_EXIT;
	}
	return found;
}

struct ssh_record_found
ssh_wrapper_find(const char *text, size_t len, size_t from, const char *nonce)
{
	size_t nonce_len = strlen(nonce);
	const char *start, *end;
	struct ssh_record_found found = { 0 };

	while (from < len &&
	       (start = memmem(text + from, len - from, nonce, nonce_len))) {
		size_t at = (size_t)(start - text);

		end = memchr(start, '\n', len - at);
		if (end == NULL)
			break;
		if (start[nonce_len] == ' ')
			found =
			    read_record(text, at, start + nonce_len + 1, end);
		if (found.record != SSH_RECORD_NONE)
			return found;
		from = at + 1;
	}
	return (struct ssh_record_found){ 0 };
}
