-- The tables that drivers work with: what a row is, and what its columns mean.

comment on table wf.failed is 'The processes that are FAILED now.';
comment on column wf.failed.instance_id is 'the instance';
comment on column wf.failed.process_id is 'the process';
comment on column wf.failed.late is 'true: no handler takes its error, and its on_failure is fail_late';

comment on table wf.ready is 'The requests that a driver may take now, and nothing else.';
comment on column wf.ready.instance_id is 'the instance';
comment on column wf.ready.process_id is 'the process';
comment on column wf.ready.lane_id is 'the lane that a driver must serve to take the request';
comment on column wf.ready.turn is 'virtual time, in microseconds: the lowest turn is taken first';
comment on column wf.ready.rank is 'minus the priority: the lowest rank is taken first';
comment on column wf.ready.request is 'start, poll, cancel or cleanup';

comment on table wf.parked is 'The tasks in INIT that no driver may take yet, and why.';
comment on column wf.parked.instance_id is 'the instance';
comment on column wf.parked.process_id is 'the process';
comment on column wf.parked.reason is
    'what the task waits for: a place in its group, a place in its rate, or the resumption of its suspended instance';
comment on column wf.parked.group_id is 'group: the concurrency group that has no place for the task';
comment on column wf.parked.lane_id is 'as in ready';
comment on column wf.parked.turn is 'as in ready';
comment on column wf.parked.rank is 'as in ready';
comment on column wf.parked.parked_at is 'since when';
comment on column wf.parked.timed is 'true: the task has a deadline, whose clock stands still while it waits';
comment on column wf.parked.rate_id is 'rate: the rate that lets no more tasks begin for the moment';

comment on table wf.suspended is 'The instances that are SUSPENDED now.';
comment on column wf.suspended.instance_id is 'the instance';
comment on column wf.suspended.at is 'since when';
comment on column wf.suspended.actor is 'who suspended it';
comment on column wf.suspended.reason is 'reason that was given';

comment on table wf.lease is 'The requests that drivers hold. A lease lives as long as its driver gives signs of life.';
comment on column wf.lease.instance_id is 'the instance';
comment on column wf.lease.process_id is 'the process';
comment on column wf.lease.token is 'names this request; never issued twice';
comment on column wf.lease.driver_id is 'the driver';
comment on column wf.lease.request is 'start, poll, cancel or cleanup';
comment on column wf.lease.at is 'since when';

comment on table wf.loss is 'Requests whose drivers died. The rows stay when the task has ended.';
comment on column wf.loss.instance_id is 'the instance';
comment on column wf.loss.process_id is 'the task';
comment on column wf.loss.attempt is 'the attempt of the last lost request';
comment on column wf.loss.request is 'the last lost request: start, poll, cancel or cleanup';
comment on column wf.loss.token is 'its token';
comment on column wf.loss.losses is 'how many drivers in a row died with it';
comment on column wf.loss.due_at is 'when the last lost request was or will be taken back';

comment on table wf.stop is
    'Requests that drivers hold and have to stop. A row stays until the request has ended. Until then its driver is '
    'told again each second.';
comment on column wf.stop.driver_id is 'the driver';
comment on column wf.stop.token is 'the request';
comment on column wf.stop.instance_id is 'the instance';
comment on column wf.stop.process_id is 'the process';
comment on column wf.stop.told_at is 'when the driver was told last; null: not yet';

comment on table wf.rate_place is
    'The places in rates that tasks have been granted and have not spent yet. These tasks are ready.';
comment on column wf.rate_place.instance_id is 'the instance';
comment on column wf.rate_place.process_id is 'the process that has the place';
comment on column wf.rate_place.rate_id is 'the rate; in a simulation minus its number';
comment on column wf.rate_place.per is 'how long the place stays taken after it is spent; copied from the rate';

comment on table wf.rate_spent is
    'The places in rates that tasks have spent by beginning and that are not free again. There is one row for each '
    'slot, and one for each claim since wf.work last looked at the rate.';
comment on column wf.rate_spent.id is 'key: the order in which the rows were written';
comment on column wf.rate_spent.rate_id is 'the rate; in a simulation minus its number';
comment on column wf.rate_spent.free_at is 'when the places are free again';
comment on column wf.rate_spent.count is 'how many places';

comment on table wf.slot is 'The places of concurrency groups that are taken.';
comment on column wf.slot.instance_id is 'the instance';
comment on column wf.slot.process_id is 'the process that has the place';
comment on column wf.slot.group_id is 'the concurrency group';

comment on table wf.dirty is
    'Work for the next poll: concurrency groups whose free places it has to grant, and names of groups and lanes that '
    'may be new.';
comment on column wf.dirty.id is 'key, in order of arrival';
comment on column wf.dirty.group_id is 'the concurrency group; null: the row is about a lane';
comment on column wf.dirty.max is
    'the max that a task or an operator gives the group; -1 lifts the limit; the max that was given last wins';
comment on column wf.dirty.name is 'the name of the group, if its row of concurrency_group may be missing';
comment on column wf.dirty.lane_id is 'the lane whose row may be missing';
comment on column wf.dirty.lane is 'the lane''s queue, needs and requires';

