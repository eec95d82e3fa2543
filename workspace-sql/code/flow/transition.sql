-- The state machines, as rows. Every move of a process or an instance is one of
-- these rows: triggers refuse all others. docs/states.md and its diagrams are
-- printed from them.

delete from wf.transition;
delete from wf.machine_state;

insert into wf.machine_state (machine, state, terminal, meaning)
select m, s.state, s.terminal, s.meaning
  from unnest(array['sync', 'async', 'wait', 'child']) m,
       (values ('INIT', false, 'enabled: waits to be started, or for its next attempt'),
               ('FAILED', false, 'failed: waits for retry, ignore, resolve or raise'),
               ('END', true, 'ended: what comes after it is enabled'),
               ('RAISED', true, 'failed for good: its error was handed on'),
               ('ABORTED', true, 'stopped for good')) s (state, terminal, meaning)
union all
select m, s.state, false, s.meaning
  from unnest(array['sync', 'async']) m,
       (values ('START_REQUESTED', 'a driver has taken the request to start it'),
               ('CANCEL_REQUESTED', 'cancelled, or its time is over: the driver is told'),
               ('ABORT_REQUESTED', 'to be aborted: the driver is told')) s (state, meaning)
union all
values ('async', 'EXECUTING', false, 'the driver acknowledged: it runs outside'),
       ('async', 'CLEANUP_REQUESTED', false, 'ended well: what it holds outside is to be released'),
       ('async', 'RETRY_CLEANUP_REQUESTED', false, 'to be released before another attempt'),
       ('async', 'RAISE_CLEANUP_REQUESTED', false, 'to be released before its error is handed on'),
       ('async', 'ABORT_CLEANUP_REQUESTED', false, 'to be released before it is aborted'),
       ('wait', 'WAITING', false, 'waits inside the workspace, no driver is needed'),
       ('child', 'WAITING', false, 'waits until another instance has ended, which it may have started'),
       ('child', 'CANCEL_REQUESTED', false,
        'cancelled, or its time is over: the instance that it has started is aborted'),
       ('child', 'ABORT_REQUESTED', false, 'to be aborted: so is the instance that it has started'),
       ('composite', 'INIT', false, 'its policy retry has it tried again: waits for its next round'),
       ('composite', 'ACTIVE', false, 'something in it has yet to end'),
       ('composite', 'FAILED', false,
        'could not be entered, or its deadline was over: waits for retry, ignore, resolve or raise'),
       ('composite', 'ABORTING', false, 'what runs in it is being aborted'),
       ('composite', 'END', true, 'everything in it has ended'),
       ('composite', 'RAISED', true, 'failed for good: its error was handed on'),
       ('composite', 'ABORTED', true, 'stopped for good'),
       ('instance', 'SCHEDULED', false, 'its time has not come: nothing of it has begun'),
       ('instance', 'RUNNING', false, 'its processes may move'),
       ('instance', 'SUSPENDED', false,
        'held by an operator: what it has begun goes on, nothing else of it is handed out'),
       ('instance', 'ABORTING', false, 'its processes are being aborted'),
       ('instance', 'END', true, 'ended; result success or warning'),
       ('instance', 'ABORTED', true, 'stopped for good; result aborted or error');

-- which limits of a policy timeout hold in a state
update wf.machine_state s set limits = l.limits
  from (values ('INIT', '{wait,deadline}'::text[]),
               ('START_REQUESTED', '{inactivity,runtime,deadline}'),
               ('EXECUTING', '{inactivity,runtime,deadline}'),
               ('WAITING', '{inactivity,runtime,deadline}'),
               ('CANCEL_REQUESTED', '{deadline}'),
               ('RETRY_CLEANUP_REQUESTED', '{deadline}'),
               ('FAILED', '{deadline}')) l (state, limits)
 where s.state = l.state and s.machine in ('sync', 'async', 'wait', 'child');
update wf.machine_state s set limits = '{deadline}' where s.machine = 'composite' and s.state in ('INIT', 'ACTIVE');

-- what every leaf has in common
insert into wf.transition (machine, from_state, event, to_state, actor, recorded, asks, meaning)
select m, '', 'enable', 'INIT', 'W', false, 'start', 'everything before it has ended'
  from unnest(array['sync', 'async', 'wait', 'child']) m;

