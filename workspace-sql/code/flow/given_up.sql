-- What a race or a forall with tolerate does when one of its children fails, and how
-- a race is won. A child that fails is given up: it is torn down, its error is kept
-- in wf.given_up, and process.spare says how many more may fail.

-- wf._is_given_up(p_instance, p_process)
--
-- Returns  whether a process is a child that a race or forall has given up
-- Locks    nothing
-- Raises   nothing
-- Called   by _count_ended
create or replace function wf._is_given_up(p_instance bigint, p_process bigint) returns boolean
language sql stable
begin atomic
    select exists (select from wf.teardown t
                    where t.instance_id = p_instance and t.process_id = p_process and t.follows in ('counted', 'left'));
end;

-- wf._several(p_count, p_errors)
--
-- Returns  one error record in place of several; a single record as it is; null for no
--          record
-- Locks    nothing
-- Raises   nothing
-- Called   by _behind and _end_late
create or replace function wf._several(p_count bigint, p_errors jsonb) returns jsonb
language plpgsql immutable as $$
begin
    return case when p_count = 1 then p_errors -> 0
                when p_count > 1
                then jsonb_build_object('kind', 'several', 'message', format('%s others failed', p_count),
                                        'detail', p_errors) end;
end;
$$;

-- wf._behind(p_instance, p_process, p_but)
--
-- Returns  one error record for all children that a race or forall has given up, except
--          the one that failed as number p_but (wf.given_up.seq); a single record as it
--          is; null for no record. It lists the first 100 errors
-- Locks    nothing
-- Raises   nothing
-- Called   by _last_given_up and _search
create or replace function wf._behind(p_instance bigint, p_process bigint, p_but bigint) returns jsonb
language plpgsql stable as $$
declare
    c_most constant int := 100;
    f record;
begin
    select count(*) as count, jsonb_agg(g.error order by g.index) filter (where g.k <= c_most) as errors
      into f
      from (select x.*, row_number() over (order by x.index) as k
              from wf.given_up x
             where x.instance_id = p_instance and x.process_id = p_process and x.seq is distinct from p_but) g;
    return wf._several(f.count, f.errors);
end;
$$;

-- wf._last_given_up(p_instance, p_process)
--
-- Returns  the error of the element that failed last, with the others as its cause
-- Locks    nothing
-- Raises   nothing
-- Called   by _forall_error
create or replace function wf._last_given_up(p_instance bigint, p_process bigint) returns jsonb
language plpgsql stable as $$
begin
    return (select wf._add_cause(g.error, wf._behind(p_instance, p_process, g.seq))
              from wf.given_up g
             where g.instance_id = p_instance and g.process_id = p_process
             order by g.seq desc limit 1);
end;
$$;

-- wf._give_up_child(p_around, p_child, p_error, p_at)
--
-- A race or forall gives up a child whose error it has taken. If one element too many of
-- a forall has failed, no further element begins. If the child is given up already, the
-- error comes from a finally of the child, and replaces the child's error.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Called   by _hand_over
create or replace function wf._give_up_child(p_around wf.process, p_child bigint, p_error jsonb, p_at timestamptz)
returns void
language plpgsql as $$
declare
    v_left bigint := 0; -- elements that were about to begin
begin
    update wf.given_up g set error = p_error
      from wf.process p
      join wf.node n on n.version_id = p.version_id and n.id = p.node_id
     where p.instance_id = p_around.instance_id and p.id = p_child
       and g.instance_id = p.instance_id and g.process_id = p_around.id and g.index = coalesce(p.index, n.ordinal);
    if found then
        return;
    end if;
    insert into wf.given_up (instance_id, process_id, index, error)
    select p_around.instance_id, p_around.id, coalesce(p.index, n.ordinal), p_error
      from wf.process p
      join wf.node n on n.version_id = p.version_id and n.id = p.node_id
     where p.instance_id = p_around.instance_id and p.id = p_child;
    if p_around.spare = 0 then
        with gone as (
            delete from wf.pending q
             where q.instance_id = p_around.instance_id and q.parent_id = p_around.id returning q.count)
        select coalesce(sum(g.count), 0) into v_left from gone g;
    end if;
    update wf.process p
       set was = p.state, event = 'count', at = p_at, spare = greatest(p.spare - 1, -1), open = p.open - v_left,
           todo = case when p.spare > 0 then p.todo else 0 end
     where p.instance_id = p_around.instance_id and p.id = p_around.id;
    if p_around.total is not null and p_around.spare > 0 then
        perform wf._warn(array[p_around.instance_id], array[p_around.id], p_at);
    end if;
