/*
 * outside.c - the commands that bring in what happens outside: signals, callbacks and
 * answers.
 */
#include "console/commands/group.h"

/* clang-format off */

/* A signal; its target is an SQL expression. */
#define SIGNAL(words, target, about, more) \
	{ .pattern = "signal " words " NAME", \
	  .summary = (about), \
	  .options = "payload broadcast", \
	  .role = APP, \
	  .sql = "select wf.signal(" target ", :name, coalesce(:payload, 'null'), :broadcast) as signal_id", \
	  .detail = (more) }

static const struct command rows[] = {

	SIGNAL("INSTANCE", "to_jsonb(:instance)", "Send a signal to an instance: wf.WaitSignal in it takes it",
	       "The task that has waited longest for that name takes it. If none waits, it is kept\n"
	       "for the next one, until the instance has ended."),
	SIGNAL("key WORKFLOW KEY", "jsonb_build_object('workflow', :workflow, 'key', :key)",
	       "The same, to the instance that was started with a key", NULL),
	SIGNAL("topic TOPIC", "jsonb_build_object('topic', :topic)",
	       "The same, to a topic: the instances that wait for it share it",
	       "If nobody waits for it, it is kept for signal_days (a setting)."),

	{ .pattern = "callback token INSTANCE NAME",
	  .summary = "Make the token with which wf.Callback is called back",
	  .role = APP,
	  .sql = "select :instance as instance_id, :name as name, wf.callback_token(:instance, :name) as token",
	  .whole = "token",
	  .detail = "The token is shown only now. It replaces a token that was made before for the same\n"
		    "instance and name." },

	{ .pattern = "callback send TOKEN",
	  .summary = "Call back: the wait that the token was made for ends",
	  .options = "payload",
	  .role = APP,
	  .sql = "select wf.callback(:token, coalesce(:payload, 'null')) as answer",
	  .detail = "Whoever lists the processes of this machine can read TOKEN while this runs." },

	{ .pattern = "callback progress TOKEN JSON",
	  .summary = "Report the progress of the work that a callback is to end",
	  .role = APP,
	  .sql = "select 'noted' as answer from wf.callback_progress(:token, :json)" },

	{ .pattern = "callbacks",
	  .summary = "List the callbacks for which there is a token",
	  .role = VIEWER,
	  .sql = "select instance_id, workflow, name, made_at, made_by, progress, progressed_at, used_at, used_by"
		 "  from wf.callback_v order by instance_id, name",
	  .none = "no callbacks" },

	{ .pattern = "signals",
	  .summary = "List the signals that nobody has taken",
	  .role = VIEWER,
	  .sql = "select signal_id, instance_id, workflow, topic, name, broadcast, payload, sent_at, sender"
		 "  from wf.signal_v order by signal_id",
	  .shown = "signal_id instance_id workflow topic name payload sent_at sender",
	  .none = "none: every signal has been taken" },

	{ .pattern = "inputs",
	  .summary = "List the forms that wait for a person's answer",
	  .role = VIEWER,
	  .sql = "select input_id, instance_id, workflow, title, role, assignee, form, asked_at"
		 "  from wf.input_v where open order by input_id",
	  .shown = "input_id instance_id workflow title role assignee form asked_at",
	  .none = "none: nobody is asked for anything" },

	{ .pattern = "answer INPUT",
	  .summary = "Answer a form: wf.Input, which asks it, goes on",
	  .options = "payload file",
	  .role = APP,
	  .sql = "select wf.answer(:input, :payload) as answer",
	  .run = cmd_answer,
	  .detail = "The answer is an object with a value for each field, in --payload or in a file\n"
		    "(- is standard input); else each field is asked at the terminal. If one is wrong,\n"
		    "nothing is written. An answer is final." },

	/* clang-format on */
};

const struct command_group command_outside =
    GROUP("signals, callbacks and answers", rows);
