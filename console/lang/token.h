/*
 * token.h - the words of the language.
 */
#ifndef LANG_TOKEN_H
#define LANG_TOKEN_H

#include <stddef.h>

/* clang-format off */
/* Reserved words.  Keep sorted: scan.c finds them by binary search. */
#define RESERVED_WORDS(X) \
	X(AFTER, "after") X(AS, "as") X(ATOMIC, "atomic") X(CASE, "case") \
	X(CATCH, "catch") X(CHECKPOINT, "checkpoint") X(COLLECT, "collect") \
	X(DAG, "dag") X(DEFAULT, "default") X(ELSE, "else") \
	X(FALSE, "false") X(FINALLY, "finally") X(FOLD, "fold") \
	X(FORALL, "forall") X(IF, "if") X(IMPORT, "import") X(IN, "in") \
	X(LET, "let") X(NULL, "null") X(RACE, "race") X(REPEAT, "repeat") \
	X(RETURN, "return") X(SECRET, "secret") X(SWITCH, "switch") \
	X(TASK, "task") X(TRUE, "true") X(TRY, "try") X(UNDO, "undo") \
	X(UNTIL, "until") X(WHEN, "when") X(WHILE, "while") X(WITH, "with") \
	X(WORKFLOW, "workflow") X(YIELD, "yield")

/* The longest come first: the scanner takes the first that fits. */
#define PUNCTUATION(X) \
	X(ARROW, "->") X(LE, "<=") X(GE, ">=") X(EQ, "==") X(NE, "!=") \
	X(OR, "||") X(AND, "&&") X(COALESCE, "??") X(RANGE, "..") \
	X(LPAREN, "(") X(RPAREN, ")") X(LBRACE, "{") X(RBRACE, "}") \
	X(LBRACKET, "[") X(RBRACKET, "]") X(LT, "<") X(GT, ">") \
	X(ASSIGN, "=") X(COMMA, ",") X(SEMICOLON, ";") X(COLON, ":") \
	X(QUESTION, "?") X(DOT, ".") X(NOT, "!") X(MINUS, "-") \
	X(PLUS, "+") X(STAR, "*") X(SLASH, "/") X(PERCENT, "%")
/* clang-format on */

enum token_kind {
	T_END, /* of the file */
	T_NAME,
	T_NUMBER,
	T_DURATION,
	T_STRING,      /* without ${…} */
	T_TEXT_START,  /* "…${ */
	T_TEXT_MIDDLE, /* }…${ */
	T_TEXT_END,    /* }…" */
#define X(name, text) T_##name,
	RESERVED_WORDS(X) PUNCTUATION(X)
#undef X
};

#define TOKEN_IS_WORD(kind) \
	((kind) == T_NAME || ((kind) >= T_AFTER && (kind) <= T_YIELD))

struct token {
	enum token_kind kind;
	size_t offset, len;
	const struct comment *doc; /* the doc comment right before, or NULL */
};

struct comment {
	size_t offset, len;
};

/* All tokens of a file.  The last one is T_END. */
struct tokens {
	struct token *list;
	size_t length;
	struct comment *comments;
	size_t comment_count;
};

#endif
