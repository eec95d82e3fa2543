#include "driver/redact.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/json.h"
#include "common/mem.h"

enum {
	VALUES_MAX =
	    256,      /* remembered; then the one not used for longest goes */
	LINE_MIN = 8, /* of a value with several lines */
	HEAD_MIN = REDACT_MIN,
};

static const char stars[] = "***";

/* One way in which a value may be written. */
struct form {
	char *text;
	size_t len;
	bool in_json; /* may stand in a JSON string just so */
};

struct value {
	char *text;
	size_t len;
	struct form *forms;
	size_t form_count;
};

/* The last used one at the end. */
static struct value values[VALUES_MAX];
static size_t value_count;
static bool begins[256]; /* bytes with which some form may begin */

/* Remembering -------------------------------------------------------------- */

static void
wipe(char *text, size_t len)
{
	if (text != NULL)
		explicit_bzero(text, len);
	free(text);
}

static void
value_release(struct value *value)
{
	while (value->form_count > 0) {
		struct form *form = &value->forms[--value->form_count];

		wipe(form->text, form->len);
	}
	free(value->forms);
	wipe(value->text, value->len);
}

/* Takes what `text` holds; what is short or known already is left out. */
static void
add_form(struct value *value, struct buf *text, bool in_json)
{
	struct form *form;
	size_t i;

	for (i = 0; i < value->form_count; i++)
		if (value->forms[i].len == text->len &&
		    memcmp(value->forms[i].text, text->data, text->len) == 0)
			break;
	if (i < value->form_count || text->len < REDACT_MIN) {
		explicit_bzero(text->data, text->len);
		buf_release(text);
		return;
	}
	value->forms = xreallocarray(
	    value->forms, value->form_count + 1, sizeof(value->forms[0]));
	begins[(unsigned char)text->data[0]] = true;
	form = &value->forms[value->form_count++];
	form->len = text->len;
	form->text = buf_take(text);
	form->in_json = in_json;
}

/* What stands between the quotes of a JSON string. */
static void
json_escape(struct buf *out, const char *text, size_t len)
{
	struct buf quoted;

	buf_init(&quoted, 0);
	json_add_string(&quoted, text, len);
	buf_add(out, quoted.data + 1, quoted.len - 2);
	explicit_bzero(quoted.data, quoted.len);
	buf_release(&quoted);
}

/* As it is, in JSON, in JSON in JSON. */
static void
add_plain(struct value *value, const char *text, size_t len)
{
	struct buf plain, once, twice;

	buf_init(&plain, 0);
	buf_init(&once, 0);
	buf_init(&twice, 0);
	buf_add(&plain, text, len);
	json_escape(&once, text, len);
	json_escape(&twice, once.data, once.len);
	add_form(value, &once, true);
	add_form(value, &twice, true);
	add_form(value, &plain, false);
}

static bool
is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c != '\0' && strchr("-._~", c));
}

static void
add_percent(struct value *value, const char *digits, const char *space)
{
	struct buf out;
	size_t i;

	buf_init(&out, 0);
	for (i = 0; i < value->len; i++) {
		unsigned char c = (unsigned char)value->text[i];

		if (is_unreserved((char)c)) {
			buf_addc(&out, (char)c);
		} else if (c == ' ' && space != NULL) {
			buf_adds(&out, space);
		} else {
			buf_addc(&out, '%');
			buf_addc(&out, digits[c / 16]);
			buf_addc(&out, digits[c % 16]);
		}
	}
	add_form(value, &out, true);
}

/*
 * The digits that depend on the value alone when `before` bytes of something
 * else stand in front of it in its first group of three.
 */
static void
add_base64(struct value *value, const char *digits, size_t before)
{
	size_t bits = 8 * (before + value->len), bit;
	struct buf out;

	buf_init(&out, 0);
	for (bit = before == 0 ? 0 : 6 * before + 6; bit + 6 <= bits;
	     bit += 6) {
		size_t at = bit / 8 - before;
		unsigned pair = (unsigned char)value->text[at] * 256U;

		if (at + 1 < value->len)
			pair += (unsigned char)value->text[at + 1];
		buf_addc(&out, digits[pair >> (10 - bit % 8) & 63]);
	}
	add_form(value, &out, true);
}

#define DIGITS_62 \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

static void
add_forms(struct value *value)
{
	const char *line = value->text, *end;
	size_t before;

	add_plain(value, value->text, value->len);
	add_percent(value, "0123456789ABCDEF", NULL);
	add_percent(value, "0123456789abcdef", NULL);
	add_percent(value, "0123456789ABCDEF", "+");
	for (before = 0; before < 3; before++) {
		add_base64(value, DIGITS_62 "+/", before);
		add_base64(value, DIGITS_62 "-_", before);
	}
	for (; (end = strchr(line, '\n')) != NULL; line = end + 1)
		if (end - line >= LINE_MIN)
			add_plain(value, line, (size_t)(end - line));
	if (line != value->text && strlen(line) >= LINE_MIN)
		add_plain(value, line, strlen(line));
}

static void
value_drop(size_t i)
{
	memmove(&values[i], &values[i + 1],
	    (--value_count - i) * sizeof(values[0]));
}

void
redact_add(const char *text, size_t len)
{
	struct value value = { 0 };
	size_t i;

	for (i = 0; i < value_count; i++)
		if (values[i].len == len &&
		    memcmp(values[i].text, text, len) == 0)
			break;
	if (i < value_count) {
		value = values[i];
		value_drop(i);
	} else {
		value.text = xstrndup(text, len);
		value.len = len;
		add_forms(&value);
	}
	if (value_count == VALUES_MAX) {
		value_release(&values[0]);
		value_drop(0);
	}
	values[value_count++] = value;
}

