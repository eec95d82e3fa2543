/*
 * http.h - what of a request over HTTP is not for workflows to say: it decides
 * where the request goes and where it ends.
 */
#ifndef COMMON_HTTP_H
#define COMMON_HTTP_H

#include <stdbool.h>

/* Hints that belong to a refusal. */
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

/* In any case, and with _ for -, as some servers read it. */
bool http_header_is_reserved(const char *name);

bool http_method_is_reserved(const char *method);

#endif
