#include "console/picture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/mem.h"
#include "console/memory_file.h"
#include "console/subprocess.h"

bool
picture_draw(const char *source, struct buf *picture, struct error *err)
{
	int in = memory_file_make(source, err), out = memory_file_make("", err);
	char *in_path = xasprintf("/proc/self/fd/%d", in);
	char *out_path = xasprintf("/proc/self/fd/%d", out);
	const char *argv[] = { "dot", "-Tsvg", "-o", out_path, in_path, NULL };
	struct buf said;
	int status = 1;
	bool ok;

	buf_init(&said, 4096);
	ok = in >= 0 && out >= 0 && subprocess_ask(argv, &said, &status, err);
	if (!ok)
		error_hint(err, "Pictures are drawn by Graphviz: install it, "
		                "or use --as mermaid.");
	else if (status != 0)
		error_set(err, "dot failed: %.*s",
		    (int)strcspn(said.data, "\n"), said.data);
	ok = ok && status == 0 && memory_file_read(out, picture, err);
	buf_release(&said);
	free(out_path);
	free(in_path);
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return ok;
}
