#include "driver/config/config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"
#include "common/utf8.h"
#include "common/way.h"
#include "driver/config/connection.h"
#include "driver/config/options.h"

/* The bytes of numbers and names. */
#define WORD \
	"0123456789_.-" \
	"abcdefghijklmnopqrstuvwxyz" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ"

enum {
	MAX_FILE = 1 << 20,
};

/* The file that settings come from. */
struct source {
	const char *path;
	bool is_open; /* others than its owner may read it */
	char *shared; /* a directory above it that is like /tmp; NULL: none */
};

static bool
read_list(struct config *config, const struct option *option,
    const config_setting_t *setting, struct error *err)
{
	struct config_list *list = option_field(config, option);
	int i, count = config_setting_length(setting);
	const char *item;

	if (!config_setting_is_array(setting) &&
	    !config_setting_is_list(setting))
		return option_wrong_type(option, err);
	option_list_clear(list);
	for (i = 0; i < count; i++) {
		item = config_setting_get_string_elem(setting, i);
		if (item == NULL)
			return option_wrong_type(option, err);
		if (!option_is_text(option->key, item, err))
			return false;
		option_list_add(list, item, strlen(item));
	}
	return true;
}

static bool
read_option(struct config *config, const struct option *option,
    const config_setting_t *setting, struct error *err)
{
	int type = config_setting_type(setting);
	const char *text;

	if (option->type == OPTION_LIST)
		return read_list(config, option, setting, err);
	if (option->type == OPTION_STRING && type == CONFIG_TYPE_STRING) {
		text = config_setting_get_string(setting);
		if (!option_is_text(option->key, text, err))
			return false;
		option_set_string(config, option, text);
		return true;
	}
	if (option->type == OPTION_BOOL && type == CONFIG_TYPE_BOOL) {
		*(bool *)option_field(config, option) =
		    config_setting_get_bool(setting);
		return true;
	}
	if (option->type == OPTION_INT && type == CONFIG_TYPE_INT)
		return option_set_int(
		    config, option, config_setting_get_int(setting), err);
	if (option->type == OPTION_INT && type == CONFIG_TYPE_INT64)
		return option_set_int(
		    config, option, config_setting_get_int64(setting), err);
	return option_wrong_type(option, err);
}

/* Only users who may use a password may read it. */
static bool
check_password(const config_setting_t *setting, const struct source *source,
    struct error *err)
{
	const char *value = config_setting_get_string(setting);
	const char *name = config_setting_name(setting);

	if ((!source->is_open && source->shared == NULL) || value == NULL ||
	    (strcmp(name, "connection") != 0 &&
	        strcmp(name, "sql_connection") != 0) ||
	    !config_connection_has_password(value))
		return true;
	if (source->is_open) {
		error_set(err,
		    "%s has a password, but others can read the "
		    "file",
		    name);
		error_hint(err,
		    "chmod 600 %s, or write passfile=... instead of the "
		    "password.",
		    source->path);
	} else {
		error_set(err,
		    "%s has a password, but the file is below %s, "
		    "to which everybody may write",
		    name, source->shared);
		error_hint(err,
		    "Move the file to a directory like /etc/pgwf, or write "
		    "passfile=... instead of the password.");
	}
	return false;
}

static bool
read_named(struct config *config, const char *key,
    const config_setting_t *setting, const struct source *source,
    struct error *err)
{
	const struct option *option = option_find(key, err);

	if (option != NULL && read_option(config, option, setting, err) &&
	    check_password(setting, source, err))
		return true;
	error_prefix(
	    err, "%s:%u", source->path, config_setting_source_line(setting));
	return false;
}

/* Read the group of one workspace. */
static bool
read_workspace(struct config *config, const config_setting_t *group,
    const struct source *source, struct error *err)
{
	int i, count = config_setting_length(group);
	bool ok = config_setting_is_group(group) && count > 0;

	if (!ok)
		error_set(err,
		    "workspaces.%s must be a group with a connection",
		    config_setting_name(group));
	for (i = 0; ok && i < count; i++) {
		config_setting_t *setting =
		    config_setting_get_elem(group, (unsigned)i);
		const char *value = config_setting_get_string(setting);
		char *key = xasprintf("%s.%s", config_setting_name(group),
		    config_setting_name(setting));

		ok = (value == NULL || option_is_text(key, value, err)) &&
		     config_workspace_set(config, key, value, err) &&
		     check_password(setting, source, err);
		free(key);
	}
	if (!ok)
		error_prefix(err, "%s:%u", source->path,
		    config_setting_source_line(group));
	return ok;
}