insert into wf.transition (machine, from_state, event, to_state, actor, recorded, meaning)
select m, 'INIT', 'enable', 'INIT', 'W', false, 'its arguments were evaluated again'
  from unnest(array['sync', 'async', 'wait', 'child']) m;

-- the next attempt of a task: its policy begins it when it is due, an operator before that
insert into wf.transition (machine, from_state, event, to_state, actor, recorded, asks, meaning)
select m, 'INIT', t.*
  from unnest(array['sync', 'async', 'wait', 'child']) m,
       (values ('due', 'INIT', 'T', false, 'start',
                'the time of its next attempt has come; a task that has only to be sent is ready without a move'),
               ('retry', 'INIT', 'O', true, 'start', 'its next attempt begins before its time')) t;

insert into wf.transition (machine, from_state, event, to_state, actor, ends_request, frees_slot, asks, meaning)
select m, t.*
  from unnest(array['sync', 'async', 'wait', 'child']) m,
       (values ('INIT', 'fail', 'FAILED', 'W', false, true, null, 'its arguments could not be evaluated'),
               ('INIT', 'cascade', 'END', 'W', false, true, null,
                'it reads what was skipped with all that reads it'),
               ('INIT', 'timeout', 'FAILED', 'T', false, true, null, 'it waited too long to be started'),
               ('INIT', 'cancel', 'FAILED', 'O', false, true, null, 'cancelled before it was started'),
               ('INIT', 'abort', 'ABORTED', 'W', false, true, null, 'its instance is aborted')) t;

insert into wf.transition (machine, from_state, event, to_state, actor, ends_request, frees_slot, asks, meaning)
select m, t.*
  from unnest(array['sync', 'async']) m,
       (values ('INIT', 'start', 'START_REQUESTED', 'D', false, false, null, 'a driver took it'),
               ('START_REQUESTED', 'release', 'INIT', 'D', true, true, 'start', 'the driver hands it back, not begun'),
               ('START_REQUESTED', 'lost', 'INIT', 'T', true, true, 'start',
                'the driver is gone; it may be started again'),
               ('START_REQUESTED', 'cancel', 'CANCEL_REQUESTED', 'O', false, false, 'cancel', 'an operator cancels it'),
               ('START_REQUESTED', 'timeout', 'CANCEL_REQUESTED', 'T', false, false, 'cancel', 'it took too long'),
               ('START_REQUESTED', 'abort', 'ABORT_REQUESTED', 'W', false, false, 'cancel',
                'its instance is aborted')) t;

-- sync, wait and child: nothing is held outside, so the last moves are direct
insert into wf.transition (machine, from_state, event, to_state, actor, asks, meaning)
select m, t.*
  from unnest(array['sync', 'wait', 'child']) m,
       (values ('FAILED', 'retry', 'INIT', 'OW', 'start', 'another attempt: an operator''s, or that of its policy'),
               ('FAILED', 'ignore', 'END', 'OW', null, 'goes on as if it had ended; its name reads as null'),
               ('FAILED', 'skip', 'END', 'OW', null, 'the same, and what reads its name is skipped, too'),
               ('FAILED', 'resolve', 'END', 'O', null, 'goes on with the output that the operator gave'),
               ('FAILED', 'raise', 'RAISED', 'O', null, 'the error is handed on'),
               ('FAILED', 'abort', 'ABORTED', 'W', null, 'its instance is aborted')) t;

