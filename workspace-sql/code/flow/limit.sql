-- How large an instance may become. Nothing is counted when processes begin and end.
-- install has worked out how many processes one element of a forall may have (node.most),
-- and how many of these may be under way at a time (node.most_live). When a forall is
-- entered, it reserves in wf.extent the processes of all its elements. When it ends, it
-- gives back those that may be under way. A loop reserves its rounds as they go by
-- (loop.sql); the processes that one round may have under way count with the tree.
-- An instance without a forall or loop has no more processes than its tree.
--
-- Values of names that have 4 KiB or more are counted when they are made or bound; some
-- are counted twice. When a scope has ended, its values are not subtracted. If the sum
-- seems too large, the values that can still be read are added up (_held_bytes), and the
-- count goes on from that sum.

-- wf._is_large(p_bytes)
--
-- Returns  whether a value of so many bytes counts
create or replace function wf._is_large(p_bytes bigint) returns boolean
language sql immutable
begin atomic
    select coalesce(p_bytes >= 4096, false);
end;

-- wf._oversize(p_bytes)
--
-- Returns  an error record if a value of so many bytes is larger than a value may be, else null
-- Called   wherever a value is made
create or replace function wf._oversize(p_bytes bigint) returns jsonb
language plpgsql stable as $$
declare
    v_most constant bigint := wf._setting_number('value_bytes');
begin
    return case when p_bytes > v_most
                then wf._refuse('output',
                                format('the value has %s bytes, more than the %s allowed', p_bytes, v_most)) end;
end;
$$;

-- wf._beyond(p_what, p_most, p_processes, p_held, p_live, p_quota)
--
-- Returns  an error record if p_what, which may have p_most processes and p_held of them at a time, brings its instance
--          over a limit: p_processes and p_live are what the instance would have then, p_quota is what its quota
--          allows; else null
-- Called   by _reserve, _reserve_rounds and _reserve_again
create or replace function wf._beyond(p_what text, p_most bigint, p_processes bigint, p_held bigint, p_live bigint,
                                      p_quota int)
returns jsonb
language plpgsql stable as $$
declare
    v_most constant bigint := wf._setting_number('instance_processes');
    v_most_live constant bigint := wf._setting_number('instance_live');
begin
    return case
        when p_processes > p_quota and p_quota <= v_most
        then wf._refuse('limit', format('%s may come to %s processes and the instance to %s, '
                                        'more than the %s that the quota of the login that started it allows',
                                        p_what, p_most, p_processes, p_quota))
        when p_processes > v_most
        then wf._refuse('limit', format('%s may come to %s processes and the instance to %s, '
                                        'more than the %s that it may have in all (setting instance_processes)',
                                        p_what, p_most, p_processes, v_most))
        when p_live > v_most_live
        then wf._refuse('limit', format('%s may have %s processes under way at a time and '
                                        'the instance %s, more than the %s allowed (setting instance_live)',
                                        p_what, p_held, p_live, v_most_live)) end;
end;
$$;

-- wf._reserve(p_moves, p_at)
--
-- For foralls and loops that have just been entered: reserves the processes of all elements
-- of a forall, and those of the first round of a loop. Later rounds are reserved as they go
-- by (_reserve_rounds). A forall or loop that would bring its instance over a limit fails
-- before any of its elements begins.
--
-- Returns  the moves of those that fit; null if none does
-- Locks    nothing beyond the rows it updates
-- Called   by _enter_window
create or replace function wf._reserve(p_moves wf.full_move[], p_at timestamptz) returns wf.full_move[]
language plpgsql as $$
declare
    v_instance bigint;
    v_processes bigint;
    v_live bigint;
    v_error jsonb;
    v_fit wf.full_move[];
    v_refused wf.full_move[];
    f record;