comment on table wf.work is 'Work that is still to be done. A row is deleted when its work is done.';
comment on column wf.work.id is 'key, in order of arrival';
comment on column wf.work.kind is 'the kind of work: see _do_work in code/task/work.sql';
comment on column wf.work.instance_id is 'the instance that it belongs to; null: none';
comment on column wf.work.item_id is 'a process, a row of dirty or another item, or 0, as the kind says';
comment on column wf.work.due_at is 'when it is tried next';
comment on column wf.work.tries is
    'how often the item was tried alone. Each try is counted before it begins. It is not counted if it failed through '
    'the server''s fault';
comment on column wf.work.aside is 'true: the item is not tried any more, and waits for an operator';
comment on column wf.work.error is 'the last error: {sqlstate, message}';
comment on column wf.work.asked is 'settle: the row of dirty';

comment on table wf.timer is 'Waits of processes: for a time, a signal, an answer or an instance.';
comment on column wf.timer.instance_id is 'the instance';
comment on column wf.timer.process_id is 'the process';
comment on column wf.timer.kind is
    'what is due. sleep: the wait ends; poll, cancel, cleanup: the next such request is made; retry: the next attempt '
    'begins; signal: the wait ends when a signal comes; input: the wait ends when the form has been answered; child: '
    'the wait ends when an instance has ended';
comment on column wf.timer.due_at is
    'when that is due; infinity while the request is ready or with a driver, and while the process waits for a '
    'signal, an answer or an instance';
comment on column wf.timer.round is 'how many polls there were';
comment on column wf.timer.failures is 'how many requests of this kind failed in a row';
comment on column wf.timer.topic is 'signal: the topic whose signals it waits for; null: signals to its instance';
comment on column wf.timer.name is 'signal: the name of the signal';
comment on column wf.timer.begun_at is 'signal: when the wait began';
comment on column wf.timer.awaits_id is 'child: the instance that the task waits for; null: not started or found yet';

comment on table wf.signal is 'Signals that nobody has taken yet.';
comment on column wf.signal.id is 'key: the order in which they are taken';
comment on column wf.signal.instance_id is 'the instance that it was sent to; null: a topic';
comment on column wf.signal.topic is 'the topic that it was sent to; null: an instance';
comment on column wf.signal.name is 'its name';
comment on column wf.signal.payload is 'the value that the sender gave with it';
comment on column wf.signal.broadcast is 'true: every wait that began before the signal was sent gets it';
comment on column wf.signal.sent_at is 'when it was sent';
comment on column wf.signal.sender is 'who sent it';

comment on table wf.input is 'The forms that tasks have asked people to fill in, and the answers.';
comment on column wf.input.id is 'key: the number that wf.answer takes';
comment on column wf.input.instance_id is 'the instance';
comment on column wf.input.process_id is 'the process that waits; each attempt asks again';
comment on column wf.input.title is 'the title of the question';
comment on column wf.input.form is 'the form: {"properties": {FIELD: …}, "required": [FIELD, …]}';
comment on column wf.input.role is 'a member of this role may answer; null: see assignee';
comment on column wf.input.assignee is
    'this login may answer; if this and role are null, each login that may signal the instance may answer. Operators '
    'and administrators always may';
comment on column wf.input.asked_at is 'when it was asked';
comment on column wf.input.answered_at is 'when it was answered';
comment on column wf.input.answered_by is 'who answered it';
comment on column wf.input.answer is 'the answer, with the defaults of fields that were left out';

comment on table wf.limit_begun is
    'Attempts with a limit of runtime or inactivity that have begun since time_limit was last looked at, and their '
    'signs of life since then. Each statement writes one row for all its processes together.';
comment on column wf.limit_begun.id is 'key, in order of arrival';
comment on column wf.limit_begun.at is 'when';
comment on column wf.limit_begun.attempt is 'true: the attempts began; false: they gave a sign of life';
comment on column wf.limit_begun.instances is 'their instances';
comment on column wf.limit_begun.processes is 'the processes, in parallel to them';

comment on table wf.time_limit is
    'The limits of timeout policies that hold now, and when each is reached. Only processes with such a policy have '
    'rows. The limits of an attempt that has just begun are in limit_begun for up to a second. If they are long, the '
    'lease stands for them for up to a minute and a half. _limit_v shows all of these.';
comment on column wf.time_limit.instance_id is 'the instance';
comment on column wf.time_limit.process_id is 'the process';
comment on column wf.time_limit.kind is
    'wait (while a task is in INIT), inactivity, runtime (both of an attempt) or deadline';
comment on column wf.time_limit.due_at is
    'when it is reached; infinity while the clock of a deadline stands still. The end of an inactivity may still be '
    'put off when this time has come, since output is looked at only then';
comment on column wf.time_limit.remains is 'the time that is left while the clock stands still; else null';

