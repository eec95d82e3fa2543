/*
 * scripts.h - wrapper.sh and ender.sh, as embed.sh prints them: each on one line.
 */
#ifndef DRIVER_TRANSPORT_SSH_SCRIPTS_H
#define DRIVER_TRANSPORT_SSH_SCRIPTS_H

extern const char ssh_script_ender[];
extern const char ssh_script_wrapper[];

#endif
