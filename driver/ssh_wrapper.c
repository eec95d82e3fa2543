#include "driver/ssh_wrapper.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/json.h"

void
ssh_wrapper_quote(struct buf *buf, const char *text)
{
	buf_addc(buf, '\'');
	for (; *text != '\0'; text++)
		if (*text == '\'')
			buf_adds(buf, "'\\''");
		else
			buf_addc(buf, *text);
	buf_addc(buf, '\'');
}

/* A string without a NUL in it, which no shell could take; NULL if not. */
static const char *
word(const struct json *value)
{
	const char *text = json_string(value);

	if (text == NULL || strlen(text) != json_string_length(value))
		return NULL;
	return text;
}

static bool
is_variable(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
	                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	return *name != '\0' && (*name < '0' || *name > '9') &&
	       name[strspn(name, allowed)] == '\0';
}

static bool
add_env(struct buf *buf, const struct json *env, struct error *err)
{
	size_t i;

	if (env != NULL && json_type(env) != JSON_OBJECT) {
		error_set(err, "env must be an object");
		return false;
	}
	for (i = 0; i < json_length(env); i++) {
		const char *name = json_key_at(env, i);
		const char *value = word(json_value_at(env, i));

		if (!is_variable(name) || value == NULL) {
			error_set(err,
			    "env: %s must be a variable's name, its value a "
			    "string",
			    name);
			return false;
		}
		buf_addf(buf, "export %s=", name);
		ssh_wrapper_quote(buf, value);
		buf_adds(buf, "; ");
	}
	return true;
}

static bool
add_command(struct buf *buf, const struct json *command, struct error *err)
{
	size_t i;

	if (command == NULL) {
		buf_adds(buf, "sh -s");
		return true;
	}
	if (json_type(command) != JSON_LIST || json_length(command) == 0) {
		error_set(err, "command must be a list of strings");
		error_hint(err, "A whole script goes into script.");
		return false;
	}
	for (i = 0; i < json_length(command); i++) {
		const char *text = word(json_at(command, i));

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
ssh_wrapper_command(struct buf *buf, const char *nonce,
    const struct json *command, const struct json *env, struct error *err)
{
	struct buf inner;
	bool ok;

	buf_init(&inner, 0);
	buf_addf(&inner,
	    "n=%s; echo \"$n begun\"; echo \"$n begun\" >&2; "
	    "read -r go || exit 1; (",
	    nonce);
	ok = add_env(&inner, env, err) && add_command(&inner, command, err);
	buf_adds(
	    &inner, "); s=$?; echo \"$n exit $s\"; echo \"$n exit $s\" >&2");
	/* the login shell may be any: it only has to take one quoted word */
	buf_adds(buf, "exec sh -c ");
	ssh_wrapper_quote(buf, inner.data);
	buf_release(&inner);
	return ok;
}

static struct ssh_record_found
read_record(const char *text, size_t at, const char *body, const char *end)
{
	struct ssh_record_found found = { .at = at };

	found.length = (size_t)(end - (text + at)) + 1;
	if (end - body == 5 && memcmp(body, "begun", 5) == 0) {
		found.record = SSH_RECORD_BEGUN;
	} else if (end - body > 5 && memcmp(body, "exit ", 5) == 0) {
		found.record = SSH_RECORD_EXIT;
		found.exit_code = atoi(body + 5);
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
		from = at + nonce_len;
	}
	return (struct ssh_record_found){ 0 };
}
