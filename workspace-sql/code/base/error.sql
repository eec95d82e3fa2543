-- The errors that the workspace raises, as rows; docs/errors.md is printed from
-- them.

delete from wf.error;
insert into wf.error (code, name, meaning, remedy) values
    ('WF001', 'illegal move',
     'A statement gave a row of process or instance a move that wf.transition does not list.',
     'Use the operator procedures (retry, ignore, resolve, raise, cancel, abort, halt, suspend, resume); the legal '
     'moves are listed in docs/states.md.'),
    ('WF002', 'bad argument',
     'An argument of a procedure is missing, of the wrong type or out of range.',
     'The message names the argument; the hint says which values are allowed.'),
    ('WF003', 'not found',
     'The object that was named does not exist: a workflow, version, instance, process, driver, group, function or '
     'setting.',
     'The hint names the command that lists the objects.'),
    ('WF004', 'refused by state',
     'The action is not possible in the present state.',
     'Look at the state with wf-console show or explain.'),
    ('WF005', 'definition refused',
     'The compiled tree given to wf.install is not what docs/spec.md describes.',
     'Compile the source with wf-console; the message names the place in the tree.'),
    ('WF006', 'wrong isolation level',
     'A procedure that advances instances was called in a transaction that is not READ COMMITTED.',
     'Call it in a READ COMMITTED transaction.'),
    ('WF007', 'key reused',
     'start was given a key that is known with another payload.',
     'Use a new key, or the same parameters, priority, tags and version.'),
    ('WF008', 'not allowed',
     'The login lacks a right: to install or upgrade the workspace, to start a workflow, to give an instance so high a '
     'priority, to serve a queue or a capability with a driver, to run or install the SQL tasks of a workflow, or to '
     'change a role in one.',
     'Follow the hint, or ask somebody who has that right to do it.'),
    ('WF009', 'stale token',
     'The request was taken back in the meantime; nothing of this report was applied.',
     'Nothing: the driver that holds the request now carries on.'),
    ('WF010', 'driver unknown',
     'The driver is not registered, has left, or was given up as lost.',
     'Register again; the driver does so by itself.'),
    ('WF011', 'version mismatch',
     'The workspace and the program, the files or the server do not go together.',
     'Upgrade the older one: the workspace with wf-console workspace upgrade, a program by installing its newer '
     'release.'),
    ('WF012', 'SQL task failed',
     'The response of a SQL task means that it failed, or is too large; its effects are rolled back.',
     'Nothing to do: the driver reports the failure.'),
    ('WF013', 'upgraded meanwhile',
     'The call waited while the workspace was upgraded; nothing of it was done.',
     'Do it again; a driver does so by itself.'),
    ('WF014', 'driver of another login',
     'The driver whose number was given was registered by another login.',
     'A program gives its own number, which wf.register has told it; a driver registers anew by itself.'),
    ('WF015', 'forged mark',
     'wf.register was given a mark that this workspace has not made.',
     'Give the marks as wf.poll gave them, or none; a driver registers without them by itself.'),
    ('WF016', 'quota spent',
     'More or larger instances were to be started than the quotas of the login''s roles allow; none was started.',
     'Start them later: the message says what the quota is and what is left of it. Or have an administrator raise it '
     'with wf-console quota set.'),
    ('WF017', 'start refused',
     'The policy start_if of the workflow does not hold for these parameters; nothing was started.',
     'The message is the workflow''s own: start it with other parameters, or when the condition of the policy holds.'),
    ('WF020', 'expression error',
     'An expression met a value that it cannot work with.',
     'The process that evaluated it is FAILED with kind input: correct the workflow or its data, then retry, '
     'resolve or ignore.'),
    ('WF021', 'limit of expressions',
     'An expression took more steps or bytes than an evaluation may, or more than one of its functions can bear.',
     'The process that evaluated it is FAILED with kind limit: let a task do the work, give it less data, or '
     'raise the settings expression_steps and expression_bytes; then retry, resolve or ignore.');
