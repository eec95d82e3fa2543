/*
 * Lines of the log: whatever a message, a workspace or a task is called, it is
 * one line, which is JSON if it should be, and drives no terminal.  Three
 * parts: message, workspace, type of the task.
 */
#include <fcntl.h>
#include <sanitizer/common_interface_defs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* What is written to a descriptor from now on, until caught() says so. */
struct catch
{
	int fd, saved, file;
};

static struct catch catch_begin(int fd)
{
	struct catch catch = {
		.fd = fd,
		.saved = fcntl(fd, F_DUPFD_CLOEXEC, 0),
		.file = memfd_create("caught", MFD_CLOEXEC),
	};

	/* what a sanitizer has to say is none of it */
	__sanitizer_set_report_fd((void *)(intptr_t) catch.saved);
	MUST(catch.saved >= 0 && dup2(catch.file, fd) == fd);
	return catch;
}

static char *
caught(struct catch *catch, size_t *len)
{
	off_t size = lseek(catch->file, 0, SEEK_END);
	char *text;

	MUST(dup2(catch->saved, catch->fd) == catch->fd);
	__sanitizer_set_report_fd((void *)(intptr_t)STDERR_FILENO);
	close(catch->saved);
	MUST(size >= 0 && (text = malloc((size_t)size + 1)) != NULL);
	MUST(pread(catch->file, text, (size_t)size, 0) == size);
	close(catch->file);
	*len = (size_t)size;
	return text;
}

static void
check_line(
    int fd, const struct log_about *about, const char *message, bool json)
{
	struct catch catch = catch_begin(fd);
	char *line;
	size_t len;

	log_init(LOG_LEVEL_INFO, json ? LOG_JSON : LOG_TEXT);
	if (fd == STDOUT_FILENO)
		log_say(about, message);
	else
		log_about(LOG_LEVEL_WARN, about, "%s", message);
	line = caught(&catch, &len);
	MUST(json ? fuzz_is_json(line, len) : is_line(line, len));
	MUST(memchr(line, '\n', len) == line + len - 1);
	free(line);
}

/* An error has its detail and hint on lines of their own. */
static void
check_error(const char *message, const char *detail, bool json)
{
	struct error err = { 0 };
	struct catch catch;
	char *text;
	size_t len;

	error_set(&err, "%s", message);
	error_detail(&err, "%s", detail);
	error_hint(&err, "%s", detail);
	log_init(LOG_LEVEL_INFO, json ? LOG_JSON : LOG_TEXT);
	catch = catch_begin(STDERR_FILENO);
	log_error(&err);
	text = caught(&catch, &len);
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

	check_line(STDERR_FILENO, &about, message, false);
	check_line(STDERR_FILENO, &about, message, true);
	check_line(STDOUT_FILENO, &about, message, false);
	check_line(STDOUT_FILENO, &about, message, true);
	check_error(message, workspace, false);
	check_error(message, workspace, true);
	free(task);
	free(workspace);
	free(message);
	return 0;
}
