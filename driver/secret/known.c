#include "driver/secret/known.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "common/mem.h"
#include "driver/secret/redact.h"

enum {
	LINE_MIN = 8,          /* of a value with several lines */
	FILTER_BITS_EACH = 32, /* for each spelling, at least */
	FILTER_BITS_MIN = 8192,
	FILTER_SHIFT_MAX = 19, /* then 13 of 32 bits are left */
};

struct secret_value {
	TAILQ_ENTRY(secret_value) entry;
	char *text;
	size_t len;
	struct spelling *spellings;
	size_t spelling_count;
	size_t size; /* of all memory of the value */
	size_t holds;
};

TAILQ_HEAD(value_list, secret_value);

/* The oldest kept value comes first. */
static struct value_list held = TAILQ_HEAD_INITIALIZER(held),
                         kept = TAILQ_HEAD_INITIALIZER(kept);
static size_t kept_count, kept_size;

struct known known = {
	.backwards.order = SPELLING_BACKWARDS,
};

/* The filter --------------------------------------------------------------- */

/*
 * At nearly all places of a text no spelling begins.  The filter has a bit for
 * each hash of four bytes: it says at which places a look-up is needed.  So one
 * pass over a text is enough, at 3 ns a byte, whether one secret is known or a
 * thousand.  (The algorithm of Aho and Corasick does the same.  But it needs a
 * state for each byte of each spelling.  For a thousand secrets those are some
 * 280,000 states, of a kilobyte each if it is to be quick.  And it would have
 * to run once for each reading.)
 */
static struct {
	uint64_t *words;
	unsigned shift;  /* of a hash, to get a bit's number */
	size_t capacity; /* of spellings */
	size_t stale;    /* removed spellings whose bits are still set */
} filter;

static uint32_t
filter_hash(uint32_t four)
{
	return (four * 2654435761U) >> filter.shift;
}

