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
 * Make it the response, or the error that the response is too large for a
 * report.  False if the body is no text.
 */
bool http_outcome_response(
    struct outcome *outcome, const struct http_response *response);

/* Make it the error that the status is not accepted. */
void http_outcome_refused(struct outcome *outcome, const char *name,
    const struct http_response *response);

/* Make it the error of the guard. */
void http_outcome_rejected(
    struct outcome *outcome, const char *name, const struct error *why);

#endif
