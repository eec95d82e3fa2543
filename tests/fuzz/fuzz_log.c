/*
 * Lines of the log: whatever a message, a workspace or a task is called, it is
 * one line, which is JSON if it should be, and drives no terminal.  Three
 * parts: message, workspace, type of the task.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/log.h"
#include "common/utf8.h"
#include "tests/fuzz/fuzz.h"

/* One line of UTF-8; control characters but the tab are not in it. */
static bool
is_line(const char *text, size_t len)
{
	size_t i;

	if (len == 0 || text[len - 1] != '\n' || !utf8_valid(text, len))
		return false;
	for (i = 0; i + 1 < len; i++) {
		unsigned char c = (unsigned char)text[i],
		              next = (unsigned char)text[i + 1];

		if ((c < ' ' && c != '\t') || c == 0x7f ||
		    (c == 0xc2 && next < 0xa0))
			return false;
	}
	return true;
}

static void
check_line(FILE **stream, const struct log_about *about, const char *message,
    bool json)
{
	FILE *saved = *stream;
	char *line = NULL;
	size_t len;

	*stream = open_memstream(&line, &len);
	log_init(LOG_LEVEL_INFO, json);
	if (stream == &stdout)
		log_say(about, message);
	else
		log_about(LOG_LEVEL_WARN, about, "%s", message);
	fclose(*stream);
	*stream = saved;
	MUST(json ? fuzz_is_json(line, len) : is_line(line, len));
	MUST(memchr(line, '\n', len) == line + len - 1);
	free(line);
}

/* An error has its detail and hint on lines of their own. */
static void
check_error(const char *message, const char *detail, bool json)
{
	FILE *saved = stderr;
	struct error err = { 0 };
	char *text = NULL;
	size_t len;

	error_set(&err, "%s", message);
	error_detail(&err, "%s", detail);
	error_hint(&err, "%s", detail);
	stderr = open_memstream(&text, &len);
	log_init(LOG_LEVEL_INFO, json);
	log_error(&err);
	fclose(stderr);
	stderr = saved;
	MUST(utf8_valid(text, len));
	MUST(!json || fuzz_is_json(text, len));
	MUST(memchr(text, '\033', len) == NULL);
	free(text);
	error_release(&err);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { (const char *)data, size };
	size_t len;
	char *message = fuzz_part(&input, &len);
	char *workspace = fuzz_part(&input, &len);
	char *task = fuzz_part(&input, &len);
	const struct log_about about = {
		.workspace = workspace,
		.instance_id = 17,
		.process_id = 42,
		.attempt = 1,
		.task = task,
	};

	check_line(&stderr, &about, message, false);
	check_line(&stderr, &about, message, true);
	check_line(&stdout, &about, message, false);
	check_line(&stdout, &about, message, true);
	check_error(message, workspace, false);
	check_error(message, workspace, true);
	free(task);
	free(workspace);
	free(message);
	return 0;
}
