/*
 * main.c - read the command line, run the command, report the result.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/pg.h"
#include "console/commands.h"
#include "console/console.h"
#include "console/session.h"
#include "console/text.h"

static enum exit_code
run(struct console *console, struct error *err)
{
	const struct command *command = console->invocation.command;
	const char *format = console_value(console, "format");

	terminal_init(&console->terminal, console_flag(console, "no-color"));
	console->format = output_format_find(format != NULL ? format : "table");
	console->is_record =
	    command->is_record || console_flag(console, "expanded");
	if (console_flag(console, "help"))
		return cmd_help(console, err);
	if (command->needs != NEEDS_NOTHING &&
	    !session_open(console, command->needs, err))
		return EXIT_FAILED;
	return command->run != NULL ? command->run(console, err)
	                            : console_run_sql(console, err);
}

static void
print_line(const char *label, const char *text)
{
	struct buf safe;

	buf_init(&safe, 0);
	text_add_safe(&safe, text, "\n");
	fprintf(stderr, "%s: %s\n", label, safe.data);
	buf_release(&safe);
}

static void
report(const struct error *err)
{
	fflush(stdout);
	if (err->message == NULL)
		return;
	print_line("wf-console", err->message);
	if (err->detail != NULL)
		print_line("detail", err->detail);
	if (err->hint != NULL)
		print_line("hint", err->hint);
}

/*
 * If a stream is closed, the next socket gets its number, and our output would
 * go there.  True if standard output was open.
 */
static bool
open_streams(void)
{
	bool is_open = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	return is_open;
}

/* Check that the output has been written: a full disk is a failure. */
static enum exit_code
check_output(enum exit_code code, bool is_open)
{
	if (!is_open) {
		print_line("wf-console",
		    "cannot write the output: standard output is closed");
		return EXIT_FAILED;
	}
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	perror("wf-console: cannot write the output");
	return EXIT_FAILED;
}

int
main(int argc, char **argv)
{
	struct console console = { .out = stdout };
	struct error err = { 0 };
	enum exit_code code = EXIT_USAGE;
	bool is_open = open_streams();

	signal(SIGPIPE, SIG_DFL);
	if (invocation_parse(&console.invocation, argc, argv, &err))
		code = run(&console, &err);
	report(&err);
	code = check_output(code, is_open);
	error_release(&err);
	pg_free(console.pg);
	invocation_release(&console.invocation);
	if (console_is_interrupted()) {
		signal(SIGINT, SIG_DFL);
		raise(SIGINT);
	}
	return (int)code;
}
