/*
 * The driver's configuration: any file is taken or refused with a reason, and
 * what was taken is printed and read again as the same.  The first part is the
 * file, each line behind it an option as -o takes it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/utf8.h"
#include "driver/config/config.h"
#include "driver/config/options.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/private.h"

/* libconfig forgets a string in whose midst the file goes wrong. */
const char *__lsan_default_suppressions(void);

const char *
__lsan_default_suppressions(void)
{
	return "leak:libconfig.so";
}

static char directory[256], path[300];

static void
remove_directory(void)
{
	unlink(path);
	rmdir(directory);
}

/* As from a file that only its owner may change. */
static bool
load(struct config *config, const char *text, size_t len, struct error *err)
{
	bool ok;
	int fd;

	if (directory[0] == '\0') {
		MUST(private_directory(directory, sizeof(directory)));
		snprintf(path, sizeof(path), "%s/driver.conf", directory);
		atexit(remove_directory);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	MUST(fd >= 0 && write(fd, text, len) == (ssize_t)len);
	close(fd);
	ok = config_load(config, path, err);
	MUST(ok == (err->message == NULL));
	MUST(ok || utf8_valid(err->message, strlen(err->message)));
	return ok;
}

static bool
same_workspaces(const struct config *a, const struct config *b)
{
	size_t i;

	if (a->workspace_count != b->workspace_count)
		return false;
	for (i = 0; i < a->workspace_count; i++) {
		const struct config_workspace *one = &a->workspaces[i],
		                              *two = &b->workspaces[i];

		if (strcmp(one->name, two->name) != 0 ||
		    strcmp(one->connection, two->connection) != 0 ||
		    strcmp(one->sql_connection, two->sql_connection) != 0)
			return false;
	}
	return true;
}

/* What a running driver with no settings at all takes of it. */
static void
check_taken(const struct config *config, struct config *fresh)
{
	struct config running;
	struct buf waiting;
	size_t i;

	config_preset(&running);
	buf_init(&waiting, 0);
	(void)config_take(&running, fresh, &waiting);
	for (i = 0; i < option_count; i++)
		MUST(option_same(&options[i], config, &running) ||
		     strstr(waiting.data, options[i].key) != NULL);
	MUST(same_workspaces(config, &running));
	buf_release(&waiting);
	config_release(&running);
}

/* What is printed is read again as the same. */
static void
check_printed(const struct config *config)
{
	char *text = NULL;
	size_t len, i;
	FILE *out = open_memstream(&text, &len);
	struct error err = { 0 };
	struct config copy;

	config_print(config, out);
	fclose(out);
	config_preset(&copy);
	MUST(load(&copy, text, len, &err));
	for (i = 0; i < option_count; i++)
		MUST(option_same(&options[i], config, &copy));
	MUST(same_workspaces(config, &copy));
	check_taken(config, &copy);
	config_release(&copy);
	free(text);
}

/* False if one of them was refused. */
static bool
set_options(struct config *config, struct fuzz_input *input, struct error *err)
{
	bool ok = true;
	char *line;

	while (ok && (line = fuzz_line(input)) != NULL) {
		ok = config_set(config, line, err);
		MUST(ok == (err->message == NULL));
		free(line);
	}
	return ok;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { (const char *)data, size };
	struct error err = { 0 };
	struct config config;
	size_t len;
	char *text = fuzz_part(&input, &len);

	config_preset(&config);
	if ((len == 0 || load(&config, text, len, &err)) &&
	    set_options(&config, &input, &err)) {
		MUST(config_check(&config, &err) == (err.message == NULL));
		check_printed(&config);
	}
	error_release(&err);
	config_release(&config);
	free(text);
	return 0;
}
