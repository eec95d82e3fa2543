-- The kinds of errors, as rows: docs/errors.md is printed from them. A workflow may also
-- make kinds of its own, with wf.Fail or in a task type.

create or replace view wf.error_kind_v with (security_barrier = true) as
select k.kind, k.made_by, k.happened, k.retried, k.meaning, k.may_retry
  from (values
       ('http', 'driver', 'unknown', true,
        'the service could not be reached, or it answered with a status that the task does not accept',
        'Yes, when the service is well again. After a status of class 5xx, or a connection that broke off, the service '
        'may have done what it was asked: look there first if the method is POST or PATCH.'),
       ('exit', 'driver', 'yes', true,
        'a program or a command has ended with another exit code than 0',
        'Yes, if the program may run twice. Its standard error says why it failed: wf-console log prints it.'),
       ('ssh', 'driver', 'no', true,
        'the host could not be reached, or it refused the login; the command has not begun',
        'Yes, when the host can be reached.'),
       ('exec', 'driver', 'no', true,
        'the program could not be started on the driver''s host',
        'Yes, when the program is there: the message says what is missing.'),
       ('sql', 'driver', 'no', true,
        'the server refused the statement, or the driver got no connection for it; nothing of it is kept',
        'Yes, when the cause is gone: the message and the SQLSTATE in the detail are the server''s.'),
       ('rejected', 'driver', 'no', true,
        'the request is not allowed: the address is not among those of http.allow, or the login that started the '
        'instance may not start another workflow',
        'Yes, when the driver''s configuration or the grant allows it.'),
       ('secret', 'driver', 'no', true,
        'the driver does not have the secret, or its secrets.grants do not let this task use it',
        'Yes, when the driver has the secret and a line that grants it (then send the driver a HUP).'),
       ('output', 'engine', 'yes', false,
        'what came back cannot be used: it is too large, no text, no JSON, or not of the type that was declared',
        'Only if doing it again does no harm: it has been done (only a SQL task is rolled back). Otherwise resolve it '
        'with an output of yours.'),
       ('input', 'engine', 'no', false,
        'an argument, a condition or a policy could not be evaluated, or no case of a switch fits',
        'Yes, if data outside of the instance were the cause. If the workflow is wrong, abort the instance and install '
        'a better version: an instance keeps the version with which it was started.'),
       ('failed', 'workflow', 'yes', true,
        'the response says that it failed, or the workflow has called wf.Fail',
        'The message is the workflow''s own: ask its author.'),
       ('timeout', 'engine', 'unknown', true,
        'no answer came in time, or the limit of a policy timeout is over',
        'Only after a look at the other side: it may have happened. Retry if it has not, resolve if it has.'),
       ('lost', 'engine', 'unknown', false,
        'the driver died while it had the request, or a job is gone without an exit code',
        'Only after a look at the other side: it may have happened. Retry if it has not, resolve if it has.'),
       ('cancelled', 'operator', 'unknown', false,
        'somebody has cancelled the task; the history says who',
        'Yes, if what was done of it may be done again: it was stopped on the way.'),
       ('limit', 'engine', 'no', true,
        'something would be larger than it may be: an expression, the instance, a loop, a quota. The message names the '
        'setting',
        'Yes, after the setting was raised or there is less data. A task whose output has no room in instance_bytes '
        'has been done: resolve it with a smaller output.'),
       ('child', 'engine', 'yes', true,
        'the instance that it has started, or waited for, has ended in another way than it accepts',
        'Yes: it starts another instance, unless it gives a key. The cause of the error is that of the instance.'),
       ('deadlock', 'engine', 'no', true,
        'the instance that it would wait for waits for this one, or is this one',
        'No: raise it, or abort one of the two instances.'),
       ('engine', 'engine', 'unknown', false,
        'the engine could not move the process on, three times, or could not report what happened',
        'Yes, when the cause that the message gives is gone. No catch and no policy retry takes this kind. If you find '
        'no cause, tell us.'),
       ('several', 'engine', 'unknown', true,
        'several elements of a forall, or branches of a race, have failed. It is never the kind of a task: it stands '
        'in the cause of an error, which lists the first 100',
        'Each of them has a kind of its own.'),
       ('skipped', 'operator', 'no', true,
        'somebody has ignored, with --cascade, what this would have read. It has ended and waits for nobody',
        'There is nothing to retry.'),
       ('aborted', 'operator', 'unknown', true,
        'the instance was aborted. A finally sees this kind, and so does the cause of an error of kind child',
        'There is nothing to retry: start another instance.')
       ) k (kind, made_by, happened, retried, meaning, may_retry);
comment on view wf.error_kind_v is
    'The kinds of errors that the engine and its drivers make. Workflows may make kinds of their own.';
comment on column wf.error_kind_v.kind is 'the member kind of an error';
comment on column wf.error_kind_v.made_by is 'who makes it, for the most part: driver, engine, operator or workflow';
comment on column wf.error_kind_v.happened is
    'whether something has happened outside: no, yes or unknown. What a SQL task has done is always rolled back';
comment on column wf.error_kind_v.retried is
    'whether a policy retry that names no kinds tries it again. It also retries lost if the task is idempotent';
comment on column wf.error_kind_v.meaning is 'what it means';
comment on column wf.error_kind_v.may_retry is 'whether an operator may retry it, and what to do otherwise';
