/*
 * certificate.h - the lines of http.certificates, of three words each.
 *
 *     DESTINATION CERTIFICATE KEY
 *
 * A DESTINATION is as in secret/grant.h; the other two words are files.
 */
#ifndef DRIVER_CONFIG_CERTIFICATE_H
#define DRIVER_CONFIG_CERTIFICATE_H

#include <stdbool.h>

struct config_list;
struct error;

/* Strings are owned. */
struct certificate {
	char *destination;
	char *certificate;
	char *key;
};

/*
 * False, with `err` set, if the line is no such line; then nothing is to be
 * released.
 */
bool certificate_read(
    struct certificate *certificate, const char *line, struct error *err);
void certificate_release(struct certificate *certificate);

/*
 * Whether each line is valid, and other users can neither change the files nor
 * read the keys.  Otherwise false, with `err` set.
 */
bool certificates_check(const struct config_list *lines, struct error *err);

#endif
