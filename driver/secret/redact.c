#include "driver/secret/redact.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "driver/secret/known.h"
#include "driver/secret/reading.h"
#include "driver/secret/spelling.h"

enum {
	HEAD_MIN = REDACT_MIN,
	CUT_ESCAPE_MAX = 20, /* \\\\uXXXX\\\\uXXXX, without its first byte */
};

static const char stars[] = "***";
static uint64_t hidden; /* how many secrets were replaced */

/* Finding ------------------------------------------------------------------ */

/* The spellings at a place of a text. */
struct found {
	size_t len; /* of the longest spelling; 0: there is none */
	bool open;  /* the text ends within one */
};

/*
 * Whether a spelling may begin with the first four bytes, or with fewer if the
 * text ends there.
 */
static bool
may_begin(struct reader *reader)
{
	char four[REDACT_MIN];
	size_t i;
	int byte;

	for (i = 0; i < sizeof(four); i++) {
		byte = reader_next(reader);
		if (byte < 0)
			return true;
		if (i == 0 && known.forwards.rows[byte].count == 0)
			return false;
		four[i] = (char)byte;
	}
	return known_may_begin(known_four(four));
}

static void
look_up(struct reader *reader, struct found *found)
{
	const char *text = reader->at;
	struct spelling_range range;
	int byte = reader_next(reader);
	bool goes_on = true;

	if (byte >= 0)
		goes_on = spelling_range_begin(
		    &range, &known.forwards, (unsigned char)byte);
	while (byte >= 0 && goes_on) {
		if (spelling_range_has_whole(&range) &&
		    reader_is_between(reader) &&
		    (size_t)(reader->at - text) > found->len)
			found->len = (size_t)(reader->at - text);
		goes_on = spelling_range_has_more(&range);
		if (!goes_on)
			break;
		byte = reader_next(reader);
		if (byte >= 0)
			goes_on =
			    spelling_range_next(&range, (unsigned char)byte);
	}
	found->open |= goes_on;
}

/* Match in one reading.  Returns which SEEN_... it met. */
static unsigned
match_in(const struct reading *how, const char *text, size_t len,
    struct found *found)
{
	char four[REDACT_MIN];
	struct reader reader;
	unsigned seen = 0;

	if (reading_first_four(text, len, how, four, &seen)) {
		if (!known_may_begin(known_four(four)))
			return seen;
	} else {
		reader_init(&reader, text, len, *how);
		if (!may_begin(&reader))
			return reader.seen;
		seen = reader.seen;
	}
	reader_init(&reader, text, len, *how);
	look_up(&reader, found);
	return seen | reader.seen;
}

/* With `json`, the text is never read as if it stood outside of a string. */
static struct found
match_at(const char *text, size_t len, bool json)
{
	struct found found = { 0 };
	struct reading how = { .json = json ? 1 : 0 };
	unsigned seen = match_in(&how, text, len, &found), all = seen;

	while ((seen & SEEN_BACKSLASH) != 0 && how.json < READING_JSON_MAX) {
		how.json++;
		seen = match_in(&how, text, len, &found);
		all |= seen;
	}
	/* a URL needs no escapes in JSON, but its / may have one */
	how = (struct reading){ .json = 1, .percent = true };
	if ((all & SEEN_PERCENT) != 0)
		all |= match_in(&how, text, len, &found);
	how.plus = true;
	if ((all & SEEN_PLUS) != 0)
		match_in(&how, text, len, &found);
	return found;
}

/*
 * A walk through a text, or through a string of JSON without its quotes.  It
 * cuts no escape in two.  A window of four characters moves along with it.  A
 * close look is needed only where the filter knows the window, or where an
 * escape is in it.
 */
struct scan {
	const char *text;
	size_t len;
	bool json;
	bool to_end; /* the last characters may begin a secret, too */
	size_t next; /* character to take into the window */
	size_t taken;
	uint32_t window;
	size_t starts[REDACT_MIN]; /* places of the characters, in turn */
	size_t escaped; /* the window has an escape until so many are taken */
};

/* Go on at `at`. */
static void
scan_move(struct scan *scan, size_t at)
{
	scan->next = at;
	scan->taken = 0;
	scan->escaped = 0;
}

