#include "console/lang/scan.h"

#include <stdbool.h>
#include <string.h>

#include "console/lang/arena.h"
#include "console/lang/diagnostic.h"
#include "console/lang/source.h"
#include "console/lang/symbol.h"

enum {
	NAME_MAX_BYTES = 63,
	TEXT_DEPTH_MAX = 50, /* strings in ${…} of strings */
};

/* A string whose ${…} is being scanned. */
struct open_text {
	size_t offset; /* of its opening quotes */
	size_t quotes; /* 1 or 3 */
	int braces;    /* open within the ${…} */
};

struct scanner {
	struct arena *arena;
	const struct source *source;
	struct lang_result *result;
	struct tokens *tokens;
	size_t token_room, comment_room;
	const char *at;
	const struct comment *doc;
	struct open_text open[TEXT_DEPTH_MAX];
	int depth;
};

static size_t
offset_of(const struct scanner *scanner, const char *p)
{
	return (size_t)(p - scanner->source->text);
}

static void *
grow(struct arena *arena, void *old, size_t length, size_t *room, size_t size)
{
	void *list;

	if (length < *room)
		return old;
	*room = *room ? *room * 2 : 256;
	list = arena_alloc(arena, *room * size);
	if (length)
		memcpy(list, old, length * size);
	return list;
}

static void
add_token(struct scanner *scanner, enum token_kind kind, const char *start)
{
	struct tokens *tokens = scanner->tokens;

	tokens->list = grow(scanner->arena, tokens->list, tokens->length,
	    &scanner->token_room, sizeof(struct token));
	tokens->list[tokens->length++] = (struct token){
		.kind = kind,
		.offset = offset_of(scanner, start),
		.len = (size_t)(scanner->at - start),
		.doc = scanner->doc,
	};
	scanner->doc = NULL;
}

/* Refuse characters that can not be seen, in code and comments alike. */
static void
check_character(struct scanner *scanner, const char *p)
{
	size_t len;
	unsigned code = source_decode(p, &len);
	const char *name = symbol_invisible(code);

	if (name)
		report(scanner->result, scanner->source, offset_of(scanner, p),
		    "invisible character U+%04X (%s) outside a string", code,
		    name);
}

static void
add_comment(struct scanner *scanner, const char *start)
{
	struct tokens *tokens = scanner->tokens;
	size_t len = (size_t)(scanner->at - start), i;
	struct comment *comment;

	tokens->comments =
	    grow(scanner->arena, tokens->comments, tokens->comment_count,
	        &scanner->comment_room, sizeof(struct comment));
	tokens->comments[tokens->comment_count++] = (struct comment){
		.offset = offset_of(scanner, start),
		.len = len,
	};
	for (i = 0; i < len; i++)
		if ((unsigned char)start[i] >= 0xc0)
			check_character(scanner, start + i);
	if (len > 4 && memcmp(start, "/**", 3) == 0) {
		comment = arena_alloc(scanner->arena, sizeof(*comment));
		*comment = tokens->comments[tokens->comment_count - 1];
		scanner->doc = comment;
	}
}

static bool
scan_comment(struct scanner *scanner)
{
	const char *start = scanner->at, *end;

	if (start[0] != '/' || (start[1] != '/' && start[1] != '*'))
		return false;
	if (start[1] == '/') {
		scanner->at += strcspn(start, "\n");
	} else if ((end = strstr(start + 2, "*/"))) {
		scanner->at = end + 2;
	} else {
		report(scanner->result, scanner->source,
		    offset_of(scanner, start), "this comment is not closed");
		report_hint(scanner->result, "Close it with */.");
		scanner->at += strlen(start);
	}
	add_comment(scanner, start);
	return true;
}

static void
scan_word(struct scanner *scanner)
{
	const char *start = scanner->at;
	size_t len = 1;

	while (symbol_is_word(start[len]))
		len++;
	scanner->at += len;
	if (len > NAME_MAX_BYTES) {
		report(scanner->result, scanner->source,
		    offset_of(scanner, start),
		    "this name has %zu bytes, 63 are the most", len);
	}
	add_token(scanner, symbol_reserved(start, len), start);
}

/* A number as in JSON, or a duration: a number followed by a unit. */
static void
scan_number(struct scanner *scanner)
{
	const char *start = scanner->at;
	enum token_kind kind = T_NUMBER;

	if (start[0] == '0' && start[1] >= '0' && start[1] <= '9') {
		report(scanner->result, scanner->source,
		    offset_of(scanner, start),
		    "a number does not begin with a zero");
		while (scanner->at[0] == '0' && symbol_is_word(scanner->at[1]))
			scanner->at++;
	}
	scanner->at += symbol_number(scanner->at);
	while (symbol_is_word(*scanner->at) ||
	       (kind == T_DURATION && scanner->at[0] == '.' &&
	           symbol_number(scanner->at + 1) > 0)) {
		kind = T_DURATION;
		scanner->at++;
	}
	add_token(scanner, kind, start);
}

static bool
is_quotes(const char *p, char quote, size_t quotes)
{
	return quotes == 1 ? *p == quote
	                   : p[0] == quote && p[1] == quote && p[2] == quote;
}

static void
report_open_string(struct scanner *scanner, size_t offset, size_t quotes)
{
	report(scanner->result, scanner->source, offset,
	    "this string is not closed");
	report_hint(scanner->result,
	    quotes == 1
	        ? "Close it on its line, or use triple quotes to span lines."
	        : "Close it with the same three quotes.");
}