insert into wf.transition (machine, from_state, event, to_state, actor, ends_request, frees_slot, meaning) values
    ('sync', 'START_REQUESTED', 'success', 'END', 'D', true, true, 'done'),
    ('sync', 'START_REQUESTED', 'fail', 'FAILED', 'D', true, true, 'it failed, or its response says so'),
    ('sync', 'START_REQUESTED', 'lost', 'FAILED', 'T', true, true,
     'the driver is gone and it may have been done, or too many in a row are gone: an operator decides'),
    ('sync', 'CANCEL_REQUESTED', 'success', 'END', 'D', true, true, 'it was done before the driver could stop it'),
    ('sync', 'CANCEL_REQUESTED', 'fail', 'FAILED', 'D', true, true, 'stopped'),
    ('sync', 'CANCEL_REQUESTED', 'lost', 'FAILED', 'T', true, true, 'stopped; the driver is gone'),
    ('sync', 'CANCEL_REQUESTED', 'abort', 'ABORT_REQUESTED', 'W', false, false, 'its instance is aborted'),
    ('sync', 'ABORT_REQUESTED', 'success', 'ABORTED', 'D', true, true, 'it was done, but its instance is aborted'),
    ('sync', 'ABORT_REQUESTED', 'fail', 'ABORTED', 'D', true, true, 'stopped'),
    ('sync', 'ABORT_REQUESTED', 'lost', 'ABORTED', 'T', true, true, 'stopped; the driver is gone'),
    ('sync', 'ABORT_REQUESTED', 'halt', 'ABORTED', 'W', true, true, 'its instance is halted: no driver is waited for'),
    ('wait', 'INIT', 'begin', 'WAITING', 'W', false, true, 'it begins to wait'),
    ('wait', 'WAITING', 'success', 'END', 'T', false, false, 'what it waited for has come'),
    ('wait', 'WAITING', 'fail', 'FAILED', 'W', false, false, 'what it waited for failed'),
    ('wait', 'WAITING', 'timeout', 'FAILED', 'T', false, false, 'it waited too long'),
    ('wait', 'WAITING', 'cancel', 'FAILED', 'O', false, false, 'an operator cancels it'),
    ('wait', 'WAITING', 'abort', 'ABORTED', 'W', false, false, 'its instance is aborted'),
    ('child', 'INIT', 'begin', 'WAITING', 'W', false, true, 'it begins to wait'),
    ('child', 'WAITING', 'success', 'END', 'W', false, false, 'the other instance has ended, as it was to'),
    ('child', 'WAITING', 'fail', 'FAILED', 'W', false, false,
     'the other instance could not be started or found, or has ended otherwise'),
    ('child', 'WAITING', 'timeout', 'CANCEL_REQUESTED', 'T', false, false, 'it waited too long'),
    ('child', 'WAITING', 'cancel', 'CANCEL_REQUESTED', 'O', false, false, 'an operator cancels it'),
    ('child', 'WAITING', 'abort', 'ABORT_REQUESTED', 'W', false, false, 'its instance is aborted'),
    ('child', 'CANCEL_REQUESTED', 'cancelled', 'FAILED', 'W', false, false, 'what it has started has stopped'),
    ('child', 'CANCEL_REQUESTED', 'abort', 'ABORT_REQUESTED', 'W', false, false, 'its instance is aborted'),
    ('child', 'ABORT_REQUESTED', 'cancelled', 'ABORTED', 'W', false, false, 'what it has started has stopped'),
    ('child', 'ABORT_REQUESTED', 'halt', 'ABORTED', 'W', false, false,
     'its instance is halted: it does not wait for what it has started');

