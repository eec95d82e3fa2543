/*
 * symbol.h - the meaning of characters and words.
 */
#ifndef LANG_SYMBOL_H
#define LANG_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>

#include "console/lang/token.h"

/* A letter, a digit, or _. */
bool symbol_is_word(char c);

/* The reserved word of `len` bytes at `word`, or T_NAME. */
enum token_kind symbol_reserved(const char *word, size_t len);

/* The punctuation that begins at `text` and its length, or T_END. */
enum token_kind symbol_punctuation(const char *text, size_t *len);

/* How many bytes at `text` make up a JSON number (without a sign). */
size_t symbol_number(const char *text);

/* The Unicode name of the invisible character `code`; NULL if it is visible. */
const char *symbol_invisible(unsigned code);

/* A token as messages name it: "`;`", "a name", "the end of the file". */
const char *symbol_name(enum token_kind kind);

/* A word of a name: only letters, digits and _, and no digit first. */
bool symbol_is_name(const char *text);

#endif