static struct scan
scan_begin(const char *text, size_t len)
{
	return (struct scan){ .text = text, .len = len };
}

/* Take the next character.  Behind the end there may be any character. */
static void
scan_take(struct scan *scan)
{
	unsigned char byte = 0;
	bool escape = true;
	size_t step = 0;

	if (scan->next < scan->len)
		step = reading_step(scan->text + scan->next,
		    scan->len - scan->next, scan->json, &byte, &escape);
	scan->starts[scan->taken % REDACT_MIN] = scan->next;
	scan->window = scan->window >> 8 | (uint32_t)byte << 24;
	scan->next += step;
	scan->taken++;
	if (escape)
		scan->escaped = scan->taken + REDACT_MIN - 1;
}

/* Go on to the next place where a secret stands; false: there is none. */
static bool
scan_next(struct scan *scan, size_t *at, struct found *found)
{
	if (known.forwards.count == 0)
		return false;
	while (scan->next < scan->len || scan->to_end) {
		scan_take(scan);
		if (scan->taken < REDACT_MIN)
			continue;
		*at = scan->starts[scan->taken % REDACT_MIN];
		if (*at == scan->len)
			return false;
		if (scan->taken > scan->escaped &&
		    !known_may_begin(scan->window))
			continue;
		*found =
		    match_at(scan->text + *at, scan->len - *at, scan->json);
		if (found->len > 0 || (scan->to_end && found->open))
			return true;
	}
	return false;
}

/* Replacing ---------------------------------------------------------------- */

/* A text that is copied from its first change on; most have no change. */
struct redaction {
	struct buf *text;
	struct buf out;
	size_t done; /* of the text */
};

static struct redaction
redaction_begin(struct buf *text)
{
	struct redaction redaction = { .text = text };

	buf_init(&redaction.out, text->limit);
	return redaction;
}

static void
redaction_hide(
    struct redaction *redaction, size_t at, size_t len, const char *with)
{
	hidden += len > 0;
	buf_add(&redaction->out, redaction->text->data + redaction->done,
	    at - redaction->done);
	buf_adds(&redaction->out, with);
	redaction->done = at + len;
}

/* Hide all secrets in a part of the text. */
static void
redaction_scan(struct redaction *redaction, size_t from, size_t len, bool json)
{
	struct scan scan = scan_begin(redaction->text->data + from, len);
	struct found found;
	size_t at;

	scan.json = json;
	while (scan_next(&scan, &at, &found)) {
		redaction_hide(redaction, from + at, found.len, stars);
		scan_move(&scan, at + found.len);
	}
}

static void
redaction_end(struct redaction *redaction)
{
	struct buf *text = redaction->text;

	if (redaction->done == 0) {
		buf_release(&redaction->out);
		return;
	}
	redaction_hide(redaction, text->len, 0, "");
	explicit_bzero(text->data, text->len);
	buf_release(text);
	*text = redaction->out;
}

void
redact_text(struct buf *text)
{
	struct redaction redaction = redaction_begin(text);

	redaction_scan(&redaction, 0, text->len, false);
	redaction_end(&redaction);
}

/* The length of the string that begins here, without its quotes. */
static size_t
string_length(const char *text, size_t left)
{
	size_t len = 1;

	while (len < left && text[len] != '"')
		len += text[len] == '\\' && len + 1 < left ? 2 : 1;
	return len - 1;
}

/* A number that holds a value becomes a string. */
static void
redact_number(struct redaction *redaction, size_t at, size_t len)
{
	const char *text = redaction->text->data + at;
	size_t i;

	for (i = 0; i < len && match_at(text + i, len - i, true).len == 0; i++)
		;
	if (i < len)
		redaction_hide(redaction, at, len, "\"***\"");
}

void
redact_json(struct buf *json)
{
	struct redaction redaction = redaction_begin(json);
	const char *text = json->data;
	size_t at, len;

	for (at = 0; known.forwards.count > 0 && at < json->len; at += len)
		if (text[at] == '"') {
			len = string_length(text + at, json->len - at);
			redaction_scan(&redaction, at + 1, len, true);
			len += 2;
		} else if (text[at] == '-' ||
		           (text[at] >= '0' && text[at] <= '9')) {
			len = strspn(text + at, "+-.0123456789eE");
			redact_number(&redaction, at, len);
		} else {
			len = 1;
		}
	redaction_end(&redaction);
}

