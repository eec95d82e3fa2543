/*
 * Operators: static types decide here which one is meant, not values at run
 * time.
 */
#include <string.h>

#include "console/lang/checker.h"
#include "console/lang/symbol.h"

static const struct type *
basic(enum type_kind kind)
{
	return &type_basic[kind];
}

void
check_bool(struct checker *checker, struct expr *expr, const char *what)
{
	if (!check_not_null(checker, expr) || expr->type->kind == TYPE_BOOL ||
	    expr->type->kind == TYPE_JSON || expr->type->kind == TYPE_ERROR)
		return;
	COMPLAIN(checker, expr->start, "%s must be true or false, not `%s`",
	    what, type_text(checker->arena, expr->type));
	if (expr->type->kind == TYPE_LIST || expr->type->kind == TYPE_STRING)
		HINT(checker, "Write size(…) > 0.");
	else if (type_is_numeric(expr->type))
		HINT(checker, "Write … != 0.");
}

static void
report_operands(struct checker *checker, struct expr *expr)
{
	const struct type *a = expr->a->type, *b = expr->b->type;

	if (a->kind == TYPE_ERROR || b->kind == TYPE_ERROR)
		return;
	if (expr->op == T_PLUS &&
	    (a->kind == TYPE_STRING || b->kind == TYPE_STRING)) {
		COMPLAIN(checker, expr->text_start, "strings are not added");
		HINT(checker, "Write \"${…}${…}\".");
		return;
	}
	COMPLAIN(checker, expr->text_start, "%s can not take `%s` and `%s`",
	    symbol_name(expr->op), type_text(checker->arena, a),
	    type_text(checker->arena, b));
	if ((a->kind == TYPE_DATE || a->kind == TYPE_TIMESTAMP ||
	        a->kind == TYPE_DURATION) &&
	    type_is_numeric(b))
		HINT(checker, "Write a duration such as 5s or 2d.");
	else if (expr->op == T_PLUS && a->kind == TYPE_LIST)
		HINT(checker, "Write concat(…, …).");
}

/* Arithmetic on times; any other operation takes numbers. */
static const struct {
	enum token_kind op;
	enum type_kind left, right;
	const char *form;
	enum type_kind result;
} times[] = {
	{ T_PLUS, TYPE_DATE, TYPE_DURATION, "add.time", TYPE_TIMESTAMP },
	{ T_PLUS, TYPE_TIMESTAMP, TYPE_DURATION, "add.time", TYPE_TIMESTAMP },
	{ T_PLUS, TYPE_DURATION, TYPE_DURATION, "add.duration", TYPE_DURATION },
	{ T_MINUS, TYPE_DATE, TYPE_DURATION, "sub.time", TYPE_TIMESTAMP },
	{ T_MINUS, TYPE_TIMESTAMP, TYPE_DURATION, "sub.time", TYPE_TIMESTAMP },
	{ T_MINUS, TYPE_DURATION, TYPE_DURATION, "sub.duration",
	    TYPE_DURATION },
	{ T_MINUS, TYPE_DATE, TYPE_DATE, "sub.times", TYPE_DURATION },
	{ T_MINUS, TYPE_DATE, TYPE_TIMESTAMP, "sub.times", TYPE_DURATION },
	{ T_MINUS, TYPE_TIMESTAMP, TYPE_DATE, "sub.times", TYPE_DURATION },
	{ T_MINUS, TYPE_TIMESTAMP, TYPE_TIMESTAMP, "sub.times", TYPE_DURATION },
	{ T_STAR, TYPE_DURATION, TYPE_INT, "mul.duration", TYPE_DURATION },
	{ T_STAR, TYPE_DURATION, TYPE_NUMBER, "mul.duration", TYPE_DURATION },
};

static const struct {
	enum token_kind op;
	const char *form;
} arithmetic[] = {
	{ T_PLUS, "add" },
	{ T_MINUS, "sub" },
	{ T_STAR, "mul" },
	{ T_SLASH, "div" },
	{ T_PERCENT, "mod" },
};