end;
$$;

-- wf._win(p_moves, p_at)
--
-- Races were won. The names that the winner has bound are bound around the race, and
-- everything else in the race is torn down. The race ends at once if nothing else is left
-- in it and nothing is to be undone.
--
-- Returns  nothing
-- Locks    as _tear
-- Called   by the update trigger of process
create or replace function wf._win(p_moves wf.full_move[], p_at timestamptz) returns void
language plpgsql as $$
declare
    v_won wf.full_move[];
    f record;
begin
    -- a race that is torn down with what is around it has not been won after all
    v_won := array(select m from wf._due_full(p_moves, 'win') m
                    where not exists (select from wf._torn(array[m.instance_id], array[m.id])));
    -- a later portion finds nothing alive in such a race, and would never mark what is around it
    perform wf._mark_torn(array_agg(t.instance_id), array_agg(x.id), p_at)
       from wf._due_full(p_moves, 'win') m
      cross join lateral wf._torn(array[m.instance_id], array[m.id]) t, unnest(t.path) x (id)
     having count(*) > 0;
    with winner as materialized (
        select m.instance_id, m.scopes[cardinality(m.scopes)] as scope_id, w.id, w.warned, m.id as race_id
          from unnest(v_won) m
         cross join lateral (select x.id, x.warned from wf.process x
                              where x.instance_id = m.instance_id and x.parent_id = m.id and x.state = 'END'
                              order by x.node_id limit 1) w),
    bound as (
        insert into wf.binding (instance_id, scope_id, name, value, skipped)
        select w.instance_id, w.scope_id, b.name, b.value, b.skipped
          from winner w
         cross join lateral (select x.name, x.value, x.skipped from wf.binding x
                              where x.instance_id = w.instance_id and x.scope_id = w.id offset 0) b
            on conflict (instance_id, scope_id, name) do update set value = excluded.value, skipped = excluded.skipped
        returning instance_id, scope_id, pg_column_size(value) as bytes)
    select array_agg(b.instance_id) as instances, array_agg(b.scope_id) as scopes, array_agg(b.bytes) as bytes,
           (select array_agg(w.instance_id) from winner w where w.warned) as warned,
           (select array_agg(w.race_id) from winner w where w.warned) as races
      into f
      from bound b where wf._is_large(b.bytes);
    if f.instances is not null then
        perform wf._count_values(f.instances, f.scopes, f.bytes);
    end if;
    if f.warned is not null then
        perform wf._warn(f.warned, f.races, p_at);
    end if;
    select array_agg(m.instance_id) as instances, array_agg(m.id) as processes
      into f
      from unnest(v_won) m
     where m.open > 0
        or exists (select from wf.undo_note t
                    where t.instance_id = m.instance_id and m.id = any (t.path));
    if f.instances is not null then
        perform wf._tear_down(f.instances, f.processes, 'lost', null, null, p_at, false);
        perform wf._tear(f.instances, f.processes, p_at);
    end if;
    update wf.process p
       set was = p.state, at = p_at, event = k.stopped, state = wf._state_of_stopped(k.stopped),
           open = (k.stopped = 'undo')::int
      from wf._due_full(p_moves, 'win') m
     cross join lateral (select x.ctid,
                                case when not exists (select from unnest(v_won) w
                                                       where w.instance_id = m.instance_id and w.id = m.id)
                                     then 'aborted'
                                     when wf._when_stopped(m.instance_id, m.id) = 'undo' then 'undo'
                                     else 'end' end as stopped
                           from wf.process x where x.instance_id = m.instance_id and x.id = m.id offset 0) k
     where p.ctid = k.ctid and m.open = 0;
end;
$$;

-- wf._forget_given_up(p_moves)
--
-- Forgets the children that races and foralls have given up, however these have ended.
--
-- Returns  nothing
-- Locks    nothing
-- Called   by _end_window
create or replace function wf._forget_given_up(p_moves wf.full_move[]) returns void
language plpgsql as $$
begin
    delete from wf.given_up r
     where r.ctid = any (array(select k.ctid
                                 from wf._due_full(p_moves, 'gather') m
                                cross join lateral (select x.ctid
                                                      from wf.given_up x
                                                     where x.instance_id = m.instance_id and x.process_id = m.id
                                                    offset 0) k));
end;
$$;