char *
redact_line(char *line)
{
	struct buf text;

	if (known.forwards.count == 0)
		return line;
	buf_init(&text, 0);
	buf_adds(&text, line);
	redact_text(&text);
	free(line);
	return buf_take(&text);
}

uint64_t
redact_count(void)
{
	return hidden;
}

/* Edges -------------------------------------------------------------------- */

/* Whether a spelling ends with these bytes. */
static bool
is_an_end(const char *bytes, size_t len)
{
	struct spelling_range range;
	size_t i = len - 1;
	bool goes_on = spelling_range_begin(
	    &range, &known.backwards, (unsigned char)bytes[i]);

	while (goes_on && i-- > 0)
		goes_on = spelling_range_next(&range, (unsigned char)bytes[i]);
	return goes_on;
}

/* The beginning of a text in one reading, and where each of its bytes ends. */
struct beginning {
	struct buf bytes;
	size_t *ends;
};

/* How much of the beginning of `text` is the end of a spelling. */
static size_t
head_in(struct reader *reader, struct beginning *begin, size_t max)
{
	const char *text = reader->at;
	size_t i, len = 0;
	int byte;

	buf_truncate(&begin->bytes, 0);
	while (begin->bytes.len < max && (byte = reader_next(reader)) >= 0) {
		begin->ends[begin->bytes.len] = (size_t)(reader->at - text);
		buf_addc(&begin->bytes, (char)byte);
	}
	for (i = begin->bytes.len; i >= HEAD_MIN && len == 0; i--)
		if (is_an_end(begin->bytes.data, i))
			len = begin->ends[i - 1];
	return len;
}

/* The longest such end in any reading. */
static size_t
head_at(const char *text, size_t len, struct beginning *begin, size_t max)
{
	static const struct reading readings[] = {
		{ .json = 0 },
		{ .json = 1 },
		{ .json = 2 },
		{ .json = READING_JSON_MAX },
		{ .json = 1, .percent = true },
		{ .json = 1, .percent = true, .plus = true },
	};
	struct reader reader = { 0 };
	size_t i, found, longest = 0;

	for (i = 0; i < sizeof(readings) / sizeof(*readings) &&
	            (i == 0 || reader.seen != 0);
	     i++) {
		reader_init(&reader, text, len, readings[i]);
		found = head_in(&reader, begin, max);
		if (found > longest)
			longest = found;
	}
	return longest;
}

/* The text may have lost the beginning of an escape, too. */
static size_t
head_length(const char *text, size_t len)
{
	size_t max = known_longest(), skip, found, longest = 0;
	struct beginning begin = {
		.ends = xcalloc(max, sizeof(begin.ends[0])),
	};

	buf_init(&begin.bytes, 0);
	for (skip = 0; skip < len && skip < CUT_ESCAPE_MAX; skip++) {
		if (skip > 0 &&
		    !reading_is_of_escape((unsigned char)text[skip - 1]))
			break;
		found = head_at(text + skip, len - skip, &begin, max);
		if (found > 0 && skip + found > longest)
			longest = skip + found;
	}
	explicit_bzero(begin.bytes.data, begin.bytes.len);
	buf_release(&begin.bytes);
	free(begin.ends);
	return longest;
}

void
redact_head(struct buf *text)
{
	struct redaction redaction = redaction_begin(text);
	size_t len =
	    known.forwards.count > 0 ? head_length(text->data, text->len) : 0;

	if (len > 0)
		redaction_hide(&redaction, 0, len, stars);
	redaction_end(&redaction);
}

/* A value that redact_text() finds whole does not count as a beginning. */
size_t
redact_waiting(const char *text, size_t len)
{
	struct scan scan = scan_begin(text, len);
	struct found found;
	size_t at;

	scan.to_end = true;
	while (scan_next(&scan, &at, &found)) {
		if (found.open)
			return len - at;
		scan_move(&scan, at + found.len);
	}
	return 0;
}