uint32_t
known_four(const char *text)
{
	const unsigned char *bytes = (const unsigned char *)text;

	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
	       (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

bool
known_may_begin(uint32_t four)
{
	uint32_t bit = filter_hash(four);

	return (filter.words[bit / 64] >> bit % 64 & 1) != 0;
}

static void
filter_add(const struct spelling *spelling)
{
	char four[REDACT_MIN] = { 0 };
	uint32_t bit;
	size_t i;

	for (i = 0; i < sizeof(four); i++)
		four[i] = (char)spelling_at(spelling, i);
	bit = filter_hash(known_four(four));
	filter.words[bit / 64] |= (uint64_t)1 << bit % 64;
}

static void
filter_add_value(const struct secret_value *value)
{
	size_t i;

	for (i = 0; i < value->spelling_count; i++)
		filter_add(&value->spellings[i]);
}

static void
filter_add_all(const struct value_list *values)
{
	const struct secret_value *value;

	for (value = TAILQ_FIRST(values); value != NULL;
	     value = TAILQ_NEXT(value, entry))
		filter_add_value(value);
}

/* Build the filter anew, with room for twice as many spellings as there are. */
static void
filter_build(void)
{
	size_t bits = FILTER_BITS_MIN, wanted;

	wanted = known.forwards.count * 2 * FILTER_BITS_EACH;
	filter.shift = FILTER_SHIFT_MAX;
	while (bits < wanted) {
		bits *= 2;
		filter.shift--;
	}
	free(filter.words);
	filter.words = xcalloc(bits / 64, sizeof(filter.words[0]));
	filter.capacity = bits / FILTER_BITS_EACH;
	filter.stale = 0;
	filter_add_all(&held);
	filter_add_all(&kept);
}

/* Add a value that is held by now. */
static void
filter_take(const struct secret_value *value)
{
	if (known.forwards.count > filter.capacity)
		filter_build();
	else
		filter_add_value(value);
}

/* Values ------------------------------------------------------------------- */

/* The spellings that are exactly this text. */
static struct spelling_range
find_spellings(const char *text, size_t len)
{
	struct spelling_range range;
	size_t i;

	spelling_range_begin(&range, &known.forwards, (unsigned char)*text);
	for (i = 1; i < len; i++)
		if (!spelling_range_next(&range, (unsigned char)text[i]))
			break;
	return range;
}

/* Whether the text is already a spelling of that value. */
static bool
is_spelling_of(const struct secret_value *value, const char *text, size_t len)
{
	struct spelling_range range = find_spellings(text, len);

	for (; spelling_range_has_whole(&range); range.first++)
		if ((*range.first)->of == value)
			return true;
	return false;
}

static struct secret_value *
find_value(const char *text, size_t len)
{
	struct spelling_range range = find_spellings(text, len);

	for (; spelling_range_has_whole(&range); range.first++)
		if (*range.first == (*range.first)->of->spellings)
			return (*range.first)->of;
	return NULL;
}

static void
add_spelling(struct secret_value *value, struct spelling spelling)
{
	struct spelling *place = &value->spellings[value->spelling_count++];

	*place = spelling;
	place->of = value;
	spelling_set_add(&known.forwards, place);
	spelling_set_add(&known.backwards, place);
}

/* The length of the next line; `*with_end` counts the end of the line, too. */
static size_t
line_length(const char *text, size_t left, size_t *with_end)
{
	const char *end = memchr(text, '\n', left);
	size_t len = end != NULL ? (size_t)(end - text) : left;

	*with_end = end != NULL ? len + 1 : len;
	return len > 0 && text[len - 1] == '\r' ? len - 1 : len;
}

static void
add_lines(struct secret_value *value)
{
	size_t i, len, with_end;

	for (i = 0; i < value->len; i += with_end) {
		len = line_length(value->text + i, value->len - i, &with_end);
		if (len >= LINE_MIN &&
		    !is_spelling_of(value, value->text + i, len))
			add_spelling(
			    value, spelling_plain(value->text + i, len));
	}
}

#define DIGITS_62 \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/*
 * Add all spellings of a value, with memory for the most there can be.  The
 * plain one comes first.
 */
static void
add_spellings(struct secret_value *value, size_t lines)
{
	static const char *const digits[] = { DIGITS_62 "+/", DIGITS_62 "-_" };
	size_t i, before, max = 1 + 2 * 3 + lines;

	value->spellings = xcalloc(max, sizeof(value->spellings[0]));
	value->size =
	    sizeof(*value) + value->len + 1 +
	    max * (sizeof(value->spellings[0]) + 4 * sizeof(value->spellings));
	add_spelling(value, spelling_plain(value->text, value->len));
	for (i = 0; i < sizeof(digits) / sizeof(*digits); i++)
		for (before = 0; before < 3; before++)
			add_spelling(value, spelling_base64(value->text,
			                        value->len, digits[i], before));
	add_lines(value);
}

static struct secret_value *
value_new(const char *text, size_t len)
{
	struct secret_value *value = xcalloc(1, sizeof(*value));
	size_t i, lines = 1;

	value->text = xstrndup(text, len);
	value->len = len;
	for (i = 0; i < len; i++)
		lines += text[i] == '\n';
	add_spellings(value, lines);
	return value;
}

static void
value_free(struct secret_value *value)
{
	size_t i;

	for (i = 0; i < value->spelling_count; i++) {
		spelling_set_remove(&known.forwards, &value->spellings[i]);
		spelling_set_remove(&known.backwards, &value->spellings[i]);
	}
	filter.stale += value->spelling_count;
	free(value->spellings);
	explicit_bzero(value->text, value->len);
	free(value->text);
	free(value);
}

static void
keep(struct secret_value *value)
{
	TAILQ_INSERT_TAIL(&kept, value, entry);
	kept_count++;
	kept_size += value->size;
}

static void
keep_no_more(struct secret_value *value)
{
	TAILQ_REMOVE(&kept, value, entry);
	kept_count--;
	kept_size -= value->size;
}

static void
forget_oldest(void)
{
	struct secret_value *oldest = TAILQ_FIRST(&kept);

	/* NOLINTBEGIN(clang-analyzer-unix.Malloc): the analyzer takes a value
	 * that was removed and freed for the first one that is left */
	keep_no_more(oldest);
	value_free(oldest);
	/* NOLINTEND(clang-analyzer-unix.Malloc) */
	if (filter.stale > known.forwards.count)
		filter_build();
}

struct secret_value *
known_hold(const char *text, size_t len)
{
	struct secret_value *known_value = find_value(text, len), *value;

	value = known_value != NULL ? known_value : value_new(text, len);
	if (known_value != NULL && value->holds == 0)
		keep_no_more(value);
	if (value->holds++ == 0)
		TAILQ_INSERT_TAIL(&held, value, entry);
	if (known_value == NULL)
		filter_take(value);
	return value;
}

void
known_let_go(struct secret_value *value)
{
	if (--value->holds > 0)
		return;
	TAILQ_REMOVE(&held, value, entry);
	keep(value);
	while (kept_count > KNOWN_KEPT_VALUES || kept_size > KNOWN_KEPT_BYTES)
		forget_oldest();
}

void
known_clear(void)
{
	struct secret_value *value;

	while ((value = TAILQ_FIRST(&held)) != NULL) {
		TAILQ_REMOVE(&held, value, entry);
		value_free(value);
	}
	while (!TAILQ_EMPTY(&kept))
		forget_oldest();
	free(filter.words);
	memset(&filter, 0, sizeof(filter));
}

static size_t
longest_of(const struct value_list *values)
{
	const struct secret_value *value;
	size_t longest = 0;

	for (value = TAILQ_FIRST(values); value != NULL;
	     value = TAILQ_NEXT(value, entry))
		if (value->len > longest)
			longest = value->len;
	return longest;
}

size_t
known_longest(void)
{
	size_t of_held = longest_of(&held), of_kept = longest_of(&kept);

	/* in base 64 there are four bytes for three */
	return (of_held > of_kept ? of_held : of_kept) * 4 / 3 + 1;
}
