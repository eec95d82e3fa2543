/*
 * http.h - the parts of an HTTP request that a workflow may not set, because
 * they decide where the request goes and where it ends.
 */
#ifndef COMMON_HTTP_H
#define COMMON_HTTP_H

#include <stdbool.h>

/* Hints for such a refusal. */
#define HTTP_HEADER_HINT \
	"The driver itself says where a request goes and where it ends: " \
	"Connection, Content-Length, Expect, Host, HTTP2-Settings, " \
	"Keep-Alive, TE, Trailer, Transfer-Encoding, Upgrade and Proxy-... " \
	"are reserved."
#define HTTP_METHOD_HINT \
	"Every other word is allowed, such as GET, POST or PROPFIND. CONNECT " \
	"opens a tunnel, TRACE and TRACK send headers back, PRI begins " \
	"HTTP/2."
#define HTTP_USER_HINT \
	"Say who you are in a header, with a secret: " \
	"headers = {authorization: \"Basic ${secret(\"login\")}\"}."

/*
 * Upper and lower case are the same, and so are _ and -, as for some servers.
 */
bool http_header_is_reserved(const char *name);

bool http_method_is_reserved(const char *method);

#endif
