-- When the tasks of an instance ran: one row for each attempt, from the history.

-- wf._seq_at(p_instance, p_at)
--
-- Finds a place in the history of an instance by halving it: the history has no other order.
--
-- Returns  the number of its last event before p_at, or a smaller one; 0 if no event is
--          before p_at
-- Locks    nothing
-- Raises   nothing
-- Called   by gantt
create or replace function wf._seq_at(p_instance bigint, p_at timestamptz) returns bigint
language plpgsql stable as $$
declare
    v_before bigint := 0;
    v_behind bigint := (select max(e.seq) + 1 from wf.event e where e.instance_id = p_instance);
    v_at timestamptz;
    v_seq bigint;
begin
    while v_before < v_behind - 1 loop
        select e.seq, e.at into v_seq, v_at
          from wf.event e
         where e.instance_id = p_instance and e.seq > (v_before + v_behind) / 2 - 1
         order by e.seq limit 1;
        if v_seq >= v_behind or v_at >= p_at then
            v_behind := (v_before + v_behind) / 2;
        else
            v_before := v_seq;
        end if;
    end loop;
    return v_before;
end;
$$;

-- wf._gantt_tasks(p_instance, p_limit, p_after)
--
-- The number of a process says nothing about its age: each session takes numbers in advance. But a page of
-- an instance that may have many processes is read in the order of the numbers, since it has no other.
--
-- Returns  the first p_limit tasks of an instance, or those behind p_after, in the order in which they could
--          begin; a page of an instance that may have more than 10,000 processes is in the order of their numbers
-- Locks    nothing
-- Raises   nothing
-- Called   by gantt
create or replace function wf._gantt_tasks(p_instance bigint, p_limit int, p_after bigint) returns bigint[]
language plpgsql stable as $$
declare
    c_many constant int := 10000;
    v_most bigint := (select n.most + coalesce((select e.processes from wf.extent e where e.instance_id = i.id), 0)
                        from wf.instance i
                        join wf.node n on n.version_id = i.version_id and n.id = 1
                       where i.id = p_instance);
begin
    if p_limit is not null and v_most > c_many then
        return array(select x.id
                       from wf.process x
                      where x.instance_id = p_instance and x.id > coalesce(p_after, 0) and x.machine <> 'composite'
                      order by x.id
                      limit p_limit);
    end if;
    return array(select x.id
                   from wf.process x
                  where x.instance_id = p_instance and x.machine <> 'composite'
                    and (p_after is null
                         or (x.began_at, x.id) > (select a.began_at, a.id
                                                    from wf.process a
                                                   where a.instance_id = p_instance and a.id = p_after))
                  order by x.began_at, x.id
                  limit p_limit);
end;
$$;

-- wf.gantt(p_instance, p_limit, p_after)
--
-- Returns  a row for each attempt of the first p_limit tasks, or of those behind p_after, in the
--          order of _gantt_tasks: when it was enabled, started, ended, and how
-- Locks    nothing
-- Raises   WF002, WF003
-- Called   by viewers
create or replace function wf.gantt(p_instance bigint, p_limit int default null, p_after bigint default null)
returns table (process_id bigint, label text, kind text, attempt int, state text, enabled_at timestamptz,
               started_at timestamptz, ended_at timestamptz, progress numeric)
language plpgsql stable security definer :engine as $$
#variable_conflict use_column
declare
    v_tasks bigint[];
    v_first timestamptz;
    v_last timestamptz;
    v_from bigint;
    v_to bigint;
begin
    if p_limit < 0 then
        raise exception using errcode = 'WF002',
            message = format('the limit must be at least 0, not %s', p_limit),
            hint = 'Give the number of tasks to show, 0 or more.';
    end if;
    if not exists (select from wf.instance i where i.id = p_instance) then
        raise exception using errcode = 'WF003',
            message = format('there is no instance %s', p_instance),
            hint = 'List what exists: wf-console list.';
    end if;
    v_tasks := wf._gantt_tasks(p_instance, p_limit, p_after);
    select min(p.began_at), max(p.at) into v_first, v_last
      from wf.process p
     where p.instance_id = p_instance and p.id = any (v_tasks);
    v_from := wf._seq_at(p_instance, v_first);
    v_to := wf._seq_at(p_instance, v_last + interval '1 microsecond');
    return query
    with move as materialized (
        select e.process_id, e.attempt, e.seq, e.at, e.event, e.state
          from wf.event e
         where e.instance_id = p_instance and e.process_id = any (v_tasks) and e.attempt is not null
           and e.seq between v_from and v_to
    ), attempt as (
        select m.process_id, m.attempt, min(m.at) as first_at,
               min(m.at) filter (where m.event in ('start', 'begin')) as started_at,
               (array_agg(m.at order by m.seq) filter (where m.state in ('FAILED', 'END', 'RAISED', 'ABORTED')))[1]
               as ended_at,
               (array_agg(m.state order by m.seq) filter (where m.state in ('FAILED', 'END', 'RAISED', 'ABORTED')))[1]
               as state
          from move m
         group by m.process_id, m.attempt
    )
    select p.id,
           l.label, p.kind, k.attempt,
           coalesce(a.state, case when k.attempt = p.attempt then p.state else 'FAILED' end),
           case k.attempt when 1 then p.began_at else coalesce(a.first_at, p.at) end,
           a.started_at, a.ended_at,
           case when k.attempt = p.attempt and a.ended_at is null then round(g.progress, 2) end
      from unnest(v_tasks) with ordinality t (id, k)
     cross join lateral (select x.* from wf.process x where x.instance_id = p_instance and x.id = t.id offset 0) p
     cross join lateral (select x.label from wf.label_v x
                          where x.instance_id = p_instance and x.process_id = p.id offset 0) l
     cross join lateral generate_series(1, p.attempt) k (attempt)
      left join attempt a on a.process_id = p.id and a.attempt = k.attempt
      left join wf._progress(p_instance) g on g.process_id = p.id
     order by t.k, k.attempt;
end;
$$;
comment on function wf.gantt(bigint, int, bigint) is
    'Says when the tasks of an instance ran. Returns a row for each attempt of the first p_limit tasks that have '
    'begun, or of those behind p_after: when it could begin, when it was started, when it ended (null: not yet), and '
    'in which state. The tasks are in the order in which they could begin; the pages of an instance that may have more '
    'than 10,000 processes go by the numbers of the tasks. Raises WF002, WF003.';