static bool
read_workspaces(struct config *config, const config_setting_t *list,
    const struct source *source, struct error *err)
{
	int i, count = config_setting_length(list);

	config_workspaces_clear(config);
	for (i = 0; i < count; i++)
		if (!read_workspace(config,
		        config_setting_get_elem(list, (unsigned)i), source,
		        err))
			return false;
	return true;
}

/* Read all of `group`; the keys of its options begin with `prefix`. */
static bool
read_group(struct config *config, const config_setting_t *group,
    const char *prefix, const struct source *source, struct error *err)
{
	int i, count = config_setting_length(group);
	bool ok = true;

	for (i = 0; ok && i < count; i++) {
		config_setting_t *setting =
		    config_setting_get_elem(group, (unsigned)i);
		char *key =
		    xasprintf("%s%s", prefix, config_setting_name(setting));

		if (config_setting_is_group(setting) &&
		    strcmp(key, "workspaces") == 0) {
			ok = read_workspaces(config, setting, source, err);
		} else if (config_setting_is_group(setting) && !*prefix) {
			char *inner = xasprintf("%s.", key);

			ok = read_group(config, setting, inner, source, err);
			free(inner);
		} else {
			ok = read_named(config, key, setting, source, err);
		}
		free(key);
	}
	return ok;
}

/*
 * Whether libconfig would cut the number.  To libconfig a leading zero means
 * nothing.
 */
static bool
is_too_large(const char *number)
{
	bool hex = number[0] == '0' && (number[1] == 'x' || number[1] == 'X');

	return strtoull(number, NULL, hex ? 16 : 10) > INT32_MAX;
}

/* The end of the first thing in `text`: a string, a comment, or one byte. */
static const char *
skip(const char *text)
{
	const char *end;

	if (text[0] == '"') {
		for (end = text + 1; *end != '\0' && *end != '"'; end++)
			if (*end == '\\' && end[1] != '\0')
				end++;
		return *end != '\0' ? end + 1 : end;
	}
	if (text[0] == '#' || strncmp(text, "//", 2) == 0)
		return text + strcspn(text, "\n");
	if (strncmp(text, "/*", 2) == 0) {
		end = strstr(text + 2, "*/");
		return end != NULL ? end + 2 : text + strlen(text);
	}
	return text + 1;
}

/*
 * Find what libconfig would do silently: cut a number to 32 bits, read other
 * files, ignore everything behind a comment without an end.  False, with `err`
 * set, at the first such place.
 */
static bool
check_text(const char *text, const char *path, struct error *err)
{
	const char *at = text, *next;
	int line = 1;

	for (; *at != '\0'; at = next) {
		next = skip(at);
		if (*at == '@') {
			error_set(err,
			    "%s:%d: no other file can be read from "
			    "here",
			    path, line);
			return false;
		}
		if (strncmp(at, "/*", 2) == 0 && !strstr(at + 2, "*/")) {
			error_set(
			    err, "%s:%d: the comment has no end", path, line);
			return false;
		}
		if (isalnum((unsigned char)*at)) {
			next = at + strspn(at, WORD);
			if (isdigit((unsigned char)*at) && is_too_large(at)) {
				error_set(err, "%s:%d: %.*s is too large", path,
				    line, (int)(next - at), at);
				return false;
			}
		}
		for (; at < next; at++)
			line += *at == '\n';
	}
	return true;
}

/*
 * Only UTF-8 is good: the database takes nothing else, and libconfig ends at a
 * byte 0.
 */