begin
    for f in
        select m as move, m.instance_id, n.most * coalesce(p.reserved, m.total) as most,
               coalesce(p.held, 0) as held,
               case when p.reserved is null then 'the elements of this forall'
                    else format('a round of this %s', n.kind) end as what,
               r.most + coalesce(e.processes, 0) as processes, r.most_live + coalesce(e.live, 0) as live, e.quota
          from wf._due_full(p_moves, 'fan') m
         cross join lateral (select x.held, x.reserved from wf.process x
                              where x.instance_id = m.instance_id and x.id = m.id offset 0) p
         cross join lateral (select x.kind, x.most from wf.node x
                              where x.version_id = m.version_id and x.id = m.node_id offset 0) n
         cross join lateral (select x.most, x.most_live from wf.node x
                              where x.version_id = m.version_id and x.id = 1 offset 0) r
          left join lateral (select x.processes, x.live, x.quota from wf.extent x
                              where x.instance_id = m.instance_id offset 0) e on true
         order by m.instance_id, m.id
    loop
        if f.instance_id is distinct from v_instance then
            v_instance := f.instance_id;
            v_processes := f.processes;
            v_live := f.live;
        end if;
        v_error := wf._beyond(f.what, f.most, v_processes + f.most, f.held, v_live + f.held, f.quota);
        if v_error is null then
            v_processes := v_processes + f.most;
            v_live := v_live + f.held;
            v_fit := v_fit || f.move;
        else
            f.move.error := v_error;
            v_refused := v_refused || f.move;
        end if;
    end loop;
    insert into wf.extent (instance_id, processes, live)
    select m.instance_id, sum(n.most * coalesce(p.reserved, m.total)), coalesce(sum(p.held), 0)
      from unnest(v_fit) m
     cross join lateral (select x.held, x.reserved from wf.process x
                          where x.instance_id = m.instance_id and x.id = m.id offset 0) p
     cross join lateral (select x.most from wf.node x
                          where x.version_id = m.version_id and x.id = m.node_id offset 0) n
     group by m.instance_id
        on conflict (instance_id) do update
           set processes = wf.extent.processes + excluded.processes, live = wf.extent.live + excluded.live;
    if v_refused is not null then
        update wf.process p
           set was = p.state, event = 'fail', state = 'FAILED', at = p_at, error = m.error,
               open = 0, todo = 0, total = 0, held = 0, reserved = p.reserved * 0
          from unnest(v_refused) m
         cross join lateral (select x.ctid as place from wf.process x
                              where x.instance_id = m.instance_id and x.id = m.id offset 0) k
         where p.ctid = k.place;
    end if;
    return v_fit;
end;
$$;

-- wf._release_live(p_instance, p_process)
--
-- Gives back what foralls held until all their elements had ended, and the rounds that
-- loops reserved and did not need. The arrays run in parallel.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Called   by _end_window, and by _reenter before a forall reserves anew
create or replace function wf._release_live(p_instance bigint[], p_process bigint[]) returns void
language plpgsql as $$
begin
    update wf.extent e set live = e.live - d.held, processes = e.processes - d.unused
      from (select u.i, coalesce(sum(p.held), 0) as held,
                   coalesce(sum(n.most * greatest(0, p.reserved - (p.total - p.todo))), 0) as unused
              from unnest(p_instance, p_process) u (i, j)
             cross join lateral (select x.version_id, x.node_id, x.held, x.reserved, x.total, x.todo from wf.process x
                                  where x.instance_id = u.i and x.id = u.j offset 0) p
             cross join lateral (select x.most from wf.node x
                                  where x.version_id = p.version_id and x.id = p.node_id offset 0) n
             group by u.i
            having sum(p.held) > 0 or sum(p.reserved - (p.total - p.todo)) > 0) d
     cross join lateral (select x.ctid as place from wf.extent x where x.instance_id = d.i offset 0) k
     where e.ctid = k.place;
end;
$$;