-- async: what the task holds outside is released before its last move
insert into wf.transition (machine, from_state, event, to_state, actor, ends_request, frees_slot, asks, meaning) values
    ('async', 'START_REQUESTED', 'lost', 'FAILED', 'T', true, true, null,
     'too many drivers in a row are gone: an operator decides'),
    ('async', 'START_REQUESTED', 'ack', 'EXECUTING', 'D', false, false, null,
     'the driver is about to send the start request'),
    ('async', 'EXECUTING', 'started', 'EXECUTING', 'D', true, false, null, 'it runs outside, under its handle'),
    ('async', 'EXECUTING', 'polled', 'EXECUTING', 'D', true, false, null, 'it still runs'),
    ('async', 'EXECUTING', 'success', 'CLEANUP_REQUESTED', 'D', true, true, 'cleanup', 'done outside'),
    ('async', 'EXECUTING', 'fail', 'FAILED', 'D', true, true, null, 'it failed, or its response says so'),
    ('async', 'EXECUTING', 'timeout', 'CANCEL_REQUESTED', 'T', false, false, 'cancel', 'it took too long'),
    ('async', 'EXECUTING', 'lost', 'EXECUTING', 'T', true, false, null, 'the driver is gone; any driver polls on'),
    ('async', 'EXECUTING', 'lost', 'INIT', 'T', true, true, 'start',
     'the driver is gone before there was a handle; it may be started again'),
    ('async', 'EXECUTING', 'lost', 'FAILED', 'T', true, true, null,
     'the driver is gone before there was a handle and it may run, or too many in a row are gone: an operator decides'),
    ('async', 'EXECUTING', 'cancel', 'CANCEL_REQUESTED', 'O', false, false, 'cancel', 'an operator cancels it'),
    ('async', 'EXECUTING', 'abort', 'ABORT_REQUESTED', 'W', false, false, 'cancel', 'its instance is aborted'),
    ('async', 'CANCEL_REQUESTED', 'started', 'CANCEL_REQUESTED', 'D', true, false, 'cancel',
     'it had been started; now it is cancelled'),
    ('async', 'CANCEL_REQUESTED', 'cancelled', 'FAILED', 'D', true, true, null, 'stopped'),
    ('async', 'CANCEL_REQUESTED', 'fail', 'FAILED', 'D', true, true, null, 'it failed before it could be cancelled'),
    ('async', 'CANCEL_REQUESTED', 'fail', 'CANCEL_REQUESTED', 'D', true, false, null,
     'the cancel request failed; any driver repeats it'),
    ('async', 'CANCEL_REQUESTED', 'lost', 'CANCEL_REQUESTED', 'T', true, false, 'cancel',
     'the driver is gone; any driver repeats the cancel request'),
    ('async', 'CANCEL_REQUESTED', 'success', 'CLEANUP_REQUESTED', 'D', true, true, 'cleanup',
     'it ended before it could be cancelled'),
    ('async', 'CANCEL_REQUESTED', 'abort', 'ABORT_REQUESTED', 'W', false, false, 'cancel', 'its instance is aborted'),
    ('async', 'ABORT_REQUESTED', 'started', 'ABORT_REQUESTED', 'D', true, false, 'cancel',
     'it had been started; now it is stopped'),
    ('async', 'ABORT_REQUESTED', 'cancelled', 'ABORT_CLEANUP_REQUESTED', 'D', true, true, 'cleanup', 'stopped'),
    ('async', 'ABORT_REQUESTED', 'success', 'ABORT_CLEANUP_REQUESTED', 'D', true, true, 'cleanup',
     'it ended meanwhile; its instance is aborted all the same'),
    ('async', 'ABORT_REQUESTED', 'fail', 'ABORT_CLEANUP_REQUESTED', 'D', true, true, 'cleanup',
     'it failed meanwhile; its instance is aborted all the same'),
    ('async', 'ABORT_REQUESTED', 'fail', 'ABORT_REQUESTED', 'D', true, false, null,
     'the cancel request failed; any driver repeats it'),
    ('async', 'ABORT_REQUESTED', 'lost', 'ABORT_REQUESTED', 'T', true, false, 'cancel',
     'the driver is gone; any driver repeats the cancel request'),
    ('async', 'FAILED', 'retry', 'RETRY_CLEANUP_REQUESTED', 'OW', false, false, 'cleanup',
     'another attempt, once it is released: an operator''s, or that of its policy'),
    ('async', 'FAILED', 'ignore', 'CLEANUP_REQUESTED', 'OW', false, false, 'cleanup',
     'goes on as if it had ended; its name reads as null'),
    ('async', 'FAILED', 'skip', 'CLEANUP_REQUESTED', 'OW', false, false, 'cleanup',
     'the same, and what reads its name is skipped, too'),
    ('async', 'FAILED', 'resolve', 'CLEANUP_REQUESTED', 'O', false, false, 'cleanup',
     'goes on with the output that the operator gave'),
    ('async', 'FAILED', 'raise', 'RAISE_CLEANUP_REQUESTED', 'O', false, false, 'cleanup',
     'the error is handed on, once it is released'),
    ('async', 'FAILED', 'abort', 'ABORT_CLEANUP_REQUESTED', 'W', false, false, 'cleanup', 'its instance is aborted'),
    ('async', 'CLEANUP_REQUESTED', 'cleaned', 'END', 'D', true, false, null, 'released'),
    ('async', 'CLEANUP_REQUESTED', 'abort', 'ABORT_CLEANUP_REQUESTED', 'W', false, false, 'cleanup',
     'its instance is aborted'),
    ('async', 'RETRY_CLEANUP_REQUESTED', 'cleaned', 'INIT', 'D', true, false, 'start', 'released; the next attempt'),
    ('async', 'RETRY_CLEANUP_REQUESTED', 'abort', 'ABORT_CLEANUP_REQUESTED', 'W', false, false, 'cleanup',
     'its instance is aborted'),
    ('async', 'RAISE_CLEANUP_REQUESTED', 'cleaned', 'RAISED', 'D', true, false, null,
     'released; its error was handed on'),
    ('async', 'RAISE_CLEANUP_REQUESTED', 'abort', 'ABORT_CLEANUP_REQUESTED', 'W', false, false, 'cleanup',
     'its instance is aborted'),
    ('async', 'ABORT_REQUESTED', 'halt', 'ABORTED', 'W', true, true, null,
     'its instance is halted: no driver is waited for'),
    ('async', 'ABORT_CLEANUP_REQUESTED', 'halt', 'ABORTED', 'W', true, false, null,
     'its instance is halted: it is not released'),
    ('async', 'ABORT_CLEANUP_REQUESTED', 'cleaned', 'ABORTED', 'D', true, false, null, 'released; stopped');

