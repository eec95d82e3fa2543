#include "driver/http_url.h"

#include <curl/curl.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/mem.h"

char *
http_url(const char *base, const char *text)
{
	CURLU *url = curl_url();
	char *whole = NULL, *copy;

	if (base != NULL)
		curl_url_set(url, CURLUPART_URL, base, 0);
	curl_url_set(url, CURLUPART_URL, text, 0);
	curl_url_set(url, CURLUPART_USER, NULL, 0);
	curl_url_set(url, CURLUPART_PASSWORD, NULL, 0);
	curl_url_get(url, CURLUPART_URL, &whole, 0);
	copy = xstrdup(whole != NULL ? whole : "");
	curl_free(whole);
	curl_url_cleanup(url);
	return copy;
}

bool
http_url_add(char **text, const char *key, const char *value, struct error *err)
{
	CURLU *url = curl_url();
	char *pair = xasprintf("%s=%s", key, value), *whole = NULL;
	CURLUcode code;

	code = curl_url_set(url, CURLUPART_URL, *text, 0);
	if (code == CURLUE_OK)
		code = curl_url_set(url, CURLUPART_QUERY, pair,
		    CURLU_APPENDQUERY | CURLU_URLENCODE);
	if (code == CURLUE_OK)
		code = curl_url_get(url, CURLUPART_URL, &whole, 0);
	if (code == CURLUE_OK) {
		free(*text);
		*text = xstrdup(whole);
	} else {
		error_set(err, "query: %s: %s", key, curl_url_strerror(code));
	}
	curl_free(whole);
	free(pair);
	curl_url_cleanup(url);
	return code == CURLUE_OK;
}

char *
http_url_host(const char *text)
{
	CURLU *url = curl_url();
	char *host = NULL, *copy;

	if (curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK)
		curl_url_get(url, CURLUPART_HOST, &host, 0);
	copy = xstrdup(host != NULL ? host : "");
	curl_free(host);
	curl_url_cleanup(url);
	return copy;
}
