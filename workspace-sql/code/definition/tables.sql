-- The tables of definitions: what a row is, and what its columns mean.

comment on table wf.workflow is 'A workflow by name.';
comment on column wf.workflow.id is 'key';
comment on column wf.workflow.name is 'name, at most 63 bytes';
comment on column wf.workflow.version_id is 'the version that start uses; null if the workflow was removed';

comment on table wf.version is
    'A version of a workflow; its definition never changes. It is kept until its workflow is removed and it has no '
    'instances.';
comment on column wf.version.id is 'key';
comment on column wf.version.workflow_id is 'the workflow';
comment on column wf.version.number is '1, 2, 3 … within the workflow';
comment on column wf.version.checksum is
    'SHA-256 of the compiled workflow and of the task types that it uses, lines and comments left out';
comment on column wf.version.source is 'the text that its author gave; nothing checks that spec was made of it';
comment on column wf.version.spec is 'the compiled workflow with its task types (docs/spec.md)';
comment on column wf.version.params is 'its parameters, as in the compiled workflow';
comment on column wf.version.start_if is
    'its policy start_if: condition and message, expressions that read its parameters; null without the policy';
comment on column wf.version.key is
    'its policy key: reuse (dedupe, singleton or coalesce) and by, an expression that reads its parameters; null '
    'without the policy';
comment on column wf.version.tags is
    'expression of its policy tags, which reads its parameters; null without the policy';
comment on column wf.version.sql_role is
    'the role that its SQL tasks run as, while it is granted to the workflow; set if the login that installed the '
    'version was a member of that role, or by the grant';
comment on column wf.version.installed_at is 'when it was installed';
comment on column wf.version.installed_by is 'who installed it';
comment on column wf.version.removed_xid is
    'null: its workflow was not removed; else only transactions before this one may still start an instance of it; '
    'the greatest number: that transaction is not known yet';

comment on table wf.task_type is 'A declared task type; versions of workflows pin it by its checksum.';
comment on column wf.task_type.id is 'key';
comment on column wf.task_type.name is 'qualified name, such as http.Request';
comment on column wf.task_type.checksum is 'SHA-256 of the declaration, lines and comments left out';
comment on column wf.task_type.machine is 'sync, async, wait or child';
comment on column wf.task_type.wait is
    'for wait and child: the kind of event that ends the wait (sleep, moment, signal, callback, input, child, '
    'instance), or fail';
comment on column wf.task_type.spec is 'the declaration (docs/spec.md)';

comment on table wf.task_request is 'The requests that drivers carry out for tasks of a type.';
comment on column wf.task_request.type_id is 'the task type';
comment on column wf.task_request.request is 'start, poll, cancel or cleanup';
comment on column wf.task_request.transport is 'name of the transport, see wf.transport';
comment on column wf.task_request.args is
    'expression of the transport''s arguments over the task''s arguments and its handle';
comment on column wf.task_request.passes is 'true: the transport gets the task''s arguments unchanged';
comment on column wf.task_request.clauses is
    'expressions handle, success, failure, failure_as, output, progress, and every if it reads arguments (then it '
    'counts instead of the columns below); null if there are none: any response is a success';
comment on column wf.task_request.delay is 'time to the next poll, or to the repetition of a failed cancel or cleanup';
comment on column wf.task_request.backoff is 'factor by which delay grows each time';
comment on column wf.task_request.max_delay is 'greatest delay';
comment on column wf.task_request.attempts is 'how many polls in a row may fail; how often cancel or cleanup is tried';

comment on table wf.transport is
    'The ways in which a driver carries out a request. The driver and the compiler have tables of them, too.';
comment on column wf.transport.name is 'name of the transport, which a request of a task type gives';
comment on column wf.transport.secret_args is 'those of its arguments that may hold a secret';
comment on column wf.transport.code_arg is 'the argument that holds code, which must be a literal; null: none does';
comment on column wf.transport.code_type is 'the type of that argument: sql or shell';
comment on column wf.transport.streams is 'true: what it writes can be read while it runs';
comment on column wf.transport.response is 'the answer to a request that went well, for simulate';
comment on column wf.transport.meaning is 'what it carries out, in words';

comment on table wf.lane is
    'The queue, transports and capabilities that a driver must serve to take a task. Each combination has one row.';
