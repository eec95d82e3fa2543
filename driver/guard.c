#include "driver/guard.h"

#include <strings.h>

#include "common/error.h"

bool
guard_url(const char *url, struct error *err)
{
	const unsigned char *c;

	for (c = (const unsigned char *)url; *c != '\0'; c++)
		if (*c <= ' ' || *c == 0x7f) {
			error_set(
			    err, "url holds a space or control character");
			error_hint(err, "Encode it: url_encode().");
			return false;
		}
	if (strncasecmp(url, "http://", 7) == 0 ||
	    strncasecmp(url, "https://", 8) == 0)
		return true;
	error_set(err, "url must begin with http:// or https://");
	return false;
}
