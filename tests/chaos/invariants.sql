-- What must hold after a campaign. Each row of chaos.violation is one that does
-- not, under the number of its invariant.

-- tests/chaos makes this once the ledgers are there.

create index on chaos.effect (process_id);
create index on chaos.answered (instance_id, process_id);
analyze;

-- tasks whose requests there is a ledger of; a job on a host runs once in an
-- attempt, however often its start is sent
create view chaos.task as
select p.instance_id, p.id as process_id, t.name as type, p.state, p.attempt, n.idempotent and t.name <> 'ssh.Job' as repeatable
  from wf.process p
  join wf.node n on n.version_id = p.version_id and n.id = p.node_id
  join wf.task_type t on t.id = n.type_id
 where t.name in ('chaos.Send', 'chaos.Job', 'chaos.Run', 'chaos.Try', 'ssh.Job');

-- what SQL tasks have written
create view chaos.written as
select (regexp_match(m.attempt, '-([0-9]+)-[0-9]+$'))[1]::bigint as process_id,
       (regexp_match(m.attempt, '-([0-9]+)$'))[1]::int as attempt
  from chaos.mark m;

-- in the order of the history: when requests of groups came to drivers (1) and
-- were over (-1)
create view chaos.hold as
select h.group_id, x.seq, x.change
  from (select p.group_id, e.event, e.seq, lead(e.seq) over (partition by e.instance_id, e.process_id order by e.seq) as until
          from wf.event e
          join wf.process p on p.instance_id = e.instance_id and p.id = e.process_id and p.group_id is not null
         where e.event <> 'late') h
 cross join lateral (values (h.seq, 1), (h.until, -1)) x (seq, change)
 where h.event = 'start';

create view chaos.violation (invariant, what, instance_id, process_id, detail) as
-- I1: no limbo
select 'I1', f.check_name, f.instance_id, f.process_id, f.detail
  from wf.fsck() f
 where f.class = 'violation' and f.check_name !~ '^(instance|composite|history|process)'
 union all
select 'I1', 'it has not ended', i.id, null, i.state
  from wf.instance i
 where i.state not in ('END', 'ABORTED')
 union all
-- I2: one outcome, and the history of it
select 'I2', f.check_name, f.instance_id, f.process_id, f.detail
  from wf.fsck() f
 where f.class = 'violation' and f.check_name ~ '^(history|process)'
 union all
select 'I2', 'more than one outcome', e.instance_id, e.process_id, count(*)::text
  from wf.event e
 where e.process_id is not null and e.was <> e.state and e.state in ('END', 'RAISED', 'ABORTED')
 group by e.instance_id, e.process_id
having count(*) > 1
 union all
select 'I2', 'a report in the name of a killed driver was honoured', null, null, count(*)::text
  from chaos.refusal r
 where r.answer = 'done'
having count(*) > 0
 union all
select 'I2', 'failed in another way than by a lost driver', e.instance_id, e.process_id, e.detail::text
  from wf.event e
  join chaos.task t using (process_id)
 where e.state = 'FAILED' and e.was <> 'FAILED' and e.event <> 'lost' and t.type in ('chaos.Send', 'chaos.Job')
   and (e.detail ->> 'kind' in (select x.kind from chaos.excused x)) is not true
 union all
-- I3: attempts are those that an operator or a policy asked for, and no others; the time of one may be over before it begins
select 'I3', 'attempts do not follow from retries', t.instance_id, t.process_id, format('%s of %s, %s retries', a.attempts, t.attempt, a.retries)
  from chaos.task t
 cross join lateral (select count(distinct e.attempt) filter (where e.event = 'start' or e.event = 'timeout' and e.was = 'INIT') as attempts,
                            count(*) filter (where e.event = 'retry') as retries
                       from wf.event e where e.instance_id = t.instance_id and e.process_id = t.process_id) a
 where a.attempts <> t.attempt or a.retries <> t.attempt - 1
 union all
-- I4: what was acknowledged is there, once
select 'I4', 'an instance whose start was answered is not there', s.instance_id, null, null
  from chaos.started s
 where not exists (select from wf.instance i where i.id = s.instance_id)
 union all
select 'I4', 'an outcome that was answered is not there', a.instance_id, a.process_id, format('attempt %s', a.attempt)
  from chaos.answered a
 where a.event = 'response' and a.request = 'start'
   and not exists (select from wf.event e
                    where e.instance_id = a.instance_id and e.process_id = a.process_id and e.attempt = a.attempt
                      and e.event in ('success', 'started', 'fail'))
 union all
select 'I4', 'the outcome of an attempt was answered more than once', a.instance_id, a.process_id, format('attempt %s', a.attempt)
  from chaos.answered a
 where a.event = 'response' and a.request = 'start'
 group by a.instance_id, a.process_id, a.attempt
having count(*) > 1
 union all
-- I5: the service and the workspace tell the same story
select 'I5', 'ended without an effect in its last attempt', t.instance_id, t.process_id, format('attempt %s', t.attempt)
  from chaos.task t
 where t.state = 'END'
   and not exists (select from chaos.effect e where e.process_id = t.process_id and e.attempt = t.attempt and e.method = 'POST')
 union all
select 'I5', 'an effect of an attempt that there was not', t.instance_id, e.process_id, format('attempt %s', e.attempt)
  from chaos.effect e
  left join chaos.task t using (process_id)
 where (e.attempt between 1 and t.attempt) is not true
 union all
