-- How far an instance is: worked out when somebody asks, from its processes.
--
-- A task counts as much as its policy `weight` says, 1 if it has none. A task that has
-- ended counts wholly, also if it was skipped or ignored; a task that has not begun does
-- not count. A task that is under way counts by the progress that it reports, half if it
-- reports none. A composite is as far as its tasks are, by their weights. If only one of
-- several branches is chosen, that branch stands for all. A forall has the weight of its
-- body, since nobody knows beforehand how many elements it will have. All of its elements
-- weigh the same, and so do the rounds of a fold. A loop with a condition is as far as its
-- present round.
--
-- An instance may have millions of processes. Therefore nothing below a composite that has
-- ended is looked at; foralls know how many elements have ended. Of the tasks that are under
-- way only the oldest 50 are looked at, and stand for the others.

-- wf._stream_progress(p_instance, p_process)
--
-- Returns  the progress of a running program, by its output: the clause `progress` of
--          start is evaluated over the last 4,096 characters of each stream; null if it
--          gives no progress
-- Locks    nothing
-- Raises   nothing
-- Called   by _progress
create or replace function wf._stream_progress(p_instance bigint, p_process bigint) returns numeric
language plpgsql stable as $$
declare
    f record;
    v_response jsonb;
begin
    select r.clauses -> 'progress' as clause, coalesce(p.input, n.input, '{}') as input, p.attempt
      into f
      from wf.process p
      join wf.node n on n.version_id = p.version_id and n.id = p.node_id
      join wf.task_request r on r.type_id = n.type_id and r.request = 'start'
     where p.instance_id = p_instance and p.id = p_process and r.clauses ? 'progress';
    if f.clause is null then
        return null;
    end if;
    select jsonb_build_object('stdout', right(coalesce(string_agg(c.body, '' order by c.start)
                                                       filter (where c.stream = 'stdout'), ''), 4096),
                              'stderr', right(coalesce(string_agg(c.body, '' order by c.start)
                                                       filter (where c.stream = 'stderr'), ''), 4096),
                              'exit_code', null)
      into v_response
      from (select x.start, x.stream, x.body
              from wf.output_chunk x
             where x.instance_id = p_instance and x.process_id = p_process and x.attempt = f.attempt
             order by x.start desc
             limit 16) c;
    return wf._as_progress(wf._evaluate(f.clause, f.input || jsonb_build_object('response', v_response,
                                                                               'handle', null)) -> 'value');
end;
$$;

-- wf._live(p_instance)
--
-- Returns  tasks and composites of an instance that have begun and have not ended: the
--          oldest 50 tasks and all that is around them
-- Locks    nothing
-- Raises   nothing
-- Called   by _progress
create or replace function wf._live(p_instance bigint)
returns table (id bigint, parent_id bigint, version_id bigint, node_id int, machine text, state text, total int,
               todo int, open int, progress numeric)
language sql stable
begin atomic -- inlined: planned once, with the statement of _progress
    with recursive place as (
        (select t.process_id from wf.lease t where t.instance_id = p_instance order by 1 limit 50)
         union all
        (select t.process_id from wf.timer t where t.instance_id = p_instance order by 1 limit 50)
         union all
        (select t.process_id from wf.ready t where t.instance_id = p_instance order by 1 limit 50)
         union all
        (select t.process_id from wf.parked t where t.instance_id = p_instance order by 1 limit 50)
         union all
        (select t.process_id from wf.failed t where t.instance_id = p_instance order by 1 limit 50)
    ), live as (
        select p.*
          from (select distinct c.process_id from place c order by 1 limit 50) c
         cross join lateral (select x.id, x.parent_id, x.version_id, x.node_id, x.machine, x.state, x.total, x.todo,
                                    x.open, x.progress
                               from wf.process x
                              where x.instance_id = p_instance and x.id = c.process_id
                             offset 0) p
         union
        select p.*
          from (select distinct l.parent_id from live l) l
         cross join lateral (select x.id, x.parent_id, x.version_id, x.node_id, x.machine, x.state, x.total, x.todo,
                                    x.open, x.progress
                               from wf.process x
                              where x.instance_id = p_instance and x.id = l.parent_id
                             offset 0) p
    )
    select l.* from live l;
end;

-- wf._composite_progress(p_begins, p_counts, p_total, p_children, p_ended, p_share, p_weight, p_live)
--
-- Works out how far a composite is: p_begins is which of its children begin first, p_counts
-- whether it is known how many rounds or elements it has, p_total how many a forall or fold
-- has, p_children how many steps its node has, p_ended how many children have ended, p_share
-- for how many children under way each of those stands that were looked at, p_weight what its
-- steps weigh. p_live describes the children that were looked at: their number, the sum of
-- their progress, the same sum by weights, the sum of their weights, and the weight of the
-- children that have ended before the last of them.
--
-- Returns  its progress; null if nothing in it has a weight
-- Locks    nothing
-- Raises   nothing
-- Called   by _progress
create or replace function wf._composite_progress(p_begins text, p_counts boolean, p_total int, p_children int,
                                                  p_ended int, p_share numeric, p_weight numeric, p_live numeric[])
returns numeric
language sql immutable
begin atomic -- inlined: a session that has just connected need not compile it
    select least(1, case
        when p_counts then (p_ended + p_live[2] * p_share) / greatest(p_total, 1)
        when p_begins = 'all'
        then ((p_weight - p_live[4]) * p_ended / greatest(p_children - p_live[1], 1)
              + p_live[3] * p_share) / nullif(p_weight, 0)
        when p_begins = 'first' then (p_live[5] + p_live[3]) / nullif(p_weight, 0)
        when p_begins = 'free' then (p_live[5] + p_live[3] * p_share) / nullif(p_weight, 0)
        else p_live[2] / greatest(p_live[1], 1) end);
