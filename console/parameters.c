#include "console/parameters.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "console/invocation.h"

/* The declared type of a parameter; NULL if it has none. */
static const struct json *
declared_type(const struct json *declared, const char *name)
{
	const char *candidate;
	size_t i;

	for (i = 0; i < json_length(declared); i++) {
		candidate = json_string(json_get(json_at(declared, i), "name"));
		if (candidate != NULL && strcmp(candidate, name) == 0)
			return json_get(json_at(declared, i), "type");
	}
	return NULL;
}

/* Whether `value` can be meant for a parameter of this type. */
static bool
fits(const struct json *type, const struct json *value)
{
	static const struct {
		const char *name;
		enum json_type is, or ;
	} scalars[] = {
		{ "bool", JSON_BOOL, JSON_BOOL },
		{ "int", JSON_INT, JSON_INT },
		{ "list", JSON_LIST, JSON_LIST },
		{ "number", JSON_INT, JSON_NUMBER },
		{ "object", JSON_OBJECT, JSON_OBJECT },
	};
	const char *name = json_string(type);
	enum json_type is = json_type(value);
	size_t i;

	if (json_has(type, "optional"))
		return is == JSON_NULL ||
		       fits(json_get(type, "optional"), value);
	if (json_has(type, "list"))
		return is == JSON_LIST;
	if (json_has(type, "object"))
		return is == JSON_OBJECT;
	if (name == NULL || strcmp(name, "json") == 0)
		return true;
	for (i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++)
		if (strcmp(scalars[i].name, name) == 0)
			return is == scalars[i].is || is == scalars[i].or ;
	return is == JSON_STRING; /* string, date, duration, ... */
}

/* As JSON if it is JSON of that type, else as a string. */
static bool
add_value(
    struct buf *json, const struct json *type, const char *text, size_t len)
{
	struct error ignored = { 0 };
	struct json *value = NULL;
	bool is_json =
	    json_parse(text, len, &value, &ignored) && fits(type, value);

	json_free(value);
	error_release(&ignored);
	return is_json ? buf_add(json, text, len)
	               : json_add_string(json, text, len);
}

bool
parameters_read_file(const char *path, struct buf *content, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char chunk[8192];
	ssize_t len = -1;

	while (fd >= 0 && (len = read(fd, chunk, sizeof(chunk))) > 0)
		if (!buf_add(content, chunk, (size_t)len)) {
			error_set(err,
			    "%s is too large: it may have %d bytes at most",
			    path, PARAMETERS_FILE_MAX);
			close(fd);
			return false;
		}
	if (len < 0)
		error_set_errno(err, "cannot read %s", path);
	if (fd >= 0)
		close(fd);
	return len == 0;
}

/* `text` is NAME=VALUE, and VALUE may be @FILE; "@@" is a plain "@". */
static bool
add_parameter(struct buf *json, const struct json *declared, const char *text,
    struct error *err)
{
	size_t len = strcspn(text, "=");
	char *name = xstrndup(text, len);
	const char *value = text + len + 1;
	struct buf content;
	bool ok = true;

	buf_init(&content, PARAMETERS_FILE_MAX);
	if (value[0] == '@' && value[1] != '@') {
		ok = parameters_read_file(value + 1, &content, err);
		if (!ok)
			error_hint(err,
			    "A value that begins with @ is a file to "
			    "read; @@ stands for @ itself.");
	} else {
		buf_adds(&content, value + (value[0] == '@'));
	}
	if (ok) {
		buf_addc(json, ',');
		json_add_string(json, name, len);
		buf_addc(json, ':');
		ok = add_value(json, declared_type(declared, name),
		    content.data, content.len);
		if (!ok)
			error_set(err, "parameter %s: %s is not text in UTF-8",
			    name, value);
		else if (memchr(content.data, '\0', content.len) != NULL) {
			ok = false;
			error_set(err,
			    "parameter %s: %s has a NUL byte in it, which no "
			    "text can have",
			    name, value);
			error_hint(err, "Give it as base64, for instance.");
		}
	}
	buf_release(&content);
	free(name);
	return ok;
}

/* Whether a --param after `at` sets the same parameter. */
static bool
is_set_later(const struct invocation *invocation, size_t at, const char *name,
    size_t len)
{
	const char *text;

	while ((text = invocation_next(invocation, "param", &at)) != NULL)
		if (strncmp(text, name, len) == 0 && text[len] == '=')
			return true;
	return false;
}

/* The members of --params that no --param overrides. */
static void
add_object(struct buf *json, const struct invocation *invocation)
{
	const char *text = invocation_value(invocation, "params"), *name;
	struct error ignored = { 0 };
	struct json *object = NULL;
	char *value;
	size_t i;

	if (text != NULL)
		json_parse(text, strlen(text), &object, &ignored);
	error_release(&ignored);
	for (i = 0; i < json_length(object); i++) {
		name = json_key_at(object, i);
		if (is_set_later(invocation, 0, name, strlen(name)))
			continue;
		value = json_text(json_value_at(object, i));
		buf_addc(json, ',');
		json_add_string(json, name, strlen(name));
		buf_addf(json, ":%s", value);
		free(value);
	}
	json_free(object);
}

char *
parameters_json(const struct invocation *invocation,
    const struct json *declared, struct error *err)
{
	const char *text;
	struct buf json;
	bool ok = true;
	size_t at = 0;

	buf_init(&json, 0);
	add_object(&json, invocation);
	while (ok && (text = invocation_next(invocation, "param", &at)) != NULL)
		if (!is_set_later(invocation, at, text, strcspn(text, "=")))
			ok = add_parameter(&json, declared, text, err);
	if (json.len == 0)
		buf_addc(&json, '{');
	json.data[0] = '{';
	buf_addc(&json, '}');
	if (ok)
		return buf_take(&json);
	buf_release(&json);
	return NULL;
}
