#include "console/lang/narrow.h"

#include <string.h>

#include "console/lang/checker.h"

/* a.b.c, and nothing that would have to be computed */
static bool
is_path(const struct expr *expr)
{
	while (expr->kind == E_FIELD)
		expr = expr->a;
	return expr->kind == E_NAME;
}

static bool
is_same(const struct expr *a, const struct expr *b)
{
	while (a->kind == b->kind && strcmp(a->text, b->text) == 0) {
		if (a->kind == E_NAME)
			return true;
		a = a->a;
		b = b->a;
	}
	return false;
}

static void
add(struct checker *checker, const struct expr *path)
{
	struct known *known;

	if (!is_path(path))
		return;
	known = arena_alloc(checker->arena, sizeof(*known));
	known->path = path;
	known->next = checker->known;
	checker->known = known;
}

static void
take_in(struct checker *checker, struct expr *condition, bool truth)
{
	struct expr *expr = check_bare(condition);
	enum token_kind all = truth ? T_AND : T_OR;
	enum token_kind differs = truth ? T_NE : T_EQ;

	if (expr->kind == E_UNARY && expr->op == T_NOT) {
		take_in(checker, expr->a, !truth);
	} else if (expr->kind == E_BINARY && expr->op == all) {
		take_in(checker, expr->a, truth);
		take_in(checker, expr->b, truth);
	} else if (expr->kind == E_BINARY && expr->op == differs) {
		if (check_bare(expr->b)->kind == E_NULL)
			add(checker, check_bare(expr->a));
		if (check_bare(expr->a)->kind == E_NULL)
			add(checker, check_bare(expr->b));
	}
}

struct known *
narrow(struct checker *checker, struct expr *condition, bool truth)
{
	struct known *before = checker->known;

	take_in(checker, condition, truth);
	return before;
}

void
narrow_end(struct checker *checker, struct known *before)
{
	checker->known = before;
}

void
narrow_type(struct checker *checker, struct expr *expr)
{
	const struct known *known;

	if (!expr->type->optional || !is_path(expr))
		return;
	for (known = checker->known; known; known = known->next)
		if (is_same(known->path, expr))
			expr->type = type_required(checker->arena, expr->type);
}