insert into wf.transition (machine, from_state, event, to_state, actor, ends_request, asks, meaning)
select 'async', s, t.event, s, t.actor, true, t.asks, t.meaning
  from unnest(array['CLEANUP_REQUESTED', 'RETRY_CLEANUP_REQUESTED', 'RAISE_CLEANUP_REQUESTED',
                    'ABORT_CLEANUP_REQUESTED']) s,
       (values ('fail', 'D', null, 'the cleanup request failed; any driver repeats it'),
               ('lost', 'T', 'cleanup', 'the driver is gone; any driver repeats the cleanup request'))
       t (event, actor, asks, meaning);

insert into wf.transition (machine, from_state, event, to_state, actor, recorded, meaning) values
    ('composite', '', 'enter', 'ACTIVE', 'W', false, 'everything before it has ended'),
    ('composite', 'ACTIVE', 'count', 'ACTIVE', 'W', false, 'something in it has ended'),
    ('composite', 'ACTIVE', 'refill', 'ACTIVE', 'W', false,
     'something in it has ended; the next elements, or its finally, begin'),
    ('composite', 'ACTIVE', 'end', 'END', 'W', true, 'everything in it has ended'),
    ('composite', 'ACTIVE', 'checkpoint', 'END', 'W', true, 'the instance can be replayed from here'),
    ('composite', 'ACTIVE', 'return', 'END', 'W', true, 'a return in it ends the call around it'),
    ('composite', 'ACTIVE', 'fail', 'FAILED', 'W', true, 'what it needs could not be evaluated'),
    ('composite', 'ACTIVE', 'cascade', 'END', 'W', true, 'a call: it reads what was skipped with all that reads it'),
    ('composite', 'ACTIVE', 'abort', 'ABORTING', 'W', true, 'its instance is aborted'),
    ('composite', 'ACTIVE', 'win', 'ABORTING', 'W', true, 'a branch of the race has ended: the others are stopped'),
    ('composite', 'ACTIVE', 'timeout', 'ABORTING', 'T', true, 'its deadline is over: what runs in it is stopped first'),
    ('composite', 'ACTIVE', 'enter', 'ACTIVE', 'W', false, 'entered again: its children begin'),
    ('composite', 'ACTIVE', 'retry', 'INIT', 'W', true,
     'its policy has it tried again after an error in it: what ran in it has stopped'),
    ('composite', 'INIT', 'due', 'ACTIVE', 'T', true, 'the time of its next round has come: entered again'),
    ('composite', 'INIT', 'retry', 'ACTIVE', 'O', true, 'its next round begins before its time: entered again'),
    ('composite', 'INIT', 'cancel', 'FAILED', 'O', true, 'cancelled before its next round'),
    ('composite', 'INIT', 'timeout', 'FAILED', 'T', true, 'its deadline is over before its next round'),
    ('composite', 'INIT', 'abort', 'ABORTED', 'W', true, 'its instance is aborted'),
    ('composite', 'FAILED', 'retry', 'ACTIVE', 'O', true, 'entered again'),
    ('composite', 'FAILED', 'retry', 'INIT', 'W', true, 'its policy has it tried again: it could not be entered'),
    ('composite', 'FAILED', 'ignore', 'END', 'OW', true, 'goes on as if it had ended; its names read as null'),
    ('composite', 'FAILED', 'skip', 'END', 'OW', true, 'the same, and what reads its names is skipped, too'),
    ('composite', 'FAILED', 'resolve', 'END', 'O', true, 'goes on with the output that the operator gave'),
    ('composite', 'FAILED', 'raise', 'RAISED', 'O', true, 'the error is handed on'),
    ('composite', 'FAILED', 'undo', 'ABORTING', 'OW', true,
     'it is given up: what was noted in it is undone first'),
    ('composite', 'FAILED', 'abort', 'ABORTED', 'W', true, 'its instance is aborted'),
    ('composite', 'ABORTING', 'count', 'ABORTING', 'W', false, 'something in it has stopped'),
    ('composite', 'ABORTING', 'refill', 'ABORTING', 'W', false, 'something in it has stopped; its finally begins'),
    ('composite', 'ABORTING', 'undo', 'ABORTING', 'W', true,
     'everything in it has stopped: what was noted last is undone'),
    ('composite', 'ABORTING', 'raise', 'RAISED', 'W', true, 'the error is handed on: nothing of it is undone'),
    ('composite', 'ABORTING', 'aborted', 'ABORTED', 'W', true, 'everything in it has stopped'),
    ('composite', 'ABORTING', 'end', 'END', 'W', true,
     'the race was won, and the other branches have stopped and are undone'),
    ('composite', 'ABORTING', 'fail', 'FAILED', 'W', true, 'everything in it has stopped, since its deadline was over'),
    ('instance', '', 'start', 'RUNNING', 'O', true, 'started'),
    ('instance', '', 'schedule', 'SCHEDULED', 'O', true, 'started for a later time'),
    ('instance', 'SCHEDULED', 'begin', 'RUNNING', 'T', true, 'its time has come'),
    ('instance', 'SCHEDULED', 'expire', 'ABORTED', 'T', true, 'it could not begin in time'),
    ('instance', 'SCHEDULED', 'abort', 'ABORTED', 'O', true, 'an operator aborts it before its time'),
    ('instance', 'SCHEDULED', 'halt', 'ABORTED', 'O', true, 'an operator halts it before its time'),
    ('instance', 'RUNNING', 'warn', 'RUNNING', 'W', true,
     'something in it was ignored: its result will be warning at best'),
    ('instance', 'RUNNING', 'end', 'END', 'W', true, 'its tree has ended'),
    ('instance', 'RUNNING', 'abort', 'ABORTING', 'O', true, 'an operator aborts it, or an error found no handler'),
    ('instance', 'RUNNING', 'suspend', 'SUSPENDED', 'O', true, 'an operator holds it'),
    ('instance', 'SUSPENDED', 'resume', 'RUNNING', 'O', true, 'an operator lets it go on'),
    ('instance', 'SUSPENDED', 'warn', 'SUSPENDED', 'W', true,
     'something in it was ignored: its result will be warning at best'),
    ('instance', 'SUSPENDED', 'end', 'END', 'W', true, 'its tree has ended'),
    ('instance', 'SUSPENDED', 'abort', 'ABORTING', 'O', true, 'an operator aborts it, or an error found no handler'),
    ('instance', 'RUNNING', 'halt', 'ABORTING', 'O', true, 'an operator halts it'),
    ('instance', 'SUSPENDED', 'halt', 'ABORTING', 'O', true, 'an operator halts it'),
    ('instance', 'ABORTING', 'halt', 'ABORTING', 'O', true, 'an operator halts it'),
    ('instance', 'ABORTING', 'raise', 'ABORTING', 'W', true,
     'an error in a finally was handed on: it ends the instance'),
    ('instance', 'ABORTING', 'aborted', 'ABORTED', 'W', true, 'everything in it has stopped');