-- wf._held_bytes(p_instance, p_scopes)
--
-- Adds up all values that an instance can still read. These are in the scopes around each
-- process that is in a place, has yet to begin or was noted, and in p_scopes, the scopes of
-- a process that is just on its way. The values that foralls there have collected, and the
-- states of loops, count too.
--
-- Returns  their size in bytes
-- Called   where wf.extent seems to say that an instance has no room for a value
create or replace function wf._held_bytes(p_instance bigint, p_scopes bigint[]) returns bigint
language plpgsql stable :engine as $$
begin
    return (
        with recursive up (id) as (
            (select x.process_id from wf.ready x where x.instance_id = p_instance union
             select x.process_id from wf.parked x where x.instance_id = p_instance union
             select x.process_id from wf.lease x where x.instance_id = p_instance union
             select x.process_id from wf.timer x where x.instance_id = p_instance union
             select x.process_id from wf.failed x where x.instance_id = p_instance union
             select x.parent_id from wf.pending x where x.instance_id = p_instance and x.later union
             select unnest(x.path || x.process_id) from wf.undo_note x where x.instance_id = p_instance union
             select s.id from unnest(p_scopes) s (id))
             union
            select p.parent_id
              from up u
             cross join lateral (select x.parent_id from wf.process x
                                  where x.instance_id = p_instance and x.id = u.id offset 0) p
             where p.parent_id is not null)
        select coalesce(sum(v.bytes), 0)
          from up u
         cross join lateral (select octet_length(b.value::text) as bytes from wf.binding b
                              where b.instance_id = p_instance and b.scope_id = u.id
                              union all
                             select octet_length(r.value::text) from wf.forall_result r
                              where r.instance_id = p_instance and r.process_id = u.id
                              union all
                             select octet_length(p.output::text) from wf.process p
                              where p.instance_id = p_instance and p.id = u.id and p.reserved > 0 offset 0) v);
end;
$$;

-- wf._overfull(p_instance, p_bytes, p_scopes)
--
-- Returns  an error record if an instance has no room for a value of so many bytes; else null
-- Called   where a large value is made that is going to be bound, with the scopes around it
create or replace function wf._overfull(p_instance bigint, p_bytes bigint, p_scopes bigint[]) returns jsonb
language plpgsql stable as $$
declare
    v_most constant bigint := wf._setting_number('instance_bytes');
    v_bytes bigint := coalesce((select e.bytes from wf.extent e where e.instance_id = p_instance), 0);
begin
    if v_bytes + p_bytes > v_most then
        v_bytes := wf._held_bytes(p_instance, p_scopes);
    end if;
    return case when v_bytes + p_bytes > v_most
                then wf._refuse('limit', format('with this value of %s bytes the names of the instance would hold %s '
                                                'bytes, more than the %s allowed (setting instance_bytes)',
                                                p_bytes, v_bytes + p_bytes, v_most)) end;
end;
$$;

-- wf._count_values(p_instance, p_scope, p_bytes)
--
-- Counts large values that are kept from now on, each in a scope. The arrays run
-- in parallel.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Called   where names are bound, and by _keep_value
create or replace function wf._count_values(p_instance bigint[], p_scope bigint[], p_bytes int[]) returns void
language plpgsql as $$
declare
    v_bytes bigint;
    f record;
begin
    for f in
        select u.i, array_agg(distinct u.scope) as scopes, sum(u.bytes) as bytes
          from unnest(p_instance, p_scope, p_bytes) u (i, scope, bytes) group by u.i
    loop
        insert into wf.extent (instance_id, bytes) values (f.i, f.bytes)
            on conflict (instance_id) do update set bytes = wf.extent.bytes + excluded.bytes
        returning bytes into v_bytes;
        if v_bytes > wf._setting_number('instance_bytes') then
            -- the counted value may be bound already, or not yet
            update wf.extent e set bytes = wf._held_bytes(f.i, f.scopes) + f.bytes where e.instance_id = f.i;
        end if;
    end loop;
end;
$$;

-- wf._keep_value(p_instance, p_bytes, p_scopes)
--
-- Counts a large value, if there is room for it.
--
-- Returns  an error record if there is no room; else null
-- Called   where a value is made that is kept at once
create or replace function wf._keep_value(p_instance bigint, p_bytes int, p_scopes bigint[]) returns jsonb
language plpgsql as $$
declare
    v_error jsonb := wf._overfull(p_instance, p_bytes, p_scopes);
begin
    if v_error is null then
        perform wf._count_values(array[p_instance], array[p_scopes[cardinality(p_scopes)]], array[p_bytes]);
    end if;
    return v_error;
end;
$$;