end;

-- wf._weight_before(p_instance, p_parent, p_version, p_node, p_within, p_around)
--
-- Returns  the weight of what has ended before a process in its composite p_parent: of the
--          steps before its node in a sequence (p_within is first), or of the steps that have
--          ended in a dag of the weight p_around (free), 0 if that is torn down
-- Locks    nothing
-- Raises   nothing
-- Called   by _progress
create or replace function wf._weight_before(p_instance bigint, p_parent bigint, p_version bigint, p_node int,
                                             p_within text, p_around numeric) returns numeric
language plpgsql stable as $$
begin
    if p_within = 'first' then
        return (select coalesce(sum(x.weight), 0)
                  from wf.node n
                  join wf.node x on x.version_id = n.version_id and x.parent_id = n.parent_id and x.ordinal < n.ordinal
                 where n.version_id = p_version and n.id = p_node);
    end if;
    return (select coalesce(p_around - sum(x.weight), 0)
              from wf.dag_step s
              join wf.node x on x.version_id = p_version and x.id = s.node_id
             where s.instance_id = p_instance and s.process_id = p_parent);
end;
$$;

-- wf._progress(p_instance)
--
-- Returns  the progress of processes of an instance that are under way: of composites, and of
--          tasks that tell it, the oldest 50 at most; the root is one of them unless nothing is
--          under way
-- Locks    nothing
-- Raises   nothing
-- Called   by progress, tree and gantt
create or replace function wf._progress(p_instance bigint)
returns table (process_id bigint, parent_id bigint, progress numeric)
language plpgsql stable as $$
#variable_conflict use_column
declare
    f record;
    v_live jsonb := jsonb_build_object(); -- by process: what its children under way come to, each a numeric[] as a text
    v numeric[];
    v_share numeric; -- for how many children each of those stands that were looked at
    v_own numeric;
begin
    -- children first: the node of a child has a greater number than that of its parent
    for f in
        select l.*, n.begins, n.children, n.weight, n.transport, n.endless, o.begins as within,
               o.weight as around
          from wf._live(p_instance) l
         cross join lateral (select x.parent_id, x.begins, x.children, x.weight, x.transport,
                                    -- how many rounds a loop with a condition will have is not known
                                    x.begins <> 'window' and x.condition is not null as endless
                               from wf.node x
                              where x.version_id = l.version_id and x.id = l.node_id offset 0) n
          left join wf.node o on o.version_id = l.version_id and o.id = n.parent_id
         order by l.node_id desc, l.id desc
    loop
        if f.machine = 'composite' and f.state <> 'FAILED' then
            v := coalesce((v_live ->> f.id::text)::numeric[], '{0,0,0,0,0}');
            v_share := f.open / greatest(v[1], 1);
            v_own := coalesce(wf._composite_progress(f.begins, f.total is not null and not f.endless, f.total,
                                  f.children, coalesce(f.total, f.children) - f.todo - f.open, v_share, f.weight,
                                  v), 0);
            progress := v_own;
        else
            progress := case when f.machine = 'async' and f.state = 'EXECUTING' and f.progress is not null
                             then f.progress
                             when f.state in ('START_REQUESTED', 'EXECUTING') and f.transport in ('ssh', 'exec')
                             then wf._stream_progress(p_instance, f.id) end;
            v_own := case when f.state in ('START_REQUESTED', 'EXECUTING', 'WAITING') then coalesce(progress, 0.5)
                          when f.state = 'CLEANUP_REQUESTED' then 1 else 0 end;
        end if;
        if f.parent_id is not null then
            v := coalesce((v_live ->> f.parent_id::text)::numeric[], '{0,0,0,0,0}');
            v_live := v_live || jsonb_build_object(f.parent_id, array[
                          v[1] + 1, v[2] + v_own, v[3] + v_own * f.weight, v[4] + f.weight,
                          case when f.within in ('first', 'free')
                               then wf._weight_before(p_instance, f.parent_id, f.version_id, f.node_id, f.within,
                                                      f.around)
                               else 0 end]::text);
        end if;
        if progress is not null then
            process_id := f.id;
            parent_id := f.parent_id;
            return next;
        end if;
    end loop;
end;
$$;

-- wf.progress(p_instance)
--
-- Returns  how far an instance is, from 0 to 1; null if it has been aborted or does not exist
-- Locks    nothing
-- Raises   nothing
-- Called   by viewers, and by instance_v
create or replace function wf.progress(p_instance bigint) returns numeric
language plpgsql stable security definer :engine as $$
declare
    v_state constant text := (select i.state from wf.instance i where i.id = p_instance);
begin
    if v_state = 'END' then
        return 1.00;
    elsif v_state is null or v_state = 'ABORTED' then
        return null;
    end if;
    return coalesce((select round(max(p.progress), 2) from wf._progress(p_instance) p where p.parent_id is null), 0.00);
end;
$$;
comment on function wf.progress(bigint) is
    'How far an instance is, from 0 to 1: the mean over its tasks by their weights. A task that is under way counts by '
    'the progress that it reports, half if it reports none. If more than 50 tasks are under way, the oldest 50 stand '
    'for all. 1 if the instance has ended, null if it was aborted.';
