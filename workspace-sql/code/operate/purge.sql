-- Purge, as administrators ask for it. task/retention.sql has the deletion itself, and the
-- purge of old instances for which nobody asks.

-- wf._purge_targets(p_target, p_limit, p_after)
--
-- Finds the instances that a target means, in the order of their numbers. An instance that
-- the target names gets an answer in any case; otherwise only ended instances are targets.
--
-- Returns  one row for each, with why it is refused
-- Locks    nothing
-- Raises   WF002, WF003
-- Called   by wf.purge and wf.preview
create or replace function wf._purge_targets(p_target jsonb, p_limit int, p_after bigint)
returns table (instance_id bigint, refusal text, detail text)
language plpgsql stable as $$
declare
    v_t record;
begin
    select * into v_t from wf._parse_target(p_target);
    if p_target ?| array['process', 'root', 'failed', 'latest', 'global'] then
        raise exception using errcode = 'WF002',
            message = 'only whole instances that have ended can be purged',
            hint = 'Keys: instance (id or list of ids), state (END, ABORTED), workflow, tag, older_than (since their '
                   'end).';
    end if;
    if v_t.instances is null then
        return query
        select i.id, null, format('%s: %s since %s', w.name, i.state, i.ended_at)
          from wf.instance i
         cross join lateral (select x.name from wf.workflow x where x.id = i.workflow_id offset 0) w
         where i.id > p_after and i.ended_at is not null
           and (v_t.among is null or i.id <@ v_t.among and i.id < upper(v_t.among))
           and (v_t.states is null or i.state = any (v_t.states))
           and (v_t.workflow_id is null or i.workflow_id = v_t.workflow_id)
           and (v_t.tag is null or v_t.tag = any (i.tags))
           and (v_t.started_before is null or i.ended_at < v_t.started_before)
         order by i.id limit p_limit;
    else
        return query
        select u.id,
               case when i.id is null then 'there is no such instance'
                    when i.ended_at is null then format('%s: only END, ABORTED can be purged', i.state)
                    when not i.id <@ v_t.among
                    then format('%s: it was in another state when the question was asked', i.state) end,
               format('%s: %s since %s', i.name, i.state, i.ended_at)
          from unnest(v_t.instances) u (id)
          left join lateral (select x.*, w.name
                               from wf.instance x
                               join wf.workflow w on w.id = x.workflow_id
                              where x.id = u.id
                             offset 0) i on true
         where u.id > p_after
           and (i.id is null
                or (v_t.states is null or i.state = any (v_t.states))
                   and (v_t.workflow_id is null or i.workflow_id = v_t.workflow_id)
                   and (v_t.tag is null or v_t.tag = any (i.tags))
                   and (v_t.started_before is null or i.ended_at < v_t.started_before))
         order by u.id limit p_limit;
    end if;
end;
$$;

-- wf.purge(p_target, p_reason, p_limit, p_after)
--
-- A purge waits for no other transaction, so a caller may purge batch by batch, with a
-- commit after each, while everything works:
--     p_after = the greatest number in the answer to the batch before
--
-- Returns  one row for each target, in the order of their numbers: done, begun, or refused and why
-- Locks    the gate, instances by id (skipping locked ones), then all that belongs to them
-- Raises   WF002, WF003 (unknown workflow), WF006
-- Called   by administrators, not operators: the history is gone for good
create or replace function wf.purge(
    p_target jsonb, p_reason text default null, p_limit int default 1000, p_after bigint default 0)
returns table (instance_id bigint, answer text, detail text)
language plpgsql security definer :engine as $$
declare
    v_now constant timestamptz := wf.now();
    v_instance bigint[];
    v_refusal text[];
    v_detail text[];
    v_gone bigint[];
    v_id bigint;
begin
    perform wf._gate(true);
    if p_limit < 1 then
        raise exception using errcode = 'WF002',
            message = format('p_limit is %s', p_limit),
            hint = 'Give at least 1, or null: then one call purges all targets.';
    end if;
    perform wf._take_reason('purge', p_reason);
    select array_agg(t.instance_id order by t.instance_id), array_agg(t.refusal order by t.instance_id),
           array_agg(t.detail order by t.instance_id)
      into v_instance, v_refusal, v_detail
      from wf._purge_targets(p_target, p_limit, coalesce(p_after, 0)) t;
    v_gone := wf._purge(v_instance);
    if cardinality(v_gone) > 0 then
        v_id := wf._purge_open(p_target, p_reason, v_now);
        update wf.purge p set last_at = v_now, instances = p.instances + cardinality(v_gone) where p.id = v_id;
        perform wf._forget_signatures(10 * p_limit, v_now);
    end if;
    return query
    with answered (instance_id, answer, detail) as (
        select t.id, case when g.id is not null then 'done' when w.begun then 'begun' else 'refused' end,
               coalesce(t.refusal, case when g.id is not null then t.detail
                                        when w.begun then 'it is large: the workspace deletes it in portions, by itself'
                                        else 'another transaction has locked it' end)
          from unnest(v_instance, v_refusal, v_detail) t (id, refusal, detail)
          left join unnest(v_gone) g (id) on g.id = t.id
         cross join lateral (select exists (select
                                              from wf.work x
                                             where x.instance_id = t.id and x.kind = 'purge') as begun) w
    ), audited as (
        select wf._audit('purge', jsonb_build_object('target', p_target), p_reason, array_agg(a.instance_id), null,
                         array_agg(a.answer))
          from answered a
        having count(*) > 0
    )
    select a.* from answered a cross join audited order by 1;
    perform wf._set_reason(null);
end;
$$;
comment on function wf.purge(jsonb, text, int, bigint) is
    'Deletes instances that have ended, with their processes, values, output and history. Give a target (instance, '
    'state, workflow, tag, older_than, here since their end), a reason, how many at most (1000; null: all), and the '
    'number p_after: only greater ones are purged. Returns instance, answer (done; begun, if it is so large that its '
    'deletion goes on by itself; or refused) and detail, in the order of the numbers; no row: nothing is left to be '
    'purged. The idempotency keys of the instances stay known.';

create or replace view wf.purge_v with (security_barrier = true) as
select p.id as seq, p.at, p.last_at, p.actor, coalesce(host(p.client), 'local') as client,
       p.reason, p.target, p.instances
  from wf.purge p;
comment on view wf.purge_v is
    'The purges. Purges of one role with the same target and reason within a day are one row.';
select wf._inherit_comments('purge_v', 'purge') \gset
comment on column wf.purge_v.seq is 'order';
comment on column wf.purge_v.client is 'the address that it came from; local: a socket of the server''s machine';
