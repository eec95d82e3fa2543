#include "console/review.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"
#include "console/lang/lang.h"
#include "console/memory_file.h"
#include "console/subprocess.h"

char *
review_text(
    const char *what, const char *tree, const char *workflow, struct error *err)
{
	struct lang_result result = { 0 };
	char *text = lang_print(what, tree, strlen(tree), workflow, &result);

	if (text == NULL) {
		lang_result_print(&result, stderr);
		error_set(err, "no text says what the tree of %s says", what);
		error_hint(err, "Another compiler has made it. The column tree "
		                "of wf.version_v holds it as JSON.");
	}
	lang_result_release(&result);
	return text;
}

bool
review_diff(const char *const *texts, const char *const *labels,
    struct buf *output, struct error *err)
{
	int fds[2] = { memory_file_make(texts[0], err),
		memory_file_make(texts[1], err) };
	char *paths[2] = { xasprintf("/proc/self/fd/%d", fds[0]),
		xasprintf("/proc/self/fd/%d", fds[1]) };
	const char *argv[] = { "diff", "-u", "--label", labels[0], "--label",
		labels[1], paths[0], paths[1], NULL };
	int status = 2, i;
	bool ok = fds[0] >= 0 && fds[1] >= 0 &&
	          subprocess_ask(argv, output, &status, err);

	for (i = 0; i < 2; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		free(paths[i]);
	}
	if (ok && status > 1) {
		error_set(err, "%s", output->data);
		ok = false;
	}
	return ok;
}