comment on table wf.driver is 'The drivers. Each start of a driver has a row of its own.';
comment on column wf.driver.id is 'its incarnation';
comment on column wf.driver.name is 'name that it gave';
comment on column wf.driver.version is 'version of the program';
comment on column wf.driver.state is 'live, draining, left or lost';
comment on column wf.driver.transports is 'transports that it has';
comment on column wf.driver.queues is 'queues that it serves; none means every queue';
comment on column wf.driver.slots is 'how many requests it carries out at once';
comment on column wf.driver.idle is
    'true: NOTIFY wf_ready has to wake the driver when there is work; true while it sleeps';
comment on column wf.driver.started_at is 'when it registered';
comment on column wf.driver.actor is 'the name of the login that registered it, as it was then';
comment on column wf.driver.capabilities is
    'what else it has that tasks may require, each name or name=value: those of asked that its login may serve';
comment on column wf.driver.attended is
    'true: it registered in a session of its own, and is given up soon after that session has ended';
comment on column wf.driver.successor is 'the incarnation that took over the requests that it held; null: none';
comment on column wf.driver.session_pid is
    'the server process of that session; null: a later incarnation registered in that session, or there is none';
comment on column wf.driver.login is 'the login (oid) that registered it; no other login may use its number';
comment on column wf.driver.ended_at is
    'when it left, was given up, or another incarnation took over; null while it is at work';

comment on column wf.driver.limited is
    'true: its login may serve only the queues in limits; false: all queues but those';
comment on column wf.driver.limits is 'the queues that wf.driver_grant names for its login, or for others';
comment on column wf.driver.asked is 'the capabilities that it registered with';

comment on table wf.driver_grant is
    'The queues and capabilities that are granted to drivers. A name that is in any row is only for the roles whose '
    'rows have that name.';
comment on column wf.driver_grant.role is 'the login, or a role that logins are members of';
comment on column wf.driver_grant.queues is
    'the only queues that its drivers serve; empty: every queue that no grant names';
comment on column wf.driver_grant.capabilities is
    'the only capabilities that its drivers may have; empty: every capability that no grant names';
comment on column wf.driver_grant.granted_at is 'since when';
comment on column wf.driver_grant.granted_by is 'who granted it';

comment on table wf.sql_grant is
    'Which role the SQL tasks of a workflow run as. A workflow without a row runs them as the driver''s own SQL login.';
comment on column wf.sql_grant.workflow is 'the workflow, which need not be installed yet';
comment on column wf.sql_grant.role is
    'the login that its SQL tasks run as; SQL tasks of workflows without this grant never run as it';
comment on column wf.sql_grant.granted_at is 'since when';
comment on column wf.sql_grant.granted_by is 'who granted it';

comment on table wf.turn is
    'The turns. A poll that has something to do locks one of the rows. As many rows are in use as the setting turns '
    'says.';
comment on column wf.turn.id is '1, 2, 3 … up to the greatest value of the setting turns';
insert into wf.turn (id)
select generate_series(1, s.max) from wf.setting s where s.name = 'turns'
    on conflict do nothing;

comment on table wf.sign_of_life is
    'When each driver was last heard of. Polls and heartbeats write a row as their last step, so nobody waits for '
    'the row.';
comment on column wf.sign_of_life.driver_id is 'the driver';
comment on column wf.sign_of_life.seen_at is 'last sign of life, to the second';

comment on table wf.driver_counter is
    'What each driver has counted since it was started, one row a driver. The driver writes its row at '
    'most every ten seconds.';
comment on column wf.driver_counter.driver_id is 'the driver';
comment on column wf.driver_counter.counted_at is 'when the driver last wrote its counters';
comment on column wf.driver_counter.counters is 'the counters, an object: {"turns.work": 12, "http.responses": 3}';

comment on table wf.home is
    'One row: where the workspace was when it last looked. By this row it notices that it is somewhere else, and why.';
comment on column wf.home.only_one is 'true';
comment on column wf.home.system_id is 'system identifier of the cluster';
comment on column wf.home.database_id is 'oid of the database';
comment on column wf.home.timeline is 'timeline of the server''s WAL';
comment on column wf.home.started_at is 'when the server was started';
comment on column wf.home.restored is 'wf.restored, as the server''s configuration or the database sets it';

comment on table wf.seal is
    'One row: the key that seals the marks that polls give to drivers. Only the owner may read it.';
comment on column wf.seal.only_one is 'true';
comment on column wf.seal.key is 'the key';

comment on table wf.output_chunk is
    'Streamed output of attempts, as it came. Of a long output only the end is kept. The rows stay when the task has '
    'ended.';
comment on column wf.output_chunk.instance_id is 'the instance';
comment on column wf.output_chunk.process_id is 'the task';
comment on column wf.output_chunk.attempt is 'the attempt';
comment on column wf.output_chunk.start is
    'how many bytes of the attempt''s output, both streams together, came before this chunk; if the chunk before it '
    'does not end here, bytes were dropped';
comment on column wf.output_chunk.size is 'how many bytes the chunk had';
comment on column wf.output_chunk.stream is 'stdout or stderr';
comment on column wf.output_chunk.at is 'when it arrived';
comment on column wf.output_chunk.body is 'the text; bytes that are not text became U+FFFD';
