/*
 * HTTP: checks the literals of a workflow against the rules of http.h.  The
 * driver checks the values that are known only when a task begins.
 */
#include <string.h>
#include <strings.h>

#include "common/http.h"
#include "console/lang/checker.h"

/*
 * The known part of a text; "x" stands for each unknown part.  NULL: the
 * expression is not a text.
 */
static const char *
spelled(struct checker *checker, const struct expr *expr)
{
	const struct expr *item;
	const char *text = "";

	if (expr->kind == E_STRING)
		return expr->text;
	if (expr->kind != E_TEXT)
		return NULL;
	for (item = expr->items; item; item = item->next)
		text = arena_printf(checker->arena, "%s%s", text,
		    item->kind == E_STRING ? item->text : "x");
	return text;
}

static void
check_url(struct checker *checker, const struct expr *url)
{
	const char *text = spelled(checker, url), *host;
	size_t len;

	if (!text || (strncasecmp(text, "http://", 7) != 0 &&
	                 strncasecmp(text, "https://", 8) != 0))
		return;
	host = strchr(text, ':') + 1;
	host += strspn(host, "/");
	len = strcspn(host, "/?#");
	if (!memchr(host, '@', len))
		return;
	COMPLAIN(checker, url->start,
	    "a URL must not have a user or password before its host");
	HINT(checker, "%s", HTTP_USER_HINT);
}

static void
check_method(struct checker *checker, const struct expr *method)
{
	const char *text = spelled(checker, method);

	if (!text || !http_method_is_reserved(text))
		return;
	COMPLAIN(checker, method->start, "the method must not be %s", text);
	HINT(checker, "%s", HTTP_METHOD_HINT);
}

static void
check_headers(struct checker *checker, const struct expr *headers)
{
	const struct member *member;

	for (member = headers->members; member; member = member->next) {
		if (!http_header_is_reserved(member->key.text))
			continue;
		COMPLAIN(checker, member->key.start,
		    "the header `%s` is not for workflows to set",
		    member->key.text);
		HINT(checker, "%s", HTTP_HEADER_HINT);
	}
}

void
check_http_arg(struct checker *checker, const char *name, struct expr *value)
{
	static const struct {
		const char *name;
		void (*check)(struct checker *, const struct expr *);
	} checks[] = {
		{ "headers", check_headers },
		{ "method", check_method },
		{ "url", check_url },
	};
	size_t i;

	for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		if (strcmp(name, checks[i].name) == 0)
			checks[i].check(checker, check_bare(value));
}

void
check_http_given(struct checker *checker, const struct decl *type,
    const char *param, struct expr *value)
{
	const struct clause *clause;
	const struct expr *bare;
	const struct arg *arg;

	for (clause = type->clauses; clause; clause = clause->next) {
		/* it may be missing if the file has other errors */
		if (!clause->transport.text ||
		    strcmp(clause->transport.text, "http") != 0)
			continue;
		for (arg = clause->args; arg; arg = arg->next) {
			bare = check_bare(arg->value);
			if (bare->kind != E_NAME ||
			    strcmp(bare->text, param) != 0)
				continue;
			check_http_arg(checker, arg->name.text, value);
			return;
		}
	}
}
