-- What retry_storm compares: its policies, and what the history says of their retries.

create table chaos.outage (
    kind    text not null,
    from_at timestamptz not null,
    to_at   timestamptz not null
);
comment on table chaos.outage is 'From when to when nothing could begin, and why.';

-- attempts are those that begin; null where that depends on how long outages are, and
-- on how soon a driver takes the first one
create table chaos.policy (
    workflow text primary key,
    delay    numeric, -- seconds, as most
    backoff  numeric,
    most     numeric,
    attempts int,
    result   text not null,
    kind     text
);
comment on table chaos.policy is 'What the workflows of storm.wf have as policies, and what follows from them. Jitter is 0.5.';

insert into chaos.policy values
    ('storm_once', 1, 2, 'infinity', 2, 'success', null),
    ('storm_twice', 1, 2, 'infinity', 3, 'success', null),
    ('storm_spent', 1, 9, 2, 3, 'error', 'http'),
    ('storm_deadline', 1, 2, 'infinity', null, 'error', 'timeout'),
    ('storm_silent', 1, 1, 'infinity', 2, 'success', null),
    ('storm_wait', 1, 1, 'infinity', 0, 'error', 'timeout');

-- each task of it, and the attempts that have begun
create view chaos.stormed as
select w.name as workflow, p.instance_id, p.id as process_id, a.attempts, i.result, i.error ->> 'kind' as kind,
       i.error #>> '{detail,limit}' as time_limit, i.started_at, i.ended_at
  from wf.process p
  join wf.instance i on i.id = p.instance_id
  join wf.workflow w on w.id = i.workflow_id and w.name like 'storm\_%'
 cross join lateral (select count(distinct e.attempt) filter (where e.event = 'start') as attempts
                       from wf.event e where e.instance_id = p.instance_id and e.process_id = p.id) a
 where p.kind = 'sync';

-- each retry: which attempt it is, how long that was to wait, between which bounds that is,
-- and when it began, which is when it was committed that a driver has it: the history has
-- the time at which that transaction began
create view chaos.retried as
select t.workflow, t.instance_id, t.process_id, e.attempt, e.at, e.due, extract(epoch from e.due - e.at) as delay,
       least(b.base, p.most / 1.5) as least, least(b.base * 1.5, p.most) as most,
       (select min(pg_xact_commit_timestamp(s.xid::xid)) from wf.event s
         where s.instance_id = t.instance_id and s.process_id = t.process_id and s.event = 'start'
           and s.attempt = e.attempt) as began_at
  from chaos.stormed t
  join chaos.policy p using (workflow)
 cross join lateral (select x.attempt, x.at, (x.detail ->> 'due_at')::timestamptz as due
                       from wf.event x
                      where x.instance_id = t.instance_id and x.process_id = t.process_id and x.event = 'retry') e
 cross join lateral (select least(p.delay * p.backoff ^ (e.attempt - 2), p.most) as base) b;

-- retries that were due in an outage, and could not begin
create view chaos.held_up as
select o.kind, o.from_at, o.to_at, r.*
  from chaos.outage o
  join chaos.retried r on r.at < o.from_at and r.due < o.to_at and (r.began_at < o.from_at) is not true;
