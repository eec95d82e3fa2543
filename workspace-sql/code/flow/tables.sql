-- The tables of instances and their processes: what a row is, and what its columns mean.

comment on table wf.machine_state is 'The states of each machine.';
comment on column wf.machine_state.machine is 'sync, async, wait, child (leaves), composite, instance';
comment on column wf.machine_state.state is 'name of the state';
comment on column wf.machine_state.terminal is 'no move leads out of it';
comment on column wf.machine_state.limits is 'which limits of a policy timeout hold in it';
comment on column wf.machine_state.meaning is 'the state in words';

comment on table wf.transition is 'The legal moves. from_state is empty for the first move.';
comment on column wf.transition.machine is 'the machine: sync, async, wait, child, composite, instance';
comment on column wf.transition.from_state is 'state before; empty when the row is created';
comment on column wf.transition.event is 'what happened';
comment on column wf.transition.to_state is 'state after';
comment on column wf.transition.actor is
    'the actors that may cause it: D driver, O operator, W workspace, T timer, OW an operator or the workspace';
comment on column wf.transition.recorded is
    'false: the history leaves the move out, such as a first move (see process.began_at), or a parent that counts';
comment on column wf.transition.ends_request is 'true: the request that a driver holds, if any, is over';
comment on column wf.transition.frees_slot is
    'true: the process gives up its place in the queue or in a concurrency group';
comment on column wf.transition.asks is
    'the request that a driver is to do next (start, cancel, cleanup), if the task type has this request';
comment on column wf.transition.meaning is 'the move in words';
comment on column wf.transition.steps is
    'the steps that may follow from the move, as bits: see _step in code/flow/move.sql, which sets them';

comment on table wf.form is
    'The process forms: how a node of each kind behaves. install copies a row into each node of that kind.';
comment on column wf.form.kind is 'name of the form; a task has the name of its machine';
comment on column wf.form.machine is 'the machine of its processes';
comment on column wf.form.scope is
    'which names it has of its own: none; own (it sees no other names); child (each child opens a scope inside the '
    'scopes that the form sees; if the form ends with its first child, that child''s names are then bound around it)';
comment on column wf.form.begins is
    'which children begin when it is entered: nothing, first, body (the first; the others wait for its error or its '
    'end), all, free (the steps that come after no other step; each other step begins when the steps before it have '
    'ended, see wf.edge), chosen (the one that wf._chosen names), window (as many elements as may run at once), round '
    '(the first round, if there is one)';
comment on column wf.form.ends is
    'when it ends: outside (its machine says when), last (with the last child of the chain), all (when no child is '
    'left), while (its condition is tested before each round, and is false), until (its condition is tested after each '
    'round, and is true), first (one child has ended well and the others have been stopped), value (at once; its value '
    'is its output), checkpoint (at once, by a move of its own), return (as value; the forms around it end, too, up to '
    'and including the one with a scope of its own)';
comment on column wf.form.child_error is
    'what becomes of an error of a child: passes (the handlers around the form are asked; if none takes the error, the '
    'child waits for an operator); takes (if the error comes from the first child, the form asks the others that are '
    'catches); counts (a form with tolerate counts the child as ended); leaves (the child leaves the form, as long as '
    'another child may end well); null: the form has no children';
comment on column wf.form.input is 'the key of a compiled node that holds its input';
comment on column wf.form.meaning is 'the form in words';

comment on table wf.instance is 'A started workflow.';
comment on column wf.instance.id is 'number of the instance';
comment on column wf.instance.workflow_id is 'the workflow';
comment on column wf.instance.version_id is 'the version that it runs, for good';
comment on column wf.instance.was is 'last move: state before';
comment on column wf.instance.event is 'last move: event';
comment on column wf.instance.state is 'last move: state after';
comment on column wf.instance.at is 'last move: when';
comment on column wf.instance.key is 'idempotency key given to start';
comment on column wf.instance.params is 'its parameters';
comment on column wf.instance.priority is 'priority of its tasks, unless they have their own; higher first';
comment on column wf.instance.tags is 'tags given to start, and those of its workflow';
comment on column wf.instance.trace_id is
    'the trace that its requests belong to; it also begins their Idempotency-Key';
comment on column wf.instance.warned is 'something in it was ignored: its result will be no better than warning';
comment on column wf.instance.result is 'success, warning, error or aborted, once it has ended';
comment on column wf.instance.output is 'the value that the instance has returned';
comment on column wf.instance.error is 'the error that ended it';
comment on column wf.instance.started_at is 'when it began; SCHEDULED: when start was called';
comment on column wf.instance.started_by is
    'the login that started it; if another instance started it, the login that started the topmost instance';