comment on column wf.lane.id is 'key: follows from queue, needs and requires, see wf._name_number';
comment on column wf.lane.queue is 'name of the queue; the usual one is default';
comment on column wf.lane.needs is 'transports that the task''s requests use, sorted';
comment on column wf.lane.requires is 'capabilities that the task requires, sorted';
comment on column wf.lane.fixed is
    'true: a node names the lane, and it stays; a lane that only expressions name is removed when no task waits or '
    'runs in it';
comment on column wf.lane.unused_xid is
    'no task waited or ran in the lane when this transaction looked; the lane is removed when all transactions of that '
    'time have ended';

comment on table wf.rate is 'A rate: at most max of its tasks begin in any stretch of time of the length per.';
comment on column wf.rate.id is 'key: follows from the name, see wf._name_number';
comment on column wf.rate.name is 'name, global in the workspace';
comment on column wf.rate.max is 'how many tasks; the last task that began to wait for the rate has set this';
comment on column wf.rate.per is 'in how much time';
comment on table wf.concurrency_group is 'A concurrency group: at most max of its tasks are with drivers at once.';
comment on column wf.concurrency_group.id is 'key: follows from the name, see wf._name_number';
comment on column wf.concurrency_group.name is 'name, global in the workspace';
comment on column wf.concurrency_group.max is 'places; null means no limit yet';

comment on table wf.node is 'A node of a version''s tree. The root has id 1 and kind call.';
comment on column wf.node.version_id is 'the version';
comment on column wf.node.id is 'number within the version, depth first, parents before children';
comment on column wf.node.parent_id is 'the node around it';
comment on column wf.node.ordinal is
    'place among its siblings, from 1; for if: 1 then, 2 else; for try: 1 its body, then its catches';
comment on column wf.node.kind is
    'its form, see wf.form; a leaf has the machine of its task type, a workflow is a call';
comment on column wf.node.line is 'line in the source';
comment on column wf.node.label is
    'text for people: the task type, the workflow, or the kind; with the name that it binds';
comment on column wf.node.next_id is 'in a seq or call: the next sibling';
comment on column wf.node.children is 'how many children it has';
comment on column wf.node.bind is
    'the name that its output binds in its scope; the empty string: the column names has the names';
comment on column wf.node.names is 'atomic: the names that the fields of its output bind';
comment on column wf.node.output_max is 'leaf: how many bytes its output may have, if its policy says so and is fixed';
comment on column wf.node.input is
    'expression: a leaf''s or call''s arguments (an object), a forall''s list, an if''s condition, the value of let '
    'or return, the first state of a while, a fold''s first state and elements (a list of two)';
comment on column wf.node.input_fixed is 'true: input reads nothing, and install has evaluated it: it is the value';
comment on column wf.node.reads is 'names that input and policy read, with the depth of the scope in which each lives';
comment on column wf.node.item is
    'forall, fold: name of the element, null if nothing in the body reads it; catch: name of the error';
comment on column wf.node.item_index is 'forall: name of the index; null if nothing in the body reads it';
comment on column wf.node.max is
    'forall: expression of how many elements may be open at once; while, repeat: of how many rounds there may be';
comment on column wf.node.collect is 'forall: list of {"as", "value"}';
comment on column wf.node.collect_reads is
    'forall: names that collect reads, with depths; loop: names that condition and yield read';
comment on column wf.node.type_id is 'leaf: its task type';
comment on column wf.node.request is
    'leaf: arguments of the start request''s transport, if install could evaluate them';
comment on column wf.node.transport is 'leaf: transport of the start request';
comment on column wf.node.task_type is 'leaf: name of its task type';
comment on column wf.node.plain is 'leaf, true: it is sync, and any response is a success without output';
comment on column wf.node.idempotent is 'leaf, true: it may be repeated if its driver is lost';
comment on column wf.node.lane_id is
    'leaf: its lane; if queue is an expression, that of the queue default; if requires is one, that of no capabilities';
comment on column wf.node.rank is 'leaf: minus its priority, if given and fixed';
comment on column wf.node.group_id is 'leaf: its concurrency group, if fixed';
comment on column wf.node.group_max is 'leaf: the max that it gives its group, if fixed';
comment on column wf.node.policy is
    'policies that are not fixed: one expression that gives an object; its keys are those of wf._policy_value, retry '
    'and timeout';
