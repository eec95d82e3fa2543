/* Printer of trees: any tree is refused or printed, and the text is laid out. */
#include <stdlib.h>
#include <string.h>

#include "console/lang/lang.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lang_result result = { 0 };
	char *text =
	    lang_print("fuzz", (const char *)data, size, NULL, &result);
	char *again;

	MUST((text == NULL) == (result.length > 0));
	if (text != NULL) {
		again = lang_format("fuzz", text, strlen(text), &result);
		MUST(again != NULL && strcmp(again, text) == 0);
		free(again);
	}
	lang_result_release(&result);
	free(text);
	return 0;
}
