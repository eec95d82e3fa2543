/* Scanner, parser, checker, emitter: any bytes are refused or compiled. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/lang/lang.h"
#include "tests/fuzz/fuzz.h"

static const char *const folders[] = { FUZZ_LIBRARY, NULL };
static const struct lang_options options = {
	.roots = folders,
	.libraries = folders,
};

/* What is said of the text may hold pieces of it. */
static void
check_result(const struct lang_result *result)
{
	char *text = NULL;
	size_t len, i;
	FILE *out = open_memstream(&text, &len);

	lang_result_print(result, out);
	fclose(out);
	MUST(fuzz_is_safe(text, len));
	for (i = 0; i < result->length; i++) {
		MUST(result->diagnostics[i].message[0] != '\0');
		MUST(result->diagnostics[i].line >= 0);
	}
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lang_result result = { 0 }, checked = { 0 }, printed = { 0 };
	char *text = NULL;
	char *spec = lang_compile(
	    "fuzz.wf", (const char *)data, size, &options, &result);

	MUST((spec == NULL) == (result.length > 0));
	if (spec != NULL) {
		text = lang_print("fuzz", spec, strlen(spec), NULL, &printed);
		MUST(text != NULL);
		MUST(fuzz_is_json(spec, strlen(spec)));
		MUST(lang_check(
		    "fuzz.wf", (const char *)data, size, &options, &checked));
	}
	check_result(&result);
	lang_result_release(&checked);
	lang_result_release(&printed);
	free(text);
	lang_result_release(&result);
	free(spec);
	return 0;
}