comment on column wf.instance.ended_at is 'when it ended';
comment on column wf.instance.parent_id is 'the instance that started it by a task wf.Start; null: no instance';
comment on column wf.instance.parent_process_id is 'the process of that task wf.Start';
comment on column wf.instance.depth is 'how many instances are above it';
comment on column wf.instance.login is
    'the login (oid) whose grants and quotas count for what it starts; null: the instance is older than schema version '
    '74, and started_by names the login';
comment on column wf.instance.schedule_id is 'the schedule that started it; null: no schedule';
comment on column wf.instance.scheduled_at is 'the time for which it was started; null: no time was given';
comment on column wf.instance.expires_at is 'the time before which it has to begin; null: no limit';

comment on table wf.instance_key is 'Idempotency keys; they outlive their instances.';
comment on column wf.instance_key.workflow_id is 'the workflow';
comment on column wf.instance_key.key is 'the key given to start';
comment on column wf.instance_key.instance_id is 'the instance that the key started; if several, the last one';
comment on column wf.instance_key.digest is
    'SHA-256 of the payload of the last accepted start; the policy key says what a start with another payload means';
comment on column wf.instance_key.next_id is
    'policy key(coalesce): the successor, which begins, or has begun, when that instance has ended; null: no successor';

comment on table wf.process is
    'A node of an instance''s tree that has begun. (was, event, state) is its last move, a row of wf.transition.';
comment on column wf.process.instance_id is 'the instance';
comment on column wf.process.id is 'number of the process, unique in the workspace';
comment on column wf.process.parent_id is 'the process around it';
comment on column wf.process.version_id is 'the version, copied from the instance';
comment on column wf.process.group_id is 'leaf: its concurrency group';
comment on column wf.process.lane_id is 'leaf: its lane';
comment on column wf.process.at is 'last move: when';
comment on column wf.process.began_at is 'when it was enabled';
comment on column wf.process.node_id is 'the node of the version''s tree';
comment on column wf.process.next_id is 'copied from the node: the node that begins when it ends';
comment on column wf.process.open is 'composite: children that have not ended';
comment on column wf.process.todo is
    'forall: elements that have not begun; loop: rounds that may still begin; try: 1 if it has a finally that has not '
    'begun';
comment on column wf.process.fill is 'forall, loop: how many elements or rounds the last refill began';
comment on column wf.process.total is
    'forall: number of elements; loop: how many rounds it may have at most; null for all others';
comment on column wf.process.index is 'child of a forall or loop: its element''s or round''s index, from 0';
comment on column wf.process.attempt is '1 for the first attempt';
comment on column wf.process.rank is 'minus its priority; handed down';
comment on column wf.process.collects is 'true: when it ends, the forall around it collects from its scope';
comment on column wf.process.plain is 'copied from the node: any response is a success';
comment on column wf.process.kind is 'copied from the node';
comment on column wf.process.was is 'last move: state before';
comment on column wf.process.event is 'last move: event';
comment on column wf.process.state is 'last move: state after';
comment on column wf.process.scopes is 'the processes that opened the scopes that it sees, outermost first';
comment on column wf.process.bind is
    'copied from the node: the name that its output binds; the empty string: it binds several names';
comment on column wf.process.token is
    'token of its last start request; null if the request was lost with its driver, or the instance was halted since';
comment on column wf.process.input is 'the value of its node''s input; null if that input is fixed';
comment on column wf.process.policy is 'the values of its node''s policy expressions';
comment on column wf.process.handle is 'async: the handle under which it runs outside';
comment on column wf.process.output is 'its result; loop: the state that its last round has yielded';
comment on column wf.process.error is
    'why it failed: {kind, message, detail}; kept until its next attempt begins';
comment on column wf.process.machine is 'copied from the node: the machine whose moves it makes';
comment on column wf.process.chosen is
    'if, switch: ordinal of the child that begins, greater than that of any child if none begins; race: ordinal of '
    'the branch that has won';
comment on column wf.process.retry_from is
    'with a policy retry: the attempt with which its present budget began';
comment on column wf.process.rate_id is 'task with a policy rate: the rate';
comment on column wf.process.timed is 'copied from the node: which limits it has, see node';
comment on column wf.process.held is
    'forall: how many processes it may have under way at a time; they count in extent.live until it ends';