static void
check_arithmetic(struct checker *checker, struct expr *expr)
{
	const struct type *a, *b;
	size_t i;

	check_not_null(checker, expr->a);
	check_not_null(checker, expr->b);
	a = expr->a->type;
	b = expr->b->type;
	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		if (times[i].op == expr->op && times[i].left == a->kind &&
		    times[i].right == b->kind) {
			expr->form = times[i].form;
			expr->type = basic(times[i].result);
			return;
		}
	}
	if (!type_is_numeric(a) || !type_is_numeric(b)) {
		report_operands(checker, expr);
		return;
	}
	for (i = 0; arithmetic[i].op != expr->op; i++)
		continue;
	expr->form = arithmetic[i].form;
	expr->type = basic(
	    expr->op != T_SLASH && a->kind == TYPE_INT && b->kind == TYPE_INT
	        ? TYPE_INT
	        : TYPE_NUMBER);
}

static bool
is_time(const struct type *type)
{
	return type->kind == TYPE_DATE || type->kind == TYPE_TIMESTAMP ||
	       type->kind == TYPE_DURATION;
}

/* A string or json beside a time is taken as such a time. */
static void
adapt(struct checker *checker, struct expr *expr, const struct expr *other)
{
	enum type_kind kind = expr->type->kind;

	if ((kind == TYPE_STRING || kind == TYPE_JSON) &&
	    is_time(other->type) && !type_may_be_null(expr->type))
		convert(checker, expr, basic(other->type->kind),
		    "a compared value");
	else if (kind == TYPE_DATE && other->type->kind == TYPE_TIMESTAMP)
		convert(checker, expr,
		    type_may_be_null(expr->type)
		        ? type_optional(checker->arena, basic(TYPE_TIMESTAMP))
		        : basic(TYPE_TIMESTAMP),
		    "a compared value");
}

static const struct type *
compared_type(const struct expr *expr)
{
	return expr->cast ? expr->cast : expr->type;
}

static void
check_equality(struct checker *checker, struct expr *expr)
{
	const struct type *a, *b;

	expr->form = expr->op == T_EQ ? "eq" : "ne";
	expr->type = basic(TYPE_BOOL);
	adapt(checker, expr->a, expr->b);
	adapt(checker, expr->b, expr->a);
	a = compared_type(expr->a);
	b = compared_type(expr->b);
	if (type_fit(a, b) <= FIT_CHECK || type_fit(b, a) <= FIT_CHECK)
		return;
	COMPLAIN(checker, expr->text_start, "`%s` and `%s` are never equal",
	    type_text(checker->arena, a), type_text(checker->arena, b));
}

void
check_case(struct checker *checker, struct expr *value, struct expr *compared)
{
	const struct type *a, *b;

	adapt(checker, compared, value);
	a = value->type;
	b = compared_type(compared);
	if (type_fit(a, b) <= FIT_CHECK || type_fit(b, a) <= FIT_CHECK)
		return;
	COMPLAIN(checker, compared->start,
	    "this case is never taken: `%s` and `%s` are never equal",
	    type_text(checker->arena, a), type_text(checker->arena, b));
	HINT(checker,
	    "`switch` compares with `==`: give the case a value of the "
	    "type of the expression after `switch`.");
}

static const struct {
	enum token_kind op;
	enum type_kind kind;
	const char *form;
} orders[] = {
#define ORDERS(op, form) \
	{ op, TYPE_NUMBER, form }, { op, TYPE_STRING, form ".string" }, \
	    { op, TYPE_DATE, form ".date" }, \
	    { op, TYPE_TIMESTAMP, form ".timestamp" }, \
	{ \
		op, TYPE_DURATION, form ".duration" \
	}
	ORDERS(T_LT, "lt"),
	ORDERS(T_LE, "le"),
	ORDERS(T_GT, "gt"),
	ORDERS(T_GE, "ge"),
#undef ORDERS
};