static bool
check_bytes(const struct buf *text, const char *path, struct error *err)
{
	size_t i, len;
	int line = 1;

	for (i = 0; i < text->len; i += len) {
		len = utf8_sequence(text->data + i, text->len - i);
		if (len == 0 || text->data[i] == '\0') {
			error_set(err, "%s:%d: is not UTF-8 text", path, line);
			return false;
		}
		line += text->data[i] == '\n';
	}
	return true;
}

/* A user who may change the file can run programs as the driver's user. */
static bool
check_file(const char *path, const struct stat *status, struct error *err)
{
	if (!S_ISREG(status->st_mode) || status->st_size > MAX_FILE) {
		error_set(err, "%s is not a file of at most 1 MiB", path);
		return false;
	}
	if (status->st_size == 0) {
		error_set(err, "%s is empty", path);
		error_hint(err, "wf-driver --print-config prints a whole one.");
		return false;
	}
	if (way_is_open_to_others(status)) {
		error_set(err, "%s may be changed by others", path);
		error_hint(err, "It has to belong to root or to the driver's "
		                "user; chmod go-w.");
		return false;
	}
	return true;
}

/* The group may read what root has given to it. */
static bool
is_open(const struct stat *status)
{
	mode_t others = status->st_uid == 0 ? S_IROTH : S_IROTH | S_IRGRP;

	return (status->st_mode & others) != 0;
}

/* O_NONBLOCK: opening must not hang on a pipe, nor reading on a device. */
static bool
read_text(struct source *source, struct buf *text, struct error *err)
{
	struct way way = { .path = source->path };
	int fd = way_open(&way, O_RDONLY | O_NONBLOCK | O_NOCTTY, err);
	char chunk[4096];
	struct stat status;
	ssize_t len = -1;

	source->shared = way.shared;
	if (fd < 0)
		return false;
	if (fstat(fd, &status) < 0) {
		error_set_errno(err, "cannot open %s", source->path);
	} else if (check_file(source->path, &status, err)) {
		source->is_open = is_open(&status);
		while ((len = read(fd, chunk, sizeof(chunk))) > 0)
			if (!buf_add(text, chunk, (size_t)len))
				break;
		if (len < 0)
			error_set_errno(err, "cannot read %s", source->path);
		else if (len > 0)
			error_set(err, "%s grows", source->path);
	}
	close(fd);
	return len == 0;
}

static bool
read_tree(struct config *config, const char *text, const struct source *source,
    struct error *err)
{
	config_t tree;
	bool ok = false, has_tree;

	errno = 0; /* without memory libconfig leaves out a part of the tree */
	config_init(&tree);
	has_tree = config_read_string(&tree, text);
	if (errno == ENOMEM)
		error_set(err, "no memory to read %s", source->path);
	else if (has_tree)
		ok = read_group(
		    config, config_root_setting(&tree), "", source, err);
	else
		error_set(err, "%s:%d: %s", source->path,
		    config_error_line(&tree), config_error_text(&tree));
	config_destroy(&tree);
	return ok;
}

bool
config_load(struct config *config, const char *path, struct error *err)
{
	struct source source = { .path = path };
	struct buf text;
	bool ok;

	buf_init(&text, MAX_FILE);
	ok = read_text(&source, &text, err) && check_bytes(&text, path, err) &&
	     check_text(text.data, path, err) &&
	     read_tree(config, text.data, &source, err);
	buf_release(&text);
	free(source.shared);
	return ok;
}

bool
config_take(struct config *config, struct config *fresh, struct buf *waiting)
{
	struct config_workspace *workspaces = config->workspaces;
	size_t count = config->workspace_count;
	bool tell = false;
	size_t i;

	config->workspaces = fresh->workspaces;
	config->workspace_count = fresh->workspace_count;
	fresh->workspaces = workspaces;
	fresh->workspace_count = count;
	for (i = 0; i < option_count; i++) {
		if (option_same(&options[i], config, fresh))
			continue;
		if (options[i].change == OPTION_FIXED) {
			buf_adds(waiting, waiting->len > 0 ? ", " : "");
			buf_adds(waiting, options[i].key);
			continue;
		}
		option_swap(&options[i], config, fresh);
		tell |= options[i].change == OPTION_REGISTERED;
	}
	return tell;
}
