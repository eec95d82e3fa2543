-- The tree of an instance as people read it: depth first, in the order of the
-- source, elements of a forall and rounds of a loop by index, rounds of a retried composite and undos by age.
-- The number of a process says nothing about its age: each session takes numbers in advance.
-- An instance that may have many processes (node.wide) is read page by page, child by
-- child; any other instance is read as a whole, and the page is cut out of it.

-- wf._tree_below(p_instance, p_path, p_behind, p_limit)
--
-- Returns  the first p_limit processes in the tree below the last process of a path;
--          p_behind goes on from that path: only processes behind its end count
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._tree_page, for wide instances
create or replace function wf._tree_below(p_instance bigint, p_path bigint[], p_behind bigint[], p_limit int)
returns table (process_id bigint, depth int)
language plpgsql stable as $$
declare
    f record;
    v_parent bigint := p_path[cardinality(p_path)];
    v_is_forall boolean := (select p.total is not null
                              from wf.process p
                             where p.instance_id = p_instance and p.id = v_parent);
    v_left int := p_limit;
    v_given bigint;
    v_last record;
begin
    select p.id, p.index, n.ordinal, p.began_at
      into v_last
      from wf.process p
      join wf.node n on n.version_id = p.version_id and n.id = p.node_id
     where p.instance_id = p_instance and p.id = p_behind[1];
    if found then
        return query select * from wf._tree_below(p_instance, p_path || v_last.id, p_behind[2:], v_left);
        get diagnostics v_given = row_count;
        v_left := v_left - v_given;
    end if;
    for f in
        (select c.id, c.machine
           from wf.process c
          where v_is_forall and c.wide and c.parent_id = v_parent
            and (v_last.id is null or v_last.index is not null)
            and (c.index, c.id) > (coalesce(v_last.index, -1), coalesce(v_last.id, 0))
          order by c.index, c.id
          limit v_left)
         union all
        (select c.id, c.machine -- its undos
           from wf.process c
          where v_is_forall and c.wide and c.parent_id = v_parent and c.index is null
            and (v_last.id is null or v_last.index is not null or (c.began_at, c.id) > (v_last.began_at, v_last.id))
          order by c.began_at, c.id
          limit v_left)
         union all
        (select c.id, c.machine
           from wf.process c
          cross join lateral (select x.ordinal
                                from wf.node x
                               where x.version_id = c.version_id and x.id = c.node_id
                              offset 0) n
          where not v_is_forall and c.wide and c.parent_id = v_parent
            and (n.ordinal, c.began_at, c.id) > (coalesce(v_last.ordinal, 0), coalesce(v_last.began_at, '-infinity'),
                                                 coalesce(v_last.id, 0))
          order by n.ordinal, c.began_at, c.id
          limit v_left)
    loop
        exit when v_left <= 0;
        process_id := f.id;
        depth := cardinality(p_path);
        return next;
        v_left := v_left - 1;
        if v_left > 0 and f.machine = 'composite' then
            return query select * from wf._tree_below(p_instance, p_path || f.id, '{}', v_left);
            get diagnostics v_given = row_count;
            v_left := v_left - v_given;
        end if;
    end loop;
end;
$$;

-- wf._tree_whole(p_instance)
--
-- Returns  all processes of an instance
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._tree_page
create or replace function wf._tree_whole(p_instance bigint)
returns table (process_id bigint, depth int)
language plpgsql stable as $$
begin
    return query
    with recursive member as (
        select p.id, p.parent_id,
               array[n.ordinal, coalesce(p.index, 0), (extract(epoch from p.began_at) * 1000000)::bigint, p.id] as place
          from wf.process p
          join wf.node n on n.version_id = p.version_id and n.id = p.node_id
         where p.instance_id = p_instance
    ), branch as (
        select m.id, 0 as depth, m.place as path from member m where m.parent_id is null
         union all
        select m.id, b.depth + 1, b.path || m.place from branch b join member m on m.parent_id = b.id
    )
    select b.id, b.depth from branch b order by b.path;
end;
$$;

-- wf._say_progress(p_ended, p_total, p_reserved)
--
-- Returns  how far a forall is, or a loop (p_reserved is not null)
-- Called   by wf.tree
create or replace function wf._say_progress(p_ended int, p_total int, p_reserved int) returns text
language sql immutable
begin atomic
    select format(case when p_reserved is null then '%s of %s' else '%s of at most %s rounds' end, p_ended, p_total);
end;

