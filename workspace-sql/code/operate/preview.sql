-- Which processes or instances would a verb touch? A caller that asks a person before it
-- acts looks here first. While the person is asked, nothing is locked.

-- wf._would_touch(p_verb, p_target)
--
-- Returns  one row for each target, with why it is refused; without a process if the verb
--          is done to instances
-- Locks    nothing
-- Raises   WF002, WF003
-- Called   by wf.preview
create or replace function wf._would_touch(p_verb text, p_target jsonb)
returns table (instance_id bigint, process_id bigint, refusal text)
language plpgsql stable as $$
declare
    v_found bigint[];
begin
    if p_verb = 'purge' then
        return query select t.instance_id, null::bigint, t.refusal from wf._purge_targets(p_target, null, 0) t;
        return;
    end if;
    v_found := wf._target_instances(p_target, p_verb);
    if p_verb in ('abort', 'halt', 'suspend', 'resume') then
        return query
        select a.instance_id, null::bigint, a.refusal from wf._target_answers(p_verb, p_target, v_found) a
         union all
        select m.instance_id, m.process_id, m.detail from wf._missing(p_target, v_found) m;
    elsif p_verb in ('retry', 'ignore', 'resolve', 'raise', 'cancel') then
        return query
        with process as materialized (
            select c.instance_id, c.process_id,
                   case when c.to_state is null then wf._refusal(p_verb, c.machine, c.state, c.torn) end as refusal
              from wf._target_processes(p_target, v_found, p_verb) c
        )
        select p.instance_id, p.process_id, p.refusal from process p
         union all
        select u.instance_id, u.process_id, u.detail
          from (select array(select distinct p.instance_id from process p) as instances) d,
               wf._unmoved(p_verb, p_target, v_found, d.instances) u;
    else
        raise exception using errcode = 'WF002',
            message = format('there is no verb "%s"', left(p_verb, 100)),
            hint = 'Verbs: retry, ignore, resolve, raise, cancel, abort, halt, suspend, resume, purge.';
    end if;
    if not found then
        perform wf._nothing_matches(p_target);
    end if;
end;
$$;

-- wf.preview(p_verb, p_target)
--
-- Returns  one row for each target: done or refused, as the verb would answer now
-- Locks    nothing
-- Raises   WF002, WF003
-- Called   by operators and administrators, and by the console before it asks
create or replace function wf.preview(p_verb text, p_target jsonb)
returns table (instance_id bigint, workflow text, process_id bigint, answer text, detail text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
    select t.instance_id, w.name, t.process_id, case when t.refusal is null then 'done' else 'refused' end, t.refusal
      from wf._would_touch(p_verb, p_target) t
      left join lateral (select y.name
                           from wf.instance x
                           join wf.workflow y on y.id = x.workflow_id
                          where x.id = t.instance_id
                         offset 0) w on true
     order by t.instance_id, t.process_id;
$$;
comment on function wf.preview(text, jsonb) is
    'What a verb (retry, ignore, resolve, raise, cancel, abort, halt, suspend, resume, purge) would answer if it were '
    'called with this target now; nothing is locked. One row for each target: done, or refused and why. The numbers '
    'of the processes in rows with done (or of the instances, if the verb is done to instances) can be given to the '
    'verb as the key among of the target. The verb then touches these or fewer.';