select 'I5', 'it may not be repeated, and was', t.instance_id, e.process_id, format('attempt %s: %s times', e.attempt, count(*))
  from chaos.effect e
  join chaos.task t using (process_id)
 where e.method = 'POST' and not t.repeatable
 group by t.instance_id, e.process_id, e.attempt
having count(*) > 1
 union all
select 'I5', 'more than one key', null, e.process_id, string_agg(distinct e.key, ' ')
  from chaos.effect e
 where e.method = 'POST'
 group by e.process_id
having count(distinct e.key) > 1
 union all
select 'I5', 'a job that ended was not released', t.instance_id, t.process_id, null
  from chaos.task t
 where t.type = 'chaos.Job' and t.state = 'END'
   and not exists (select from chaos.effect e where e.process_id = t.process_id and e.method = 'DELETE')
   -- nor was that given up, as the history says, for what the campaign brings about
   and not exists (select from wf.event u join chaos.excused x on x.kind = u.detail #>> '{unclean,kind}'
                    where u.instance_id = t.instance_id and u.process_id = t.process_id and u.event = 'unclean')
 union all
-- I6: SQL tasks happen with their outcome, or not at all
select 'I6', 'it ended, but has not happened once, in its last attempt', p.instance_id, p.id, format('attempt %s: %s', p.attempt, m.attempts)
  from wf.process p
  join wf.node n on n.version_id = p.version_id and n.id = p.node_id
  join wf.task_type t on t.id = n.type_id and t.name = 'chaos.Write'
  left join (select process_id, array_agg(attempt) as attempts from chaos.written group by process_id) m on m.process_id = p.id
 where p.state = 'END' and m.attempts is distinct from array[p.attempt]
 union all
select 'I6', 'it has happened, but did not end', p.instance_id, w.process_id, format('attempt %s', w.attempt)
  from chaos.written w
  left join wf.process p on p.id = w.process_id
 where p.state is distinct from 'END'
 union all
-- I7: nothing begins before what is ordered before it has ended
select 'I7', f.check_name, f.instance_id, f.process_id, f.detail
  from wf.fsck() f
 where f.check_name ~ '^(instance|composite)'
 union all
select 'I7', 'began before what is ordered before it', b.instance_id, b.id, format('%s, %s', b.began_at, a.at)
  from wf.process a
  join wf.process b on b.instance_id = a.instance_id and b.parent_id = a.parent_id and b.node_id = a.next_id
 where a.state <> 'END' or b.began_at < a.at
 union all
-- I8: groups are never over-full
select 'I8', 'more than the group allows', null, null, format('group %s at event %s: %s', g.name, h.seq, h.held)
  from (select c.group_id, c.seq, sum(c.change) over (partition by c.group_id order by c.seq) as held from chaos.hold c) h
  join wf.concurrency_group g on g.id = h.group_id
 where h.held > g.max
 union all
-- I9: the history is only ever added to
select 'I9', 'history was changed', null, null, format('%s: %s rows', s.relname, s.n_tup_upd + s.n_tup_del)
  from pg_stat_user_tables s
 where s.schemaname = 'wf' and s.relname = 'event' and s.n_tup_upd + s.n_tup_del > 0;

-- chaos.sees(p_invariant, p_fault): whether a fault that is put into the rows,
-- and out again, is a violation of the invariant.
create function chaos.sees(p_invariant text, p_fault text) returns boolean
language plpgsql as $$
declare
    v_found boolean;
begin
    set local session_replication_role = replica;
    execute p_fault;
    v_found := exists (select from chaos.violation v where v.invariant = p_invariant);
    raise exception using errcode = 'P0004';
exception when assert_failure then
    return v_found;
end;
$$;

create view chaos.blind as
select f.invariant, f.fault
  from (values
    ('I1', 'update wf.instance set state = ''RUNNING'' where id = (select min(id) from wf.instance)'),
    ('I2', 'insert into wf.event (instance_id, process_id, xid, at, was, event, state)
            select instance_id, id, pg_current_xact_id(), at, was, event, state from wf.process where kind = ''sync'' limit 1'),
    ('I2', 'insert into chaos.refusal values (''done'')'),
    ('I3', 'insert into wf.event (instance_id, process_id, xid, at, was, event, state)
            select instance_id, process_id, pg_current_xact_id(), now(), ''FAILED'', ''retry'', ''INIT'' from chaos.task limit 1'),
    ('I4', 'insert into chaos.started values (-1)'),
    ('I4', 'delete from wf.event where event in (''success'', ''started'', ''fail'')
               and process_id = (select min(process_id) from chaos.answered where event = ''response'' and request = ''start'')'),
    ('I4', 'insert into chaos.answered select * from chaos.answered where event = ''response'' and request = ''start'' limit 1'),
    ('I5', 'delete from chaos.effect where process_id = (select min(process_id) from chaos.effect)'),
    ('I5', 'insert into chaos.effect select * from chaos.effect where what in (''once'', ''run'') limit 1'),
    ('I5', 'insert into chaos.effect select method, what, process_id, attempt + 1000, key from chaos.effect limit 1'),
    ('I6', 'insert into chaos.mark select * from chaos.mark limit 1'),
    ('I6', 'delete from chaos.mark where attempt = (select min(attempt) from chaos.mark)'),
    ('I7', 'update wf.process set began_at = began_at - interval ''1 day'' where id in (select process_id from chaos.task)'),
    ('I8', 'update wf.concurrency_group set max = 0')) f (invariant, fault)
 where not chaos.sees(f.invariant, f.fault);
