/*
 * A dag: which of its steps come after which.  A step comes after each one that
 * binds a name which it reads, and after those that `after` names.  The steps
 * are checked in such an order, as if they stood one after another.
 */
#include <stdlib.h>
#include <string.h>

#include "common/suggestion.h"
#include "console/lang/checker.h"
#include "console/lang/names.h"
#include "console/lang/source.h"

enum { BUCKETS = 1024 };

/* A name, and the step that binds it. */
struct bound {
	struct bound *next;
	const struct name *name;
	size_t step;
};

/* A step comes after another: it reads or lists a name of that step. */
struct edge {
	size_t step;
	const char *name;
	size_t start; /* where the name stands */
	bool listed;
};

struct step {
	struct process *process;
	const char *label; /* the first name that it binds, or NULL */
	struct edge *edges;
	size_t count, room;
	size_t next; /* the edge to look at next */
	size_t seen; /* the step that was last found to come after this one */
	enum { STEP_NEW, STEP_ACTIVE, STEP_DONE } mark;
};

struct dag {
	struct checker *checker;
	struct step *steps;
	size_t count;
	size_t current; /* the step whose names are being looked at */
	struct bound *bound[BUCKETS];
};

static size_t
hash(const char *name)
{
	size_t value = 5381;

	for (; *name; name++)
		value = value * 33 ^ (unsigned char)*name;
	return value % BUCKETS;
}

static const struct bound *
find(const struct dag *dag, const char *name)
{
	const struct bound *bound = dag->bound[hash(name)];

	while (bound && strcmp(bound->name->text, name) != 0)
		bound = bound->next;
	return bound;
}

static void
add_bound(void *arg, const struct name *name)
{
	struct dag *dag = arg;
	struct bound *bound = arena_alloc(dag->checker->arena, sizeof(*bound));
	struct bound **bucket = &dag->bound[hash(name->text)];

	*bound = (struct bound){ *bucket, name, dag->current };
	*bucket = bound;
	if (!dag->steps[dag->current].label)
		dag->steps[dag->current].label = name->text;
}

/* Note that the current step comes after the one that binds the name. */
static void
add_edge(
    struct dag *dag, size_t to, const char *name, size_t start, bool listed)
{
	struct step *step = &dag->steps[dag->current];
	struct edge *edges;

	if (dag->steps[to].seen == dag->current + 1)
		return;
	dag->steps[to].seen = dag->current + 1;
	if (step->count == step->room) {
		step->room = step->room * 2 + 4;
		edges = arena_alloc(
		    dag->checker->arena, step->room * sizeof(*edges));
		for (size_t i = 0; i < step->count; i++)
			edges[i] = step->edges[i];
		step->edges = edges;
	}
	step->edges[step->count++] = (struct edge){ to, name, start, listed };
}

static void
add_read(void *arg, const char *name, size_t start)
{
	struct dag *dag = arg;
	const struct bound *bound = find(dag, name);

	if (bound && bound->step != dag->current)
		add_edge(dag, bound->step, name, start, false);
}

static void
report_after(const struct dag *dag, const struct name *name)
{
	struct suggestion suggestion;
	const struct bound *bound;
	size_t i;

	COMPLAIN(dag->checker, name->start, "no step of this dag binds `%s`",
	    name->text);
	suggestion_init(&suggestion, name->text);
	for (i = 0; i < BUCKETS; i++)
		for (bound = dag->bound[i]; bound; bound = bound->next)
			suggestion_offer(&suggestion, bound->name->text,
			    strlen(bound->name->text));
	if (suggestion.best)
		HINT(dag->checker, "Did you mean `%s`?", suggestion.best);
	else
		HINT(dag->checker, "`after` takes names that steps of the same "
		                   "dag bind.");
}

static void
add_after(struct dag *dag, const struct name *names)
{
	const struct name *name, *other;
	const struct bound *bound;

	for (name = names; name && name->text; name++) {
		for (other = names; other != name; other++)
			if (strcmp(other->text, name->text) == 0)
				break;
		bound = find(dag, name->text);
		if (other != name) {
			COMPLAIN(dag->checker, name->start,
			    "`%s` is given twice", name->text);
		} else if (!bound) {
			report_after(dag, name);
		} else if (bound->step == dag->current) {
			COMPLAIN(dag->checker, name->start,
			    "a step can not come after itself");
			HINT(dag->checker, "This step binds `%s`.", name->text);
		} else {
			add_edge(
			    dag, bound->step, name->text, name->start, true);
		}
	}
}

