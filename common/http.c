#include "common/http.h"

#include <ctype.h>
#include <stddef.h>
#include <strings.h>

/* RFC 9110, 7.2, 7.6.1, 8.6 and 10.1.1; RFC 7540, 3.2.1; "proxy-": all of it */
static const char *const headers[] = { "connection", "content-length", "expect",
	"host", "http2-settings", "keep-alive", "proxy-", "te", "trailer",
	"transfer-encoding", "upgrade" };

static const char *const methods[] = { "CONNECT", "PRI", "TRACE", "TRACK" };

static bool
is_header(const char *name, const char *known)
{
	for (; *known != '\0'; name++, known++)
		if (*known !=
		    (*name == '_' ? '-' : tolower((unsigned char)*name)))
			return false;
	return *name == '\0' || known[-1] == '-';
}

bool
http_header_is_reserved(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		if (is_header(name, headers[i]))
			return true;
	return false;
}

bool
http_method_is_reserved(const char *method)
{
	size_t i;

	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (strcasecmp(method, methods[i]) == 0)
			return true;
	return false;
}
