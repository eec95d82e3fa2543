/*
 * outcome.h - answers over HTTP as workflows see them.
 *
 * `name` is the request's, "GET http://host/path".
 */
#ifndef DRIVER_TRANSPORT_HTTP_OUTCOME_H
#define DRIVER_TRANSPORT_HTTP_OUTCOME_H

#include <stdbool.h>

struct error;
struct http_response;
struct outcome;

/*
 * The response, or the error that it is too large for a report; false if its
 * body is no text.
 */
bool http_outcome_response(
    struct outcome *outcome, const struct http_response *response);

/* Its status is not one of those that are accepted. */
void http_outcome_refused(struct outcome *outcome, const char *name,
    const struct http_response *response);

/* The guard did not let us there. */
void http_outcome_rejected(
    struct outcome *outcome, const char *name, const struct error *why);

#endif