static int
compare_edges(const void *one, const void *other)
{
	const struct edge *a = one, *b = other;

	return (a->step > b->step) - (a->step < b->step);
}

/* Collect the names that the steps bind, then those that they read and list. */
static void
find_edges(struct dag *dag)
{
	const struct name_sink bound = { add_bound, NULL, dag };
	const struct name_sink read = { NULL, add_read, dag };
	struct step *step;
	size_t i;

	for (dag->current = 0; dag->current < dag->count; dag->current++)
		names_of(dag->steps[dag->current].process, &bound);
	for (dag->current = 0; dag->current < dag->count; dag->current++) {
		step = &dag->steps[dag->current];
		add_after(dag, step->process->after);
		names_of(step->process, &read);
		if (step->count > 0)
			qsort(step->edges, step->count, sizeof(*step->edges),
			    compare_edges);
		step->process->before = arena_alloc(
		    dag->checker->arena, (step->count + 1) * sizeof(size_t));
		step->process->before_count = step->count;
		for (i = 0; i < step->count; i++)
			step->process->before[i] = step->edges[i].step + 1;
	}
}

/* `a`, or the line of a step without a name */
static const char *
label(const struct dag *dag, const struct step *step)
{
	struct arena *arena = dag->checker->arena;

	if (step->label)
		return arena_printf(arena, "`%s`", step->label);
	return arena_printf(arena, "the step in line %d",
	    source_line_at(dag->checker->module->source, step->process->start));
}

/* Report the way from its first step back to that step. */
static void
report_circle(const struct dag *dag, const size_t *way, size_t count)
{
	struct checker *checker = dag->checker;
	const char *text = label(dag, &dag->steps[way[0]]), *hint = "";
	const struct edge *edge;
	size_t i;

	for (i = 0; i < count; i++) {
		edge = &dag->steps[way[i]].edges[dag->steps[way[i]].next - 1];
		text = arena_printf(checker->arena, "%s → %s", text,
		    label(dag, &dag->steps[edge->step]));
		hint = arena_printf(checker->arena, "%s%s %d %s `%s`", hint,
		    i == 0 ? "Line" : ", line",
		    source_line_at(checker->module->source, edge->start),
		    edge->listed ? "comes after" : "reads", edge->name);
	}
	COMPLAIN(checker, dag->steps[way[0]].process->start,
	    "steps of this dag wait for each other: %s", text);
	HINT(checker, "%s.", hint);
}

/*
 * Visit a step, after the steps that it comes after.  Returns false, and
 * reports it, if the way is a circle.
 */
static bool
visit(struct dag *dag, size_t first, size_t *way, size_t *order, size_t *done)
{
	size_t depth = 0, i, to;
	struct step *step;

	way[depth++] = first;
	dag->steps[first].mark = STEP_ACTIVE;
	while (depth > 0) {
		step = &dag->steps[way[depth - 1]];
		if (step->next == step->count) {
			step->mark = STEP_DONE;
			order[(*done)++] = way[--depth];
			continue;
		}
		to = step->edges[step->next++].step;
		if (dag->steps[to].mark == STEP_ACTIVE) {
			for (i = 0; way[i] != to;)
				i++;
			report_circle(dag, way + i, depth - i);
			return false;
		}
		if (dag->steps[to].mark == STEP_NEW) {
			dag->steps[to].mark = STEP_ACTIVE;
			way[depth++] = to;
		}
	}
	return true;
}

void
check_dag(struct checker *checker, struct process *process, bool main_line)
{
	struct dag *dag = arena_alloc(checker->arena, sizeof(*dag));
	size_t *way, *order, done = 0, i;
	struct process *step;

	(void)main_line;
	dag->checker = checker;
	for (step = process->steps; step; step = step->next)
		dag->count++;
	dag->steps =
	    arena_alloc(checker->arena, dag->count * sizeof(*dag->steps));
	for (i = 0, step = process->steps; step; step = step->next)
		dag->steps[i++].process = step;
	find_edges(dag);
	way = arena_alloc(checker->arena, dag->count * sizeof(*way));
	order = arena_alloc(checker->arena, dag->count * sizeof(*order));
	for (i = 0; i < dag->count; i++) {
		if (dag->steps[i].mark == STEP_NEW &&
		    !visit(dag, i, way, order, &done)) {
			check_unknown(checker, process);
			return;
		}
	}
	for (i = 0; i < dag->count; i++)
		check_process(checker, dag->steps[order[i]].process, false);
}
