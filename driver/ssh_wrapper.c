#include "driver/ssh_wrapper.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/json.h"

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

/* A word on one line: line ends are in a variable of the wrapper's. */
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
		const char *value = word(json_value_at(env, i));

		if (!is_variable(name) || value == NULL) {
			error_set(err,
			    "env: %s must be a variable's name, its value a "
			    "string",
			    name);
			return false;
		}
		/* one command: all its words are read before it sets any */
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

/*
 * End the session of $1, but for $1 itself, with a grace of $2 seconds.
 * Without a ps that knows sessions it is the group of $1, and $1, too.
 */
static const char ender[] =
    "trap \"\" HUP INT TERM; s=$1; "
    "all() { ps -A -o pid= -o sid= -o stat=; }; "
    "if all >/dev/null; then members() { all | awk -v s=$s -v me=$$ "
    "'$2 == s && $1 != s && $1 != me && $3 !~ /^Z/ { print $1 }'; }; "
    "else members() { ! kill -s 0 -- \"-$s\" || echo \"-$s\"; }; fi; "
    "each() { for p in $(members); do kill -s \"$1\" -- \"$p\"; done; }; "
    "pause() { sleep 0.1 || sleep 1; }; "
    "end=$(($(date +%s) + $2)); each TERM; "
    "while [ -n \"$(members)\" ] && [ \"$(date +%s)\" -lt $end ]; "
    "do pause; done; "
    "end=$(($(date +%s) + 5)); "
    "while [ -n \"$(members)\" ] && [ \"$(date +%s)\" -lt $end ]; "
    "do each KILL; pause; done";

/* Nothing begins before the input is complete; then wait for our end. */
static const char before[] =
    "unset _env _in; echo \"$_n begun\"; echo \"$_n begun\" >&2; "
    "read -r _go _size && IFS= read -r _env || exit 1; "
    "_l=$(printf '\\nl'); _l=${_l%l}; "
    "_in=$({ head -c \"$_size\" || dd bs=1 count=\"$_size\"; } 2>/dev/null; "
    "echo .); "
    "case $_in in *x.) _in=${_in%x.} ;; *) exit 1 ;; esac; "
    "exec 3<&0 </dev/null; "
    "(while read -r _go; do :; done; "
    "exec $(command -v setsid) sh -c \"$_end\" sh $$ $_grace) "
    "<&3 3<&- >/dev/null 2>&1 & _w=$!; trap : HUP INT TERM; ";

static const char after[] =
    "if [ -n \"$_in\" ]; then printf %s \"$_in\" 2>/dev/null | (_run); "
    "else (_run); fi; _s=$?; "
    "{ kill $_w; wait $_w; } 2>/dev/null; "
    "echo \"$_n exit $_s\"; echo \"$_n exit $_s\" >&2";

bool
ssh_wrapper_command(
    struct buf *buf, const struct ssh_wrapper *wrapper, struct error *err)
{
	struct buf inner;
	bool ok;

	buf_init(&inner, 0);
	buf_addf(&inner, "_n=%s _grace=%lld _end=", wrapper->nonce,
	    (long long)(wrapper->grace_ms + 999) / 1000);
	ssh_wrapper_quote(&inner, ender);
	buf_addf(&inner, "; %s_run() { exec 3<&-; eval \"$_env\"; ", before);
	ok = add_command(&inner, wrapper->command, err);
	buf_addf(&inner, "; }; %s", after);
	/* the login shell may be any: it only has to take one quoted word */
	buf_adds(buf, "exec sh -c ");
	ssh_wrapper_quote(buf, inner.data);
	buf_release(&inner);
	return ok;
}

void
ssh_wrapper_go(struct buf *buf, const char *env, const char *input, size_t len)
{
	/* the x says that all of it is there */
	buf_addf(buf, "go %zu\n%s", len + 1, env);
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
