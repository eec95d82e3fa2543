-- What the errors mean by now, and what to do about them.

update wf.error e
   set meaning = n.meaning, remedy = n.remedy
  from (values
    ('WF001', 'A row of process or instance was to make a move that is no row of wf.transition.', 'Use the operator procedures (retry, ignore, resolve, raise, cancel, abort, suspend, resume); the legal moves are listed in docs/states.md.'),
    ('WF003', 'What was named does not exist: a workflow, version, instance, process, driver, group, function or setting.', 'The hint says what lists what there is.'),
    ('WF007', 'start was given a key that is known with another payload.', 'Use a new key, or the same parameters, priority, tags and version.'),
    ('WF008', 'The login lacks a right that installing or upgrading the workspace takes.', 'Do what the hint says, or have it done by somebody who may.'),
    ('WF011', 'The workspace and the program, the files or the server do not go together.', 'Upgrade the older one: the workspace with wf-console workspace upgrade, a program by that of the newer release.')) n (code, meaning, remedy)
 where e.code = n.code;