comment on column wf.process.reserved is
    'loop: how many rounds it has reserved in extent.processes; null for all others';
comment on column wf.process.in_round is 'copied from the node: it is in a round of a loop or in an undo, see _place';
comment on column wf.process.spare is
    'race: how many more branches may fail; forall with tolerate: how many more elements may fail, -1 if one too many '
    'has failed; null for all others';
comment on column wf.process.warned is
    'composite with a policy retry, or with a handler around it that may take its error: something in it was '
    'tolerated, skipped or ignored';
comment on column wf.process.late is 'copied from the node: its instance may end late, see code/flow/failure.sql';
comment on column wf.process.in_dag is 'copied from the node: it is a step of a dag';
comment on column wf.process.noted is
    'copied from the node: when it ends, wf.undo_note may change; null if the process was ignored';
comment on column wf.process.progress is
    'async task: the progress that the polls of this attempt have reported, from 0 to 1; null before the first report';
comment on column wf.process.wide is 'copied from the node: an index finds it by its parent; null for the root';

comment on table wf.extent is
    'How large an instance with foralls, loops or large values may have become, see code/flow/limit.sql.';
comment on column wf.extent.instance_id is 'the instance';
comment on column wf.extent.processes is
    'the greatest number of processes, ended or not, that the elements of all its foralls and the reserved rounds of '
    'its loops may have';
comment on column wf.extent.live is 'how many of these processes may be under way now: the sum of process.held';
comment on column wf.extent.bytes is 'the bytes, at most, that its names hold in values of 4 KiB or more';
comment on column wf.extent.quota is
    'how many processes it may have by the quotas that the login that started it had at the start; null: no quota';

comment on table wf.binding is 'The values of names.';
comment on column wf.binding.instance_id is 'the instance';
comment on column wf.binding.scope_id is 'the process that opened the scope';
comment on column wf.binding.name is 'the name';
comment on column wf.binding.value is
    'its value; null: the name was bound in a composite that was entered again, and has not been bound since';
comment on column wf.binding.skipped is
    'the process that was skipped with all that reads its names: the name is null, and a task or call that reads the '
    'name is skipped, too; null: no process was skipped so';

comment on table wf.binding_past is 'The former values of names: those that another value has replaced.';
comment on column wf.binding_past.instance_id is 'the instance';
comment on column wf.binding_past.scope_id is 'the process that opened the scope';
comment on column wf.binding_past.name is 'the name';
comment on column wf.binding_past.until_seq is
    'when the value was replaced, as a number in the order of the history (wf.event.seq): no event has this number; '
    'events with smaller numbers saw this value';
comment on column wf.binding_past.value is 'its value until then';

comment on table wf.forall_item is 'The elements of a forall or fold that have yet to begin, in chunks.';
comment on column wf.forall_item.instance_id is 'the instance';
comment on column wf.forall_item.process_id is 'the forall or fold';
comment on column wf.forall_item.chunk is 'elements chunk·1000 to chunk·1000 + 999';
comment on column wf.forall_item.items is 'the list of these elements';

comment on table wf.forall_result is 'The values that a running forall has collected.';
comment on column wf.forall_result.instance_id is 'the instance';
comment on column wf.forall_result.process_id is 'the forall';
comment on column wf.forall_result.index is 'index of the element';
comment on column wf.forall_result.value is 'list: one value for each collect';

comment on table wf.given_up is
    'The branches of a race and the elements of a forall with tolerate that have failed, until the race or forall '
    'ends.';
comment on column wf.given_up.instance_id is 'the instance';
comment on column wf.given_up.process_id is 'the race or forall';
comment on column wf.given_up.index is 'the ordinal of the branch, or the index of the element';
comment on column wf.given_up.seq is 'the order in which they failed';
comment on column wf.given_up.error is 'the error';
comment on table wf.dag_step is
    'The steps of a dag that have not ended, while the dag is under way. If the dag is torn down, they are deleted.';
comment on column wf.dag_step.instance_id is 'the instance';
comment on column wf.dag_step.process_id is 'the dag';
comment on column wf.dag_step.node_id is 'the node of the step';
comment on column wf.dag_step.awaits is
    'the step that it waits for: of the steps before it that have not ended, the last one in the order of the source; '
    'null: it has begun, or is about to begin';

comment on table wf.pending is
    'Processes that are about to begin: by the end of the transaction, or in a later one if this transaction has begun '
    'enough of them.';