void
redact_clear(void)
{
	while (value_count > 0)
		value_release(&values[--value_count]);
}

/* Finding ------------------------------------------------------------------ */

/* Call `fn` for each form until it says so; whether it did. */
static bool
any_form(bool (*fn)(const struct form *form, void *arg), void *arg)
{
	size_t i, k;

	for (i = 0; i < value_count; i++)
		for (k = 0; k < values[i].form_count; k++)
			if (fn(&values[i].forms[k], arg))
				return true;
	return false;
}

/* A piece of text, and what was found in it. */
struct search {
	const char *text;
	size_t len;
	bool json;
	size_t found; /* the longest */
};

static bool
is_inside(const struct form *form, void *arg)
{
	const struct search *search = arg;

	return memmem(search->text, search->len, form->text, form->len) != NULL;
}

static bool
match(const struct form *form, void *arg)
{
	struct search *search = arg;

	if (form->len <= search->len && form->len > search->found &&
	    (form->in_json || !search->json) &&
	    memcmp(search->text, form->text, form->len) == 0)
		search->found = form->len;
	return false;
}

/* How long what stands at the beginning of `text` is; 0: nothing. */
static size_t
match_at(const char *text, size_t len, bool json)
{
	struct search search = { .text = text, .len = len, .json = json };

	if (begins[(unsigned char)*text])
		any_form(match, &search);
	return search.found;
}

/* Replacing ---------------------------------------------------------------- */

/* Whether there is anything to do: mostly there is not. */
static bool
is_clean(const struct buf *text)
{
	struct search search = { .text = text->data, .len = text->len };

	return !any_form(is_inside, &search);
}

static void
replace(struct buf *text, struct buf *with)
{
	explicit_bzero(text->data, text->len);
	buf_release(text);
	*text = *with;
}

void
redact_text(struct buf *text)
{
	struct buf out;
	size_t i, found;

	if (is_clean(text))
		return;
	buf_init(&out, text->limit);
	for (i = 0; i<text->len; i += found> 0 ? found : 1) {
		found = match_at(text->data + i, text->len - i, false);
		if (found > 0)
			buf_adds(&out, stars);
		else
			buf_addc(&out, text->data[i]);
	}
	replace(text, &out);
}

/* The length of a character of a JSON string, escaped or not. */
static size_t
json_unit(const char *text, const char *end)
{
	if (*text != '\\' || end - text < 2)
		return 1;
	return text[1] == 'u' && end - text >= 6 ? 6 : 2;
}

/* From behind a quote to the one that ends it; where that is. */
static const char *
redact_string(struct buf *out, const char *text, const char *end)
{
	size_t found;

	while (text < end && *text != '"') {
		found = match_at(text, (size_t)(end - text), true);
		if (found > 0) {
			buf_adds(out, stars);
		} else {
			found = json_unit(text, end);
			buf_add(out, text, found);
		}
		text += found;
	}
	return text;
}

/* A number that holds a value becomes a string. */
static const char *
redact_number(struct buf *out, const char *text)
{
	size_t i, len = strspn(text, "+-.0123456789eE");

	for (i = 0; i < len && match_at(text + i, len - i, true) == 0; i++)
		;
	if (i < len)
		buf_addf(out, "\"%s\"", stars);
	else
		buf_add(out, text, len);
	return text + len;
}

void
redact_json(struct buf *json)
{
	const char *text = json->data, *end = json->data + json->len;
	struct buf out;

	if (is_clean(json))
		return;
	buf_init(&out, json->limit);
	while (text < end) {
		if (*text == '"') {
			buf_addc(&out, '"');
			text = redact_string(&out, text + 1, end);
		} else if (*text == '-' || (*text >= '0' && *text <= '9')) {
			text = redact_number(&out, text);
			continue;
		}
		if (text < end)
			buf_addc(&out, *text++);
	}
	replace(json, &out);
}

/* Edges -------------------------------------------------------------------- */

static bool
ends_at_head(const struct form *form, void *arg)
{
	struct search *search = arg;
	size_t len = form->len - 1;

	for (len = len < search->len ? len : search->len; len >= HEAD_MIN;
	     len--)
		if (len > search->found &&
		    memcmp(search->text, form->text + form->len - len, len) ==
		        0)
			search->found = len;
	return false;
}

void
redact_head(struct buf *text)
{
	struct search search = { .text = text->data, .len = text->len };
	struct buf out;

	any_form(ends_at_head, &search);
	if (search.found == 0)
		return;
	buf_init(&out, text->limit);
	buf_adds(&out, stars);
	buf_add(&out, text->data + search.found, text->len - search.found);
	replace(text, &out);
}

/* As match(); true if the form goes on where the text ends. */
static bool
match_or_goes_on(const struct form *form, void *arg)
{
	const struct search *search = arg;

	if (form->len <= search->len)
		return match(form, arg);
	return memcmp(search->text, form->text, search->len) == 0;
}

/* As redact_text() goes through it: what was found there does not begin it. */
size_t
redact_waiting(const char *text, size_t len)
{
	struct search at;
	size_t i;

	for (i = 0; i<len; i += at.found> 0 ? at.found : 1) {
		at = (struct search){ .text = text + i, .len = len - i };
		if (begins[(unsigned char)text[i]] &&
		    any_form(match_or_goes_on, &at))
			return len - i;
	}
	return 0;
}

char *
redact_line(char *line)
{
	struct buf text;

	if (value_count == 0)
		return line;
	buf_init(&text, 0);
	buf_adds(&text, line);
	redact_text(&text);
	free(line);
	return buf_take(&text);
}
