#include "console/lang/function.h"

#include <stddef.h>
#include <string.h>

#include "console/lang/arena.h"
#include "console/lang/type.h"

/*
 * The letters: a anything, s string, i int, n number, b bool, l list,
 * S [string], N [number], o object, d date, t timestamp, T date or timestamp,
 * D duration, c string or list, z string, list or object, j json;
 * as results also: e an element of the first argument, = its type,
 * E [{key, value}].
 *
 * Keep sorted by name; a test compares it with docs/spec.md.
 */
static const struct function functions[] = {
	{ "abs", 1, "n", '=' },
	{ "base64", 1, "s", 's' },
	{ "capture", 2, "ss", 'S' },
	{ "ceil", 1, "n", 'i' },
	{ "concat", 2, "ll", '=' },
	{ "contains", 2, "ca", 'b' },
	{ "date", 1, "s", 'd' },
	{ "duration", 1, "s", 'D' },
	{ "ends_with", 2, "ss", 'b' },
	{ "entries", 1, "o", 'E' },
	{ "first", 1, "l", 'e' },
	{ "flatten", 1, "l", 'l' },
	{ "floor", 1, "n", 'i' },
	{ "format_time", 2, "Tss", 's' },
	{ "has", 2, "os", 'b' },
	{ "int", 1, "a", 'i' },
	{ "join", 2, "ls", 's' },
	{ "json", 1, "a", 's' },
	{ "keys", 1, "o", 'S' },
	{ "last", 1, "l", 'e' },
	{ "lower", 1, "s", 's' },
	{ "lpad", 2, "sis", 's' },
	{ "matches", 2, "ss", 'b' },
	{ "max", 1, "l", 'e' },
	{ "merge", 2, "oo", 'o' },
	{ "min", 1, "l", 'e' },
	{ "now", 0, "", 't' },
	{ "number", 1, "a", 'n' },
	{ "parse", 1, "s", 'j' },
	{ "path", 2, "as", 'l' },
	{ "quote_ident", 1, "s", 's' },
	{ "replace", 3, "sss", 's' },
	{ "replace_all", 3, "sss", 's' },
	{ "reverse", 1, "l", '=' },
	{ "round", 1, "ni", 'n' },
	{ "seconds", 1, "D", 'n' },
	{ "sh", 1, "a", 's' },
	{ "sha256", 1, "s", 's' },
	{ "size", 1, "z", 'i' },
	{ "slice", 2, "lii", '=' },
	{ "sort", 1, "l", '=' },
	{ "split", 2, "ss", 'S' },
	{ "starts_with", 2, "ss", 'b' },
	{ "string", 1, "a", 's' },
	{ "substring", 2, "sii", 's' },
	{ "sum", 1, "N", 'n' },
	{ "timestamp", 1, "s", 't' },
	{ "today", 0, "s", 'd' },
	{ "trim", 1, "s", 's' },
	{ "typeof", 1, "a", 's' },
	{ "unique", 1, "l", '=' },
	{ "upper", 1, "s", 's' },
	{ "url_encode", 1, "s", 's' },
	{ "values", 1, "o", 'l' },
};

enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

static const struct {
	char letter;
	enum type_kind kind;
} kinds[] = {
	{ 'a', TYPE_JSON },
	{ 'b', TYPE_BOOL },
	{ 'd', TYPE_DATE },
	{ 'i', TYPE_INT },
	{ 'j', TYPE_JSON },
	{ 'l', TYPE_LIST },
	{ 'n', TYPE_NUMBER },
	{ 'o', TYPE_OBJECT },
	{ 's', TYPE_STRING },
	{ 't', TYPE_TIMESTAMP },
	{ 'c', TYPE_LIST },
	{ 'z', TYPE_LIST },
	{ 'D', TYPE_DURATION },
	{ 'T', TYPE_TIMESTAMP },
};

const struct function *
function_find(const char *name)
{
	int low = 0, high = FUNCTIONS, middle, order;

	while (low < high) {
		middle = (low + high) / 2;
		order = strcmp(name, functions[middle].name);
		if (order == 0)
			return &functions[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const struct function *
function_at(int i)
{
	return i < FUNCTIONS ? &functions[i] : NULL;
}

static const struct type *
entries(struct arena *arena)
{
	static const struct field value = { NULL, "value",
		&type_basic[TYPE_JSON] };
	static const struct field key = { (struct field *)&value, "key",
		&type_basic[TYPE_STRING] };

	return type_list(arena, type_object(arena, &key));
}

static const struct type *
simple_type(char letter)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].letter == letter)
			return &type_basic[kinds[i].kind];
	return &type_basic[TYPE_JSON];
}

static const struct type *
letter_type(struct arena *arena, char letter)
{
	if (letter == 'S')
		return type_list(arena, &type_basic[TYPE_STRING]);
	if (letter == 'N')
		return type_list(arena, &type_basic[TYPE_NUMBER]);
	if (letter == 'E')
		return entries(arena);
	return simple_type(letter);
}

const char *
function_arg_text(const struct function *function, int i)
{
	static const struct {
		char letter;
		const char *text;
	} texts[] = {
		{ 'S', "[string]" },
		{ 'N', "[number]" },
		{ 'T', "date or timestamp" },
		{ 'c', "string or list" },
		{ 'z', "string, list or object" },
	};
	size_t j;

	for (j = 0; j < sizeof(texts) / sizeof(texts[0]); j++)
		if (texts[j].letter == function->args[i])
			return texts[j].text;
	for (j = 0; kinds[j].letter != function->args[i]; j++)
		continue;
	return type_name_at((int)kinds[j].kind);
}

int
function_accepts(
    const struct function *function, int i, const struct type *type)
{
	static const struct type strings = { .kind = TYPE_LIST,
		.element = &type_basic[TYPE_STRING] };
	static const struct type numbers = { .kind = TYPE_LIST,
		.element = &type_basic[TYPE_NUMBER] };
	char letter = function->args[i];

	if (type->kind == TYPE_JSON || type->kind == TYPE_ERROR)
		return 1;
	if (type->kind == TYPE_STRING && (letter == 'c' || letter == 'z'))
		return 1;
	if (letter == 'z' && type->kind == TYPE_OBJECT)
		return 1;
	if (letter == 'T' && type->kind == TYPE_DATE)
		return 1;
	if (letter == 'S' || letter == 'N')
		return type_fit(type, letter == 'S' ? &strings : &numbers) <=
		       FIT_CHECK;
	return type_fit(type, simple_type(letter)) <= FIT_CHECK;
}

const struct type *
function_result(struct arena *arena, const struct function *function,
    const struct type *first)
{
	const struct type *type;

	switch (function->result) {
	case '=':
		return first;
	case 'e':
		type = first->kind == TYPE_LIST && first->element
		           ? first->element
		           : &type_basic[TYPE_JSON];
		break;
	default:
		type = letter_type(arena, function->result);
	}
	if (first && type_may_be_null(first) &&
	    strcmp(function->name, "json") != 0 &&
	    strcmp(function->name, "typeof") != 0)
		return type_optional(arena, type);
	return type;
}
