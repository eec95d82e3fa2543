/*
 * The layout is one: laid out twice is laid out once.  It changes nothing: what
 * compiles does so afterwards, to the same tree.
 */
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "console/lang/lang.h"
#include "tests/fuzz/fuzz.h"

static const char *const folders[] = { FUZZ_LIBRARY, NULL };
static const struct lang_options options = {
	.roots = folders,
	.libraries = folders,
};

/* The tree without its lines, for the caller to free(); NULL: refused. */
static char *
compile(const char *text, size_t len)
{
	static const char line[] = ",\"line\":";
	struct lang_result result = { 0 };
	char *spec = lang_compile("fuzz.wf", text, len, &options, &result);
	const char *at = spec, *next;
	struct buf out;

	lang_result_release(&result);
	if (spec == NULL)
		return NULL;
	buf_init(&out, 0);
	for (; (next = strstr(at, line)) != NULL; at = next) {
		buf_add(&out, at, (size_t)(next - at));
		next += sizeof(line) - 1;
		next += strspn(next, "0123456789");
	}
	buf_adds(&out, at);
	free(spec);
	return buf_take(&out);
}

static char *
lay_out(const char *text, size_t len)
{
	struct lang_result result = { 0 };
	char *laid = lang_format("fuzz.wf", text, len, &result);

	MUST((laid == NULL) == (result.length > 0));
	lang_result_release(&result);
	return laid;
}

static bool
check(const char *text, size_t len)
{
	struct lang_result result = { 0 };
	bool ok = lang_check("fuzz.wf", text, len, &options, &result);

	lang_result_release(&result);
	return ok;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	char *tree = compile(text, size), *once = lay_out(text, size);
	char *twice = NULL, *same = NULL;

	if (once == NULL) {
		MUST(tree == NULL);
		return 0;
	}
	twice = lay_out(once, strlen(once));
	same = compile(once, strlen(once));
	MUST(twice != NULL);
	MUST(strcmp(once, twice) == 0);
	MUST(check(text, size) == check(once, strlen(once)));
	MUST((tree == NULL) == (same == NULL));
	MUST(tree == NULL || strcmp(tree, same) == 0);
	free(same);
	free(twice);
	free(once);
	free(tree);
	return 0;
}
