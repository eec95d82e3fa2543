#include "driver/config/certificate.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/mem.h"
#include "common/way.h"
#include "driver/config/config.h"
#include "driver/secret/grant.h"

#define BLANK " \t"

enum { WORDS = 3 };

void
certificate_release(struct certificate *certificate)
{
	free(certificate->destination);
	free(certificate->certificate);
	free(certificate->key);
	*certificate = (struct certificate){ 0 };
}

/* Words behind the third are only counted. */
static size_t
split(const char *line, char *words[WORDS])
{
	size_t count = 0, len;

	for (line += strspn(line, BLANK); *line != '\0';
	     line += strspn(line, BLANK)) {
		len = strcspn(line, BLANK);
		if (count < WORDS)
			words[count] = xstrndup(line, len);
		count++;
		line += len;
	}
	return count;
}

bool
certificate_read(
    struct certificate *certificate, const char *line, struct error *err)
{
	char *words[WORDS] = { NULL };
	size_t count = split(line, words);

	*certificate = (struct certificate){ words[0], words[1], words[2] };
	if (count != WORDS) {
		error_set(err, "http.certificates: \"%s\" has %zu words, not 3",
		    line, count);
		error_hint(err, "Write \"DESTINATION CERTIFICATE KEY\".");
	} else if (!secret_destination_check(words[0], strlen(words[0])) ||
	           (strcmp(words[0], "*") != 0 &&
	               strncmp(words[0], "https://", 8) != 0)) {
		error_set(err,
		    "http.certificates: \"%s\" must begin with https://HOST "
		    "or *",
		    line);
		error_hint(err,
		    "A port may follow the host, and \"*.\" may stand before "
		    "a domain.");
	} else {
		return true;
	}
	certificate_release(certificate);
	return false;
}

static bool
check_files(const struct certificate *certificate, struct error *err)
{
	if (way_check(certificate->certificate, false, err) &&
	    way_check(certificate->key, true, err))
		return true;
	error_prefix(err, "http.certificates");
	return false;
}

bool
certificates_check(const struct config_list *lines, struct error *err)
{
	struct certificate certificate;
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < lines->count; i++) {
		ok = certificate_read(&certificate, lines->items[i], err);
		if (ok) {
			ok = check_files(&certificate, err);
			certificate_release(&certificate);
		}
	}
	return ok;
}