/* Give up the innermost ${…}. */
static void
leave_text(struct scanner *scanner)
{
	const struct open_text *text = &scanner->open[--scanner->depth];

	report_open_string(scanner, text->offset, text->quotes);
}

/* A string in simple quotes does not span lines, not even in its ${…}. */
static void
end_line(struct scanner *scanner)
{
	while (
	    scanner->depth > 0 && scanner->open[scanner->depth - 1].quotes == 1)
		leave_text(scanner);
	scanner->at++;
}

static void
enter_text(struct scanner *scanner, const struct open_text *text)
{
	if (scanner->depth == TEXT_DEPTH_MAX) {
		report(scanner->result, scanner->source, text->offset,
		    "strings are nested more than %d levels deep",
		    TEXT_DEPTH_MAX);
		scanner->at += strlen(scanner->at);
		return;
	}
	scanner->open[scanner->depth++] = *text;
}

/*
 * Go on with a string from `scanner->at`, up to its end or the next ${. `start`
 * is where the token began, and `first` says whether it began with the quotes.
 */
static void
scan_text(struct scanner *scanner, struct open_text text, const char *start,
    bool first)
{
	char quote = scanner->source->text[text.offset];
	const char *p = scanner->at;

	for (;; p++) {
		if (*p == '\0' || (*p == '\n' && text.quotes == 1)) {
			report_open_string(scanner, text.offset, text.quotes);
			break;
		}
		if (is_quotes(p, quote, text.quotes)) {
			p += text.quotes;
			break;
		}
		if (quote == '\'')
			continue;
		if (*p == '\\' && p[1] != '\0' && p[1] != '\n') {
			p++;
		} else if (p[0] == '$' && p[1] == '{') {
			scanner->at = p + 2;
			add_token(scanner, first ? T_TEXT_START : T_TEXT_MIDDLE,
			    start);
			text.braces = 0;
			enter_text(scanner, &text);
			return;
		}
	}
	scanner->at = p;
	add_token(scanner, first ? T_STRING : T_TEXT_END, start);
}

static void
scan_string(struct scanner *scanner)
{
	const char *start = scanner->at;
	struct open_text text = { .offset = offset_of(scanner, start) };

	text.quotes = is_quotes(start, *start, 3) ? 3 : 1;
	scanner->at += text.quotes;
	scan_text(scanner, text, start, true);
}

/* A brace within ${…}; true if it ends the ${…}. */
static bool
count_brace(struct scanner *scanner)
{
	struct open_text *text;

	if (scanner->depth == 0)
		return false;
	text = &scanner->open[scanner->depth - 1];
	if (*scanner->at == '{')
		text->braces++;
	else if (*scanner->at == '}' && text->braces-- == 0)
		return true;
	return false;
}

static void
report_character(struct scanner *scanner, const char *start, size_t len)
{
	size_t offset = offset_of(scanner, start);

	if ((unsigned char)*start < ' ') {
		report(scanner->result, scanner->source, offset,
		    "unexpected control character U+%04X", (unsigned)*start);
		return;
	}
	report(scanner->result, scanner->source, offset,
	    "unexpected character `%.*s`", (int)len, start);
	if (len == 3 && strncmp(start, "\xe2\x80", 2) == 0 &&
	    (unsigned char)start[2] >= 0x98 && (unsigned char)start[2] <= 0x9f)
		report_hint(scanner->result,
		    "Texts stand between straight quotes, as \"text\".");
	else if (len > 1)
		report_hint(scanner->result,
		    "Names consist of the letters a to z, digits and _.");
}

static void
scan_punctuation(struct scanner *scanner)
{
	const char *start = scanner->at;
	size_t len;
	enum token_kind kind = symbol_punctuation(start, &len);

	if (kind != T_END) {
		scanner->at += len;
		add_token(scanner, kind, start);
	} else if (symbol_invisible(source_decode(start, &len))) {
		scanner->at += len;
		check_character(scanner, start);
	} else {
		scanner->at += len;
		report_character(scanner, start, len);
	}
}

static void
scan_token(struct scanner *scanner)
{
	char c = *scanner->at;
	const char *start = scanner->at;

	if (symbol_is_word(c) && (c < '0' || c > '9'))
		scan_word(scanner);
	else if (c >= '0' && c <= '9')
		scan_number(scanner);
	else if (c == '"' || c == '\'')
		scan_string(scanner);
	else if (count_brace(scanner)) {
		scanner->at++;
		scan_text(
		    scanner, scanner->open[--scanner->depth], start, false);
	} else
		scan_punctuation(scanner);
}

struct tokens *
scan(struct arena *arena, const struct source *source,
    struct lang_result *result)
{
	struct scanner scanner = {
		.arena = arena,
		.source = source,
		.result = result,
		.tokens = arena_alloc(arena, sizeof(struct tokens)),
		.at = source->text,
	};

	for (;;) {
		scanner.at += strspn(scanner.at, " \t");
		if (*scanner.at == '\0')
			break;
		if (*scanner.at == '\n') {
			end_line(&scanner);
			continue;
		}
		if (!scan_comment(&scanner))
			scan_token(&scanner);
	}
	while (scanner.depth > 0)
		leave_text(&scanner);
	add_token(&scanner, T_END, scanner.at);
	return scanner.tokens;
}