-- wf._said(p_instance, p_process)
--
-- Returns  the message of a task of type lb.Log, once it has been logged; null before
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.tree
create or replace function wf._said(p_instance bigint, p_process bigint) returns text
language sql stable
begin atomic
    select case when n.input_fixed then n.input else p.input end ->> 'msg'
      from wf.process p
      join wf.node n on n.version_id = p.version_id and n.id = p.node_id
     where p.instance_id = p_instance and p.id = p_process and p.state = 'END';
end;

-- wf._tree_children(p_instance, p_process)
--
-- Lists the instances that processes have started, and below each instance those that it has started in turn,
-- 3 deep: the first 20 of each process, and the first 5 of each instance. If instances are left out, a row says so.
--
-- Returns  for each of these processes the rows that come below it, in order; depth counts from 1
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.tree
create or replace function wf._tree_children(p_instance bigint, p_process bigint[])
returns table (process_id bigint, nth bigint, depth int, label text, state text, at timestamptz, note text,
               began_at timestamptz)
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    with recursive below (top_id, id, depth, path, k) as (
        select c.process_id, c.id, 1, array[c.id], c.k
          from (select x.parent_process_id as process_id, x.id,
                       row_number() over (partition by x.parent_process_id order by x.id) as k
                  from wf.instance x
                 where x.parent_id = p_instance and x.parent_process_id = any (p_process)) c
         where c.k <= 21
         union all
        select b.top_id, c.id, b.depth + 1, b.path || c.id, c.k
          from below b
         cross join lateral (select x.id, row_number() over (order by x.id) as k
                               from (select y.id from wf.instance y
                                      where y.parent_id = b.id order by y.id limit 6) x) c
         where b.depth <= 3 and b.k <= case b.depth when 1 then 20 else 5 end)
    select b.top_id, row_number() over (partition by b.top_id order by b.path), b.depth,
           case when b.depth > 3 or b.k > case b.depth when 1 then 20 else 5 end then '…'
                else format('instance %s of %s', i.id, w.name) end,
           case when b.depth > 3 or b.k > case b.depth when 1 then 20 else 5 end then '' else i.state end, i.at,
           case when b.depth <= 3 and b.k > case b.depth when 1 then 20 else 5 end
                then format('there are more, with parent_id %s in wf.instance_v',
                            coalesce(b.path[b.depth - 1], p_instance))
                when b.depth > 3 then format('there is more below: wf-console tree %s', b.path[b.depth - 1])
                else i.error ->> 'message' end,
           i.started_at
      from below b
      join wf.instance i on i.id = b.id
      join wf.workflow w on w.id = i.workflow_id
     where b.depth <= 3 or b.k = 1;
end;

-- wf._tree_page(p_instance, p_limit, p_after)
--
-- Returns  the first p_limit processes of the tree of an instance, or of those behind p_after, and how deep they are
-- Locks    nothing
-- Raises   WF002, WF003
-- Called   by wf.tree
create or replace function wf._tree_page(p_instance bigint, p_limit int, p_after bigint, out ids bigint[],
                                         out depths int[])
language plpgsql stable as $$
declare
    v_wide boolean;
    v_path bigint[];
    v_first int;
begin
    if p_limit < 0 then
        raise exception using errcode = 'WF002', message = format('the limit must be at least 0, not %s', p_limit),
            hint = 'Give the number of processes to show, 0 or more.';
    end if;
    select coalesce(n.wide, false)
      into v_wide
      from wf.instance i
      join wf.node n on n.version_id = i.version_id and n.id = 1
     where i.id = p_instance;
    v_path := wf._path(p_instance, coalesce(p_after, (select p.id
                                                        from wf.process p
                                                       where p.instance_id = p_instance
                                                       order by p.id
                                                       limit 1)));
    if v_path is null then
        raise exception using errcode = 'WF003',
            message = case when v_wide is null then format('there is no instance %s', p_instance)
                           else format('instance %s has no process %s', p_instance, p_after) end,
            hint = 'List what exists: wf-console list.';
    end if;
    if v_wide and p_limit is not null then
        select array_agg(t.process_id), array_agg(t.depth)
          into ids, depths
          from (select v_path[1] as process_id, 0 as depth where p_after is null
                 union all
                select b.process_id, b.depth
                  from wf._tree_below(p_instance, v_path[:1],
                                      case when p_after is null then '{}' else v_path[2:] end, p_limit) b
                 limit p_limit) t;
    else
        select array_agg(t.process_id), array_agg(t.depth) into ids, depths from wf._tree_whole(p_instance) t;
        v_first := coalesce(array_position(ids, p_after), 0) + 1;
        ids := ids[v_first:v_first - 1 + least(p_limit, cardinality(ids))];
        depths := depths[v_first:v_first - 1 + least(p_limit, cardinality(depths))];
    end if;
