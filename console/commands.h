/*
 * commands.h - the commands that need C.  The rest are SQL in commands/.
 *
 * Each function carries out one command for `console` and returns its exit
 * code; if it sets `err`, the error is reported.
 */
#ifndef CONSOLE_COMMANDS_H
#define CONSOLE_COMMANDS_H

#include "console/command.h"

enum exit_code cmd_answer(struct console *console, struct error *err);
enum exit_code cmd_action(struct console *console, struct error *err);
enum exit_code cmd_check(struct console *console, struct error *err);
enum exit_code cmd_completion_bash(struct console *console, struct error *err);
enum exit_code cmd_completion_zsh(struct console *console, struct error *err);
enum exit_code cmd_diff(struct console *console, struct error *err);
enum exit_code cmd_doc(struct console *console, struct error *err);
enum exit_code cmd_engine(struct console *console, struct error *err);
enum exit_code cmd_explain(struct console *console, struct error *err);
enum exit_code cmd_fmt(struct console *console, struct error *err);
enum exit_code cmd_gantt(struct console *console, struct error *err);
enum exit_code cmd_graph(struct console *console, struct error *err);
enum exit_code cmd_help(struct console *console, struct error *err);
enum exit_code cmd_history(struct console *console, struct error *err);
enum exit_code cmd_install(struct console *console, struct error *err);
enum exit_code cmd_local_run(struct console *console, struct error *err);
enum exit_code cmd_local_start(struct console *console, struct error *err);
enum exit_code cmd_local_status(struct console *console, struct error *err);
enum exit_code cmd_local_stop(struct console *console, struct error *err);
enum exit_code cmd_log(struct console *console, struct error *err);
enum exit_code cmd_man(struct console *console, struct error *err);
enum exit_code cmd_print(struct console *console, struct error *err);
enum exit_code cmd_purge(struct console *console, struct error *err);
enum exit_code cmd_run(struct console *console, struct error *err);
enum exit_code cmd_simulate(struct console *console, struct error *err);
enum exit_code cmd_start(struct console *console, struct error *err);
enum exit_code cmd_tree(struct console *console, struct error *err);
enum exit_code cmd_verb(struct console *console, struct error *err);
enum exit_code cmd_verify(struct console *console, struct error *err);
enum exit_code cmd_version(struct console *console, struct error *err);
enum exit_code cmd_wait(struct console *console, struct error *err);
enum exit_code cmd_watch(struct console *console, struct error *err);
enum exit_code cmd_workspace_install(
    struct console *console, struct error *err);
enum exit_code cmd_workspace_uninstall(
    struct console *console, struct error *err);
enum exit_code cmd_workspace_upgrade(
    struct console *console, struct error *err);

#endif
