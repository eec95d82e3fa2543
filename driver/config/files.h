/*
 * files.h - the files that the driver's options name and that libraries and ssh
 * open by themselves.
 */
#ifndef DRIVER_CONFIG_FILES_H
#define DRIVER_CONFIG_FILES_H

#include <stdbool.h>

struct config;
struct error;

/*
 * Whether nobody else can change these files, nor read the secret ones.  The
 * error begins with the option's key.  A missing file is not an error here: the
 * code that opens it reports it.
 */
bool config_files_check(const struct config *config, struct error *err);

#endif
