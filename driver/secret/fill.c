/*
 * fill.c - arguments with secrets in them.
 *
 * The task names the places apart from the arguments.  So the contents of the
 * arguments never decide where a secret goes.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/json.h"
#include "common/mem.h"
#include "driver/secret/known.h"
#include "driver/secret/secret.h"
#include "driver/transport/transport.h"

/* The way to a value: keys and indexes, outermost first. */
struct step {
	const struct step *outer;
	size_t depth;
	const char *key; /* NULL: index */
	size_t index;
};

struct fill {
	const struct secrets *secrets;
	const struct task *task;
	const struct json *places;
	struct filled *filled;
	struct buf *out; /* the filled arguments */
	struct error *err;
	size_t places_filled;
};

void
filled_init(struct filled *filled)
{
	*filled = (struct filled){ 0 };
	buf_init_secret(&filled->args, 0);
}

void
filled_release(struct filled *filled)
{
	while (filled->count > 0) {
		known_let_go(filled->values[--filled->count]);
		free(filled->names[filled->count]);
	}
	free(filled->values);
	free(filled->names);
	filled->values = NULL;
	filled->names = NULL;
	buf_release(&filled->args);
}

static void
hold(struct filled *filled, const char *name, const struct buf *value)
{
	filled->names = xreallocarray(
	    filled->names, filled->count + 1, sizeof(filled->names[0]));
	filled->names[filled->count] = xstrdup(name);
	filled->values = xreallocarray(
	    filled->values, filled->count + 1, sizeof(filled->values[0]));
	filled->values[filled->count++] = known_hold(value->data, value->len);
}

/* Whether `at` begins with the steps up to `step`. */
static bool
leads_along(const struct json *at, const struct step *step)
{
	const struct json *here;

	for (; step != NULL; step = step->outer) {
		here = json_at(at, step->depth);
		if (step->key != NULL
		        ? json_type(here) != JSON_STRING ||
		              strcmp(json_string(here), step->key) != 0
		        : json_type(here) != JSON_INT ||
		              json_int(here) != (int64_t)step->index)
			return false;
	}
	return true;
}

/*
 * The place that is exactly here; NULL if there is none.  `*beyond`: a place is
 * further inside.
 */
static const struct json *
find_place(const struct fill *fill, const struct step *step, bool *beyond)
{
	size_t i, depth = step != NULL ? step->depth + 1 : 0;

	*beyond = false;
	for (i = 0; i < json_length(fill->places); i++) {
		const struct json *place = json_at(fill->places, i);
		const struct json *at = json_get(place, "at");

		if (json_length(at) < depth || !leads_along(at, step))
			continue;
		if (json_length(at) == depth)
			return place;
		*beyond = true;
	}
	return NULL;
}

static bool
misplaced(struct fill *fill)
{
	error_set(fill->err, "the arguments have no place for a secret");
	return false;
}

static bool
add_secret(struct fill *fill, const struct json *name, struct buf *text)
{
	struct buf value;
	bool ok = json_type(name) == JSON_STRING;

	if (!ok)
		return misplaced(fill);
	if (!secret_is_granted(
	        fill->secrets, json_string(name), fill->task, NULL, fill->err))
		return false;
	ok = secret_read(fill->secrets, json_string(name), &value, fill->err);
	if (ok) {
		hold(fill->filled, json_string(name), &value);
		buf_add(text, value.data, value.len);
	}
	buf_release(&value);
	return ok;
}

/* Add the texts in `gaps`, with the secrets in `names` between them. */
static bool
add_text(struct fill *fill, const struct json *names, const struct json *gaps,
    struct buf *text)
{
	const struct json *gap;
	size_t i;

	if (json_length(gaps) != json_length(names) + 1)
		return misplaced(fill);
	for (i = 0; i < json_length(gaps); i++) {
		gap = json_at(gaps, i);
		if (json_type(gap) != JSON_STRING)
			return misplaced(fill);
		buf_add(text, json_string(gap), json_string_length(gap));
		if (i < json_length(names) &&
		    !add_secret(fill, json_at(names, i), text))
			return false;
	}
	return true;
}

static bool
fill_place(
    struct fill *fill, const struct json *place, const struct json *value)
{
	const struct json *names = json_get(place, "text");
	struct buf text;
	bool ok;

	buf_init_secret(&text, 0);
	ok = names != NULL ? add_text(fill, names, value, &text)
	                   : add_secret(fill, json_get(place, "secret"), &text);
	if (ok)
		json_add_string(fill->out, text.data, text.len);
	buf_release(&text);
	fill->places_filled++;
	return ok;
}

static bool add_value(
    struct fill *fill, const struct json *value, const struct step *step);

/* NOLINTBEGIN(misc-no-recursion): no deeper than the places that are named */
static bool
add_members(
    struct fill *fill, const struct json *value, const struct step *outer)
{
	bool object = json_type(value) == JSON_OBJECT;
	struct step step = {
		.outer = outer,
		.depth = outer != NULL ? outer->depth + 1 : 0,
	};
	bool ok = true;
	size_t i;

	buf_addc(fill->out, object ? '{' : '[');
	for (i = 0; ok && i < json_length(value); i++) {
		if (i > 0)
			buf_addc(fill->out, ',');
		step.index = i;
		step.key = object ? json_key_at(value, i) : NULL;
		if (object) {
			json_add_string(fill->out, step.key, strlen(step.key));
			buf_addc(fill->out, ':');
		}
		ok = add_value(fill,
		    object ? json_value_at(value, i) : json_at(value, i),
		    &step);
	}
	buf_addc(fill->out, object ? '}' : ']');
	return ok;
}

static bool
add_value(struct fill *fill, const struct json *value, const struct step *step)
{
	bool beyond;
	const struct json *place = find_place(fill, step, &beyond);
	char *text;

	if (place != NULL)
		return fill_place(fill, place, value);
	if (beyond &&
	    (json_type(value) == JSON_OBJECT || json_type(value) == JSON_LIST))
		return add_members(fill, value, step);
	text = json_text(value);
	buf_adds(fill->out, text);
	free(text);
	return true;
}
/* NOLINTEND(misc-no-recursion) */

bool
secrets_fill(const struct secrets *secrets, const struct task *task,
    struct filled *filled, struct error *err)
{
	struct fill fill = {
		.secrets = secrets,
		.task = task,
		.filled = filled,
		.out = &filled->args,
		.err = err,
	};
	struct json *args = NULL, *places = NULL;
	bool ok =
	    json_parse(task->args, task->args_len, &args, err) &&
	    json_parse(task->secrets, strlen(task->secrets), &places, err);

	if (ok) {
		fill.places = places;
		ok = add_value(&fill, args, NULL) &&
		     (fill.places_filled == json_length(places) ||
		         misplaced(&fill));
	}
	json_free(places);
	json_free(args);
	return ok;
}

bool
secrets_may_go(const struct secrets *secrets, const struct task *task,
    const struct filled *filled, const char *destination, struct error *err)
{
	size_t i;

	for (i = 0; i < filled->count; i++)
		if (!secret_is_granted(
		        secrets, filled->names[i], task, destination, err))
			return false;
	return true;
}