comment on column wf.node.title is 'title, if fixed';
comment on column wf.node.secrets is
    'leaf: for each of its requests, the places in its arguments where the driver puts secrets, and the names of '
    'these (docs/spec.md); null if the requests have no secrets';
comment on column wf.node.picks is 'leaf that is sync: its output is these fields of any response, under their names';
comment on column wf.node.machine is 'the machine of its form';
comment on column wf.node.scope is
    'the scope that its processes open: none; own (which does not see the scopes around it); child (inside the scopes '
    'around it, as the form of its parent wants)';
comment on column wf.node.begins is 'which of its children begin, see wf.form';
comment on column wf.node.ends is 'when it ends, see wf.form';
comment on column wf.node.collects is 'true: when it ends, the form around it collects from its scope';
comment on column wf.node.retry is
    'the values of its policy retry, see _retry_values in code/definition/retry.sql; {}: they are in '
    'process.policy; null: it has none';
comment on column wf.node.retry_when is 'the condition of its retry, which sees the error as error';
comment on column wf.node.handles is
    'how it takes errors of the nodes in it: wf.form.child_error of its form; retries: its policy retry decides; null: '
    'it takes none';
comment on column wf.node.timeout is
    'the limits of its policy timeout in seconds; an empty object if they are expressions; null if the node has no '
    'such policy';
comment on column wf.node.timed is
    'which limits those are, a bit for each (wf._limit): 1 wait, 2 inactivity, 4 runtime, 8 deadline; all of them if '
    'they are expressions; 16: inactivity and runtime are at least two minutes, of a task that has one request; null '
    'if it has no timeout';
comment on column wf.node.handler_id is
    'the nearest node around it that may take its errors (handles); null if no node does';
comment on column wf.node.condition is
    'catch: expression of its when, null if it takes every error; while, repeat: of the condition';
comment on column wf.node.state is 'while, fold: name of the state, null if nothing reads it';
comment on column wf.node.light is
    'true: nothing in it can wait; it is a let, or a form without policies around such nodes; loop: its rounds need no '
    'processes';
comment on column wf.node.in_round is
    'true: the innermost scope around it, or its own, is that of a round of a loop, or of an undo';
comment on column wf.node.yield is 'loop: expression of what a round yields; its name is bind';
comment on column wf.node.tolerate is 'forall: expression of its tolerate';
comment on column wf.node.on_failure is
    'what happens to an error that no handler takes: pause, skip, skip_all (skips every reader, too), fail, fail_undo, '
    'fail_late or fail_late_undo; the nearest policy on_failure counts: of the node, of the nodes around it, of its '
    'task type; null: pause';
comment on column wf.node.on_failure_own is
    'true: it is a task on which on_failure(pause) or (skip) is written, which comes before the handlers around it';
comment on column wf.node.late is 'true: a node of its workflow has on_failure(fail_late) or (fail_late_undo)';
comment on column wf.node.finally_id is 'try: the node of its finally; null if it has none';
comment on column wf.node.undo_id is 'the node of its policy undo; null if it has none';
comment on column wf.node.noted is
    'true: when its process ends, wf.undo_note is looked at: it has a policy undo, or is an undo, or is the root of a '
    'tree with undos; else null';
comment on column wf.node.most is
    'forall, loop, block with a policy retry: the most processes that one element or round comes to; root: that the '
    'tree comes to. Elements of foralls inside it, and other rounds of loops and blocks inside it, are not counted. '
    'Null if the version has none of these';
comment on column wf.node.most_live is 'as most: how many of them may be under way at a time';
comment on column wf.node.rate_id is 'policy rate: the rate, if its name is constant';
comment on column wf.node.rate is 'policy rate: those of name, max and per that are constant';
comment on column wf.node.weight is
    'its share in the progress of an instance. A leaf has the weight of its policy, a composite the sum of its '
    'children''s weights. If one of several branches is chosen, the heaviest counts. Of a try only the body counts, of '
    'a forall one element';
comment on column wf.node.wide is
    'true: its version has a forall, a loop, a block with a policy retry or more than 200 nodes, so an instance may '
    'have many processes';
comment on column wf.node.in_dag is 'true: it is a step of a dag';

comment on table wf.edge is
    'A step of a dag, and a step that it comes after. A step begins when all that it comes after have ended.';
comment on column wf.edge.version_id is 'the version';
comment on column wf.edge.node_id is 'the step';
comment on column wf.edge.after_id is 'the step that it comes after, in the same dag';
