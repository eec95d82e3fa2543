#include "driver/config.h"

#include <ctype.h>
#include <fcntl.h>
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"
#include "driver/options.h"

/* What numbers and names are made of. */
#define WORD \
	"0123456789_.-" \
	"abcdefghijklmnopqrstuvwxyz" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ"

enum {
	MAX_FILE = 1 << 20,
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
		option_list_add(list, item, strlen(item));
	}
	return true;
}

static bool
read_option(struct config *config, const struct option *option,
    const config_setting_t *setting, struct error *err)
{
	int type = config_setting_type(setting);

	if (option->type == OPTION_LIST)
		return read_list(config, option, setting, err);
	if (option->type == OPTION_STRING && type == CONFIG_TYPE_STRING) {
		option_set_string(
		    config, option, config_setting_get_string(setting));
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

static bool
read_named(struct config *config, const char *key,
    const config_setting_t *setting, const char *path, struct error *err)
{
	const struct option *option = option_find(key, err);

	if (option != NULL && read_option(config, option, setting, err))
		return true;
	error_prefix(err, "%s:%u", path, config_setting_source_line(setting));
	return false;
}

/* Everything in `group`, whose options' keys begin with `prefix`. */
static bool
read_group(struct config *config, const config_setting_t *group,
    const char *prefix, const char *path, struct error *err)
{
	int i, count = config_setting_length(group);
	bool ok = true;

	for (i = 0; ok && i < count; i++) {
		config_setting_t *setting =
		    config_setting_get_elem(group, (unsigned)i);
		char *key =
		    xasprintf("%s%s", prefix, config_setting_name(setting));

		if (config_setting_is_group(setting) && !*prefix) {
			char *inner = xasprintf("%s.", key);

			ok = read_group(config, setting, inner, path, err);
			free(inner);
		} else {
			ok = read_named(config, key, setting, path, err);
		}
		free(key);
	}
	return ok;
}

/* Where what `text` begins with ends: a string, a comment, or one byte. */
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
 * What libconfig would do without a word: cut a number to 32 bits, read other
 * files.  False, with `err` set, at the first such place.
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
		if (isalnum((unsigned char)*at)) {
			next = at + strspn(at, WORD);
			if (isdigit((unsigned char)*at) &&
			    strtoull(at, NULL, 0) > INT32_MAX) {
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

/* Opening must not hang on a pipe, nor reading on a device. */
static bool
read_text(const char *path, struct buf *text, struct error *err)
{
	char chunk[4096];
	struct stat info;
	ssize_t len;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0) {
		error_set_errno(err, "cannot open %s", path);
		return false;
	}
	if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode) ||
	    info.st_size > MAX_FILE) {
		error_set(err, "%s is not a file of at most 1 MiB", path);
		close(fd);
		return false;
	}
	while ((len = read(fd, chunk, sizeof(chunk))) > 0)
		buf_add(text, chunk, (size_t)len);
	if (len < 0)
		error_set_errno(err, "cannot read %s", path);
	close(fd);
	return len == 0;
}

static bool
read_tree(struct config *config, const char *text, const char *path,
    struct error *err)
{
	config_t tree;
	bool ok = false;

	config_init(&tree);
	if (config_read_string(&tree, text))
		ok = read_group(
		    config, config_root_setting(&tree), "", path, err);
	else
		error_set(err, "%s:%d: %s", path, config_error_line(&tree),
		    config_error_text(&tree));
	config_destroy(&tree);
	return ok;
}

bool
config_load(struct config *config, const char *path, struct error *err)
{
	struct buf text;
	bool ok;

	buf_init(&text, 0);
	ok = read_text(path, &text, err) && check_text(text.data, path, err) &&
	     read_tree(config, text.data, path, err);
	buf_release(&text);
	return ok;
}

bool
config_take(struct config *config, struct config *fresh, struct buf *waiting)
{
	bool tell = false;
	size_t i;

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