end;
$$;

-- wf.tree(p_instance, p_limit, p_after)
--
-- A session that asks has mostly just connected. Therefore a function that gives nothing
-- for this page is not called, and so not planned.
--
-- Returns  one row for each of the first p_limit processes, or of those behind p_after; and below each process one for
--          each instance that it has started, with the number of the process
-- Locks    nothing
-- Raises   WF002, WF003
-- Called   by viewers
create or replace function wf.tree(p_instance bigint, p_limit int default null, p_after bigint default null)
returns table (
    process_id bigint, parent_id bigint, depth int, label text, kind text, state text, attempt int, at timestamptz,
    note text, progress numeric, elapsed_s numeric)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off as $$
begin
    return query
    with page as materialized (
        select u.depth, u.nth, p.*
          from wf._tree_page(p_instance, p_limit, p_after) t
         cross join lateral unnest(t.ids, t.depths) with ordinality u (id, depth, nth)
         cross join lateral (select x.id, x.parent_id, x.version_id, x.node_id, x.kind, x.machine, x.state, x.attempt,
                                    x.at, x.index, x.policy, x.error, x.total, x.todo, x.open, x.reserved, x.began_at
                               from wf.process x
                              where x.instance_id = p_instance and x.id = u.id
                             offset 0) p
    ), reason as (
        select e.process_id, string_agg(e.detail, '; ' order by e.reason) as detail
          from (select array_agg(x.id) as ids
                  from page x
                 where (x.machine <> 'composite' or x.state = 'INIT')
                   and x.state not in ('FAILED', 'END', 'RAISED', 'ABORTED')
                having count(*) > 0) k
         cross join lateral wf._explain(p_instance, (select k.ids)) e -- a sub-select keeps it from being folded in
         group by 1
    ), line as (
    select p.id, p.parent_id, p.depth,
           case when p.kind = 'undo' -- it does not stand in the element whose step it undoes
                then wf._label_of(p_instance, p.id)
                else coalesce(p.policy ->> 'title', n.title, n.label) || coalesce(' [' || p.index || ']', '')
           end as label,
           p.kind, p.state, p.attempt, p.at,
           case when p.error is not null and p.state <> 'INIT'
                then format('%s: %s', p.error ->> 'kind', p.error ->> 'message')
                when p.total is not null then wf._say_progress(p.total - p.todo - p.open, p.total, p.reserved)
                when n.task_type = 'lb.Log' and p.state = 'END' then wf._said(p_instance, p.id)
                else r.detail end as note,
           round(g.progress, 2) as progress, p.nth, 0::bigint as below, p.began_at
      from page p
     cross join lateral (select x.title, x.label, x.task_type from wf.node x
                          where x.version_id = p.version_id and x.id = p.node_id offset 0) n
      left join reason r on r.process_id = p.id
      left join wf._progress(p_instance) g on g.process_id = p.id
     union all
    select p.id, p.id, p.depth + c.depth, c.label, 'instance', c.state, 1, c.at, c.note, null, p.nth, c.nth, c.began_at
      from (select array_agg(x.id) as ids from page x where x.machine = 'child' having count(*) > 0) k
     cross join lateral wf._tree_children(p_instance, k.ids) c
      join page p on p.id = c.process_id
    )
    select l.id, l.parent_id, l.depth, l.label, l.kind, l.state, l.attempt, l.at, l.note, l.progress,
           round(extract(epoch from case when l.state in ('END', 'RAISED', 'ABORTED') then l.at - l.began_at
                                         else wf._now() - l.at end), 3)
      from line l
     order by l.nth, l.below;
end;
$$;
comment on function wf.tree(bigint, int, bigint) is
    'Lists the processes of an instance that have begun, in the order of the source: all of them, or of those behind '
    'p_after the first p_limit. Each row tells the error of the process, what it waits for, how far a forall or loop '
    'is, or what lb.Log said; its progress; and how many seconds it has taken, or has been in its state. Below a task '
    'come the instances that it has started, as rows of kind instance with the number of the task. Below each '
    'instance come those that it has started in turn, 3 deep: the first 20 of a task, and the first 5 of an instance.';