comment on column wf.pending.id is 'key, in order of arrival';
comment on column wf.pending.instance_id is 'the instance';
comment on column wf.pending.parent_id is 'the process in which something begins';
comment on column wf.pending.node_id is 'the node that begins; null: elements of a forall, or a round of a loop';
comment on column wf.pending.first is 'index of the first element, or of the round';
comment on column wf.pending.count is 'how many elements or rounds begin';
comment on column wf.pending.sees_id is 'an undo: the process whose names it sees; null for all others';
comment on column wf.pending.later is 'true: it is left to another transaction, see work of kind begin';

comment on table wf.teardown is
    'A process that is torn down, in portions, with everything in it. Nothing begins in it any more. Each process that '
    'was told to stop is counted in its parent when it ends. When the torn down process itself has ended, its row says '
    'what follows. The teardown of an outer process replaces the teardowns inside it.';
comment on column wf.teardown.instance_id is 'the instance';
comment on column wf.teardown.process_id is 'the process that is torn down';
comment on column wf.teardown.follows is
    'what follows when the process has ended, a row of wf._follows: handled (a catch begins), again (the block around '
    'it waits for its next round), counted or left (the forall or race around it counts it), failed (its deadline is '
    'over: its error looks for a handler), aborted or halted (the instance ends); nothing follows for lost (the '
    'process is a race that was won) and stopped (a finally or undo that an error has left)';
comment on column wf.teardown.node_id is 'the node that took the error; handled: the catch that begins';
comment on column wf.teardown.error is
    'the error that is the reason: the one that the catch took, or the one that ends the instance; null if an '
    'operator aborts';
comment on column wf.teardown.at is 'when it began';
comment on column wf.teardown.next_id is
    'the next portion begins behind the process of this number; null: everything has been told to stop';
comment on column wf.teardown.sure is
    'true: this pass over the instance saw every process that was alive when the pass began, because it did not begin '
    'in the middle of moves. After an unsure pass another pass follows';
comment on column wf.teardown.undo is 'true: the notes below it are undone before it ends, see code/flow/undo.sql';

comment on table wf.undo_note is
    'Processes that have ended well and can be undone. A note goes when its process is undone, or when the process '
    'can no longer be given up, see code/flow/undo.sql.';
comment on column wf.undo_note.instance_id is 'the instance';
comment on column wf.undo_note.id is 'the order in which they were noted';
comment on column wf.undo_note.process_id is
    'the process that has ended well. Earlier notes of processes inside it count no more';
comment on column wf.undo_note.node_id is
    'the node of its undo; null: nothing is to be undone, and the row only says that notes of processes inside it '
    'count no more';
comment on column wf.undo_note.sees_id is 'the process whose names the undo sees';
comment on column wf.undo_note.path is 'the processes around it, outermost first';

comment on table wf.txn is 'Who made the moves of a transaction.';
comment on column wf.txn.xid is 'the transaction';
comment on column wf.txn.login is 'the login (session_user); null: signed before schema version 66';
comment on column wf.txn.actor is
    'the role as which the login acted when it signed: the role of its SET ROLE, or the login itself';
comment on column wf.txn.client is 'address of the client; null for a local socket';
comment on column wf.txn.driver_id is 'the driver, if one reported';
comment on column wf.txn.at is 'when, by the clock of the workspace, which tests may set';
comment on column wf.txn.server_at is 'when, by the clock of the server; null: signed before schema version 66';

comment on table wf.event is
    'The history: every recorded move, in order. Rows are only added, until their instance is purged.';
comment on column wf.event.instance_id is 'the instance';
comment on column wf.event.seq is 'order of the instance''s history';
comment on column wf.event.process_id is 'the process; null for a move of the instance itself';
comment on column wf.event.xid is 'the transaction, see wf.txn';
comment on column wf.event.at is 'when';
comment on column wf.event.attempt is 'the attempt that it belongs to';
comment on column wf.event.was is 'state before';
comment on column wf.event.event is
    'what happened: an event of wf.transition, or a note that is no move: late (a report after its request was '
    'taken back), request_failed, unclean (cancel or cleanup given up), undecided (`when` of a retry could not '
    'be evaluated, or `when` of a catch gave no boolean)';
comment on column wf.event.state is 'state after';
comment on column wf.event.reason is 'reason that an operator gave';
comment on column wf.event.role is 'the role to which the session had SET ROLE at that moment; null: no role';
comment on column wf.event.detail is
    'of a failure, its error; of an operator''s move, what the operator gave; of a retry by policy, when it is due';