static void
check_order(struct checker *checker, struct expr *expr)
{
	enum type_kind a, b;
	size_t i;

	expr->type = basic(TYPE_BOOL);
	check_not_null(checker, expr->a);
	check_not_null(checker, expr->b);
	adapt(checker, expr->a, expr->b);
	adapt(checker, expr->b, expr->a);
	a = compared_type(expr->a)->kind;
	b = compared_type(expr->b)->kind;
	if (a == TYPE_ERROR || b == TYPE_ERROR)
		return;
	if (a == TYPE_JSON && b != TYPE_JSON)
		a = b;
	if (a == TYPE_INT || a == TYPE_JSON)
		a = TYPE_NUMBER;
	if (b == TYPE_INT || (b == TYPE_JSON && a == TYPE_NUMBER))
		b = TYPE_NUMBER;
	if (b == TYPE_JSON)
		b = a;
	for (i = 0; a == b && i < sizeof(orders) / sizeof(orders[0]); i++) {
		if (orders[i].op == expr->op && orders[i].kind == a) {
			expr->form = orders[i].form;
			return;
		}
	}
	report_operands(checker, expr);
}

static void
check_logic(struct checker *checker, struct expr *expr)
{
	const char *what = arena_printf(
	    checker->arena, "an operand of %s", symbol_name(expr->op));

	expr->form = expr->op == T_AND ? "and" : "or";
	expr->type = basic(TYPE_BOOL);
	check_bool(checker, expr->a, what);
	check_bool(checker, expr->b, what);
}

static void
check_coalesce(struct checker *checker, struct expr *expr)
{
	expr->form = "coalesce";
	expr->type = type_join(checker->arena,
	    type_required(checker->arena, expr->a->type), expr->b->type);
	if (expr->a->type->kind == TYPE_NULL)
		expr->type = expr->b->type;
	else if (!type_may_be_null(expr->b->type))
		expr->type = type_required(checker->arena, expr->type);
}

static void
check_range(struct checker *checker, struct expr *expr)
{
	expr->form = "range";
	expr->type = type_list(checker->arena, basic(TYPE_INT));
	convert(checker, expr->a, basic(TYPE_INT), "the start of a range");
	convert(checker, expr->b, basic(TYPE_INT), "the end of a range");
}

static void
check_unary(struct checker *checker, struct expr *expr)
{
	check_expr(checker, expr->a);
	if (expr->op == T_NOT) {
		expr->form = "not";
		expr->type = basic(TYPE_BOOL);
		check_bool(checker, expr->a, "the operand of `!`");
		return;
	}
	expr->form = "neg";
	check_not_null(checker, expr->a);
	expr->type = expr->a->type;
	if (type_is_numeric(expr->type) || expr->type->kind == TYPE_ERROR)
		return;
	COMPLAIN(checker, expr->start, "`-` can not take `%s`",
	    type_text(checker->arena, expr->type));
	expr->type = basic(TYPE_ERROR);
}

static const struct {
	enum token_kind op;
	void (*check)(struct checker *, struct expr *);
} binaries[] = {
	{ T_PLUS, check_arithmetic },
	{ T_MINUS, check_arithmetic },
	{ T_STAR, check_arithmetic },
	{ T_SLASH, check_arithmetic },
	{ T_PERCENT, check_arithmetic },
	{ T_EQ, check_equality },
	{ T_NE, check_equality },
	{ T_LT, check_order },
	{ T_LE, check_order },
	{ T_GT, check_order },
	{ T_GE, check_order },
	{ T_AND, check_logic },
	{ T_OR, check_logic },
	{ T_COALESCE, check_coalesce },
	{ T_RANGE, check_range },
};

void
check_operator(struct checker *checker, struct expr *expr)
{
	struct known *before = checker->known;
	size_t i;

	if (expr->kind == E_UNARY) {
		check_unary(checker, expr);
		return;
	}
	check_expr(checker, expr->a);
	if (expr->op == T_AND || expr->op == T_OR) /* what is then known in b */
		narrow(checker, expr->a, expr->op == T_AND);
	check_expr(checker, expr->b);
	narrow_end(checker, before);
	for (i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++)
		if (binaries[i].op == expr->op)
			binaries[i].check(checker, expr);
}
