/*
 * lang_tool - the language alone, for tests: check, compile, format or print.
 *
 *	lang_tool check|compile|fmt|print [-0] [-I root]... [-L library]...
 *	    file...
 *	lang_tool functions|transports
 *
 * Diagnostics go to standard output, so that a case has one expected text.
 * With -0, a NUL byte follows what is said of each file: one process for many
 * files takes less time than many processes, above all with sanitizers.
 * `functions` lists the functions that expressions may call, `transports` the
 * transports and which of their arguments can hold secrets.  `print` writes
 * the text of each tree (*.json), or of what each file compiles to (*.wf).
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/lang/function.h"
#include "console/lang/lang.h"
#include "console/lang/transport_spec.h"

enum { FOLDERS_MAX = 8 };

struct request {
	const char *command;
	char **paths; /* NULL-terminated */
	bool nul;     /* after each file */
	const char *roots[FOLDERS_MAX + 1], *libraries[FOLDERS_MAX + 1];
	struct lang_options options;
};

static int
usage(void)
{
	fputs("usage: lang_tool check|compile|fmt|print [-0] [-I root]... "
	      "[-L library]... file...\n"
	      "       lang_tool functions|transports\n",
	    stderr);
	return 2;
}

static int
add_folder(const char **folders, const char *folder)
{
	int i = 0;

	while (i < FOLDERS_MAX && folders[i])
		i++;
	folders[i < FOLDERS_MAX ? i : FOLDERS_MAX - 1] = folder;
	return 1;
}

static int
read_arguments(struct request *request, int argc, char **argv)
{
	int i;

	if (argc < 2)
		return 0;
	request->command = argv[1];
	for (i = 2; i < argc; i++) {
		if (strcmp(argv[i], "-I") == 0 && i + 1 < argc)
			add_folder(request->roots, argv[++i]);
		else if (strcmp(argv[i], "-L") == 0 && i + 1 < argc)
			add_folder(request->libraries, argv[++i]);
		else if (strcmp(argv[i], "-0") == 0)
			request->nul = true;
		else
			break;
	}
	request->paths = argv + i;
	request->options.libraries = request->libraries;
	if (request->roots[0])
		request->options.roots = request->roots;
	return 1;
}

static int
list_functions(void)
{
	int i;

	for (i = 0; function_at(i); i++)
		printf("%s %d %d\n", function_at(i)->name,
		    function_at(i)->least, (int)strlen(function_at(i)->args));
	return 0;
}

/* A tree may be longer than a source. */
static char *
read_tree(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t len = 0;

	if (file && getdelim(&text, &len, '\0', file) < 0) {
		free(text);
		text = NULL;
	}
	if (file)
		fclose(file);
	return text;
}

static int
print(const struct request *request, const char *path)
{
	struct lang_result result = { 0 };
	char *source = NULL, *tree = NULL, *text = NULL;
	const char *dot = strrchr(path, '.');
	size_t len;
	int good;

	if (!dot || strcmp(dot, ".wf") != 0)
		tree = read_tree(path);
	else if (lang_read(path, &source, &len, &result))
		tree =
		    lang_compile(path, source, len, &request->options, &result);
	if (tree)
		text = lang_print(path, tree, strlen(tree), NULL, &result);
	if (text)
		fputs(text, stdout);
	lang_result_print(&result, stdout);
	good = text != NULL;
	lang_result_release(&result);
	free(text);
	free(tree);
	free(source);
	return good ? 0 : 1;
}

static int
run(const struct request *request, const char *path)
{
	struct lang_result result = { 0 };
	char *text = NULL, *output = NULL;
	size_t len;
	int good;

	if (lang_read(path, &text, &len, &result)) {
		if (strcmp(request->command, "compile") == 0)
			output = lang_compile(
			    path, text, len, &request->options, &result);
		else if (strcmp(request->command, "fmt") == 0)
			output = lang_format(path, text, len, &result);
		else
			lang_check(path, text, len, &request->options, &result);
	}
	if (output)
		fputs(output, stdout);
	lang_result_print(&result, stdout);
	good = result.length == 0;
	lang_result_release(&result);
	free(output);
	free(text);
	return good ? 0 : 1;
}

static int
run_all(const struct request *request)
{
	bool trees = strcmp(request->command, "print") == 0;
	char **path;
	int status = 0;

	for (path = request->paths; *path; path++) {
		status |= trees ? print(request, *path) : run(request, *path);
		if (request->nul)
			putchar('\0');
	}
	return status;
}

int
main(int argc, char **argv)
{
	struct request request = { 0 };

	if (!read_arguments(&request, argc, argv))
		return usage();
	if (strcmp(request.command, "functions") == 0)
		return list_functions();
	if (strcmp(request.command, "transports") == 0) {
		transport_spec_print(stdout);
		return 0;
	}
	if (!request.paths[0] ||
	    !strstr("check compile fmt print", request.command))
		return usage();
	return run_all(&request);
}
