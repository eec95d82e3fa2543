-- How a tree unfolds: what a node needs before it begins, and its beginning.

-- An upgrade creates this type anew: by now no function has such an argument.
drop type if exists wf.entry;
create type wf.entry as (
    input jsonb, error jsonb, policy jsonb, open int, total int, chosen int, held int,
    group_id bigint, lane_id bigint, rank smallint, spare int, rate_id bigint
);
comment on type wf.entry is 'What wf._prepare found out about a node that is about to begin.';

-- wf._refuse(p_kind, p_message)
--
-- Returns  an error record
-- Locks    nothing
-- Raises   nothing
-- Called   wherever the engine finds an error
create or replace function wf._refuse(p_kind text, p_message text) returns jsonb
language sql stable
begin atomic
    select jsonb_build_object('kind', p_kind, 'message', p_message);
end;

-- wf._prepare(p_instance, p_scopes, p_version, p_node)
--
-- Evaluates what a node needs before it begins: its input, its policies, which
-- of its children begin.
--
-- Returns  an entry; its error is set if something could not be evaluated
-- Locks    nothing (a lane or group named for the first time is inserted)
-- Raises   nothing
-- Called   by _enter and _reenter, for nodes that are not plain, and by _evaluate_again
create or replace function wf._prepare(p_instance bigint, p_scopes bigint[], p_version bigint, p_node int)
returns wf.entry
language plpgsql as $$
declare
    v_node wf.node;
    v_entry wf.entry;
    v_environment jsonb;
    v_input jsonb;
    v_value jsonb;
    v_result jsonb;
begin
    select n.* into v_node from wf.node n where n.version_id = p_version and n.id = p_node;
    -- the condition of a while is tested before there is a round
    v_environment := wf._environment(p_instance, p_scopes,
                                     case v_node.ends when 'while'
                                          then coalesce(v_node.reads, '{}') || coalesce(v_node.collect_reads, '{}')
                                          else v_node.reads end);
    if (v_node.type_id is not null or v_node.scope = 'own') and v_environment @? '$.* ? (@ == null)' then
        v_entry.error := wf._reads_skipped(p_instance, p_scopes, v_node.reads);
    end if;
    if v_entry.error is not null then
        null; -- it is skipped, and needs nothing
    elsif v_node.input is null or v_node.input_fixed then
        v_value := v_node.input;
    else
        v_input := case when v_node.begins in ('window', 'round')
                        then wf._without_range(v_node.begins, v_node.input) else v_node.input end;
        v_result := wf._evaluate(v_input, v_environment);
        if v_result ? 'error' then
            v_entry.error := wf._blame(v_result -> 'error', v_input, v_environment, v_node.line,
                                       case when v_node.kind = 'call' or v_node.type_id is not null
                                                 and v_node.kind <> 'atomic' then 'argument' end);
        end if;
        v_value := v_result -> 'value';
        v_entry.input := v_value;
        if wf._oversize(pg_column_size(v_value)) is not null then
            v_entry.input := null;
            v_entry.error := wf._oversize(pg_column_size(v_value));
        elsif v_node.type_id is null and wf._is_large(pg_column_size(v_value)) then
            v_entry.error := wf._keep_value(p_instance, pg_column_size(v_value), p_scopes);
            v_entry.input := case when v_entry.error is null then v_value end;
        end if;
    end if;
    if v_node.policy is not null and v_entry.error is null then
        v_result := wf._evaluate(v_node.policy, v_environment);
        if v_result ? 'error' then
            v_entry.error := wf._blame(v_result -> 'error', v_node.policy, v_environment, v_node.line, 'policy');
        end if;
        v_entry.policy := v_result -> 'value';
    end if;
    if v_entry.error is null then
        begin
            v_entry := wf._measure(v_node, v_entry, v_value, v_environment);
        exception
            when sqlstate 'WF020' or data_exception then
                v_entry.error := wf._refuse('input', sqlerrm);
            when transaction_rollback or insufficient_resources or object_not_in_prerequisite_state
              or operator_intervention or system_error then
                raise; -- a fault of the server: the evaluation may go well another time
            when others then
                v_entry.error := wf._refuse('engine', sqlerrm)
                                 || jsonb_build_object('detail', jsonb_build_object('sqlstate', sqlstate));
        end;
    end if;
    if v_entry.error is not null then
        -- because the policy is missing, a retry evaluates everything again
        v_entry.policy := null;
        v_entry.open := 0;
        v_entry.held := 0;
        v_entry.total := case when v_node.begins in ('window', 'round') then 0 end;
    end if;
    return v_entry;
end;
$$;

-- wf._chosen(p_kind, p_children, p_value)
--
-- Chooses a child by p_value. For an if this is a boolean; for a switch it is a list of
-- the value and, for each case, a list of the values of that case.
--
-- Returns  the ordinal of the child that begins; if none begins, one that no child has
-- Locks    nothing
-- Raises   WF020 if the value does not say which child begins
-- Called   by _measure and _run_program
create or replace function wf._chosen(p_kind text, p_children int, p_value jsonb) returns int
language plpgsql stable as $$
declare
    v_cases int;
begin
    if p_kind = 'if' then
        if jsonb_typeof(p_value) is distinct from 'boolean' then
            raise exception using errcode = 'WF020',
                message = format('if needs a boolean, not %s', coalesce(jsonb_typeof(p_value), 'null'));
        end if;
        return case when p_value = 'true' then 1 else 2 end;
    end if;
    v_cases := jsonb_array_length(p_value) - 1;
    for v_case in 1 .. v_cases loop
        if exists (select from jsonb_array_elements(p_value -> v_case) e where e = p_value -> 0) then
            return v_case;
        end if;
    end loop;
    if v_cases = p_children then
        raise exception using errcode = 'WF020',
            message = format('no case of the switch has the value %s', left((p_value -> 0)::text, 100));
    end if;
    return v_cases + 1;
end;
$$;

-- wf._measure(p_node, p_entry, p_value, p_environment)
--
-- Returns  the entry with open and total, and with the policies applied
-- Locks    nothing
-- Raises   WF020 if a value does not fit
-- Called   by _prepare
create or replace function wf._measure(p_node wf.node, p_entry wf.entry, p_value jsonb, p_environment jsonb)
returns wf.entry
language plpgsql as $$
begin
    if p_node.begins = 'round' then
        p_entry := wf._first_round(p_node, p_entry, p_value, p_environment);
    elsif p_node.begins = 'chosen' then
        p_entry.chosen := wf._chosen(p_node.kind, p_node.children, p_value);
        p_entry.open := (p_entry.chosen <= p_node.children)::int;
    elsif p_node.begins = 'window' then
        p_entry := wf._measure_window(p_node, p_entry, p_value, p_environment);
    elsif p_node.begins = 'free' then
        p_entry.open := wf._count_free(p_node);
    end if;
    return case when p_entry.policy is null then p_entry else wf._apply_policies(p_node, p_entry) end;
end;
$$;

-- wf._apply_policies(p_node, p_entry)
--
-- Returns  the entry, with what follows from the values of its policies
-- Locks    nothing (a lane or group named for the first time is inserted)
-- Raises   WF020 if a value does not fit
-- Called   by _measure
create or replace function wf._apply_policies(p_node wf.node, p_entry wf.entry) returns wf.entry
language plpgsql as $$
declare
    f record;
    v_lane wf.lane;
begin
    if jsonb_typeof(p_entry.policy -> 'priority') = 'number' then
        p_entry.rank := - greatest(-1000, least(1000, (p_entry.policy ->> 'priority')::numeric));
        p_entry.policy := jsonb_set(p_entry.policy, '{priority}', to_jsonb(- p_entry.rank));
    end if;
    for f in
        select v.meaning, v.holds, p_entry.policy -> v.key as value
          from wf._policy_value() v
         where not wf._fits_policy(v.holds, p_entry.policy -> v.key)
         limit 1
    loop
        raise exception using errcode = 'WF020',
            message = format('%s is %s, not %s', f.meaning, wf._policy_fit(f.holds),
                             left(coalesce(f.value #>> '{}', 'null'), 100));
    end loop;
    if p_entry.policy ? 'group' then
        p_entry.group_id := wf._group(p_entry.policy ->> 'group');
    end if;
    if p_entry.policy ? 'rate' then
        p_entry.rate_id := wf._rate(p_entry.policy ->> 'rate');
    end if;
    if p_entry.policy ?| '{queue,requires}' then
        select l.* into v_lane from wf.lane l where l.id = p_node.lane_id;
        p_entry.lane_id := wf._lane(coalesce(p_entry.policy ->> 'queue', v_lane.queue), v_lane.needs,
                                    coalesce(wf._capabilities(p_entry.policy -> 'requires'), v_lane.requires));
    end if;
    if p_entry.policy ? 'retry' then
        p_entry.policy := jsonb_set(p_entry.policy, '{retry}', wf._retry_values(p_entry.policy -> 'retry'));
    end if;
    if p_entry.policy ? 'timeout' then
        p_entry.policy := jsonb_set(p_entry.policy, '{timeout}', wf._timeout_values(p_entry.policy -> 'timeout'));
    end if;
    return p_entry;
end;
$$;

-- wf._enter(p_instance, p_parent, p_node, p_index, p_item, p_at, p_torn, p_sees)
--
-- Begins processes: all but roots (_plant) are born here. Below a teardown only finallys
-- and undos are; p_torn says whether there is any teardown, null if the caller does not
-- know. The arrays run in parallel. p_item (or null) holds for each child of a forall an
-- object with the names of element and index; the child opens a scope, in which they are
-- bound. p_sees (or null) holds for each undo the process whose names it sees, in place
-- of the parent.
--
-- Returns  true
-- Locks    nothing; only inserts
-- Raises   nothing of its own
-- Called   by the triggers of process, whose statement trigger carries on from here
create or replace function wf._enter(p_instance bigint[], p_parent bigint[], p_node int[], p_index int[],
                                     p_item jsonb[], p_at timestamptz, p_torn boolean default null,
                                     p_sees bigint[] default null) returns boolean
language plpgsql as $$
declare
    v_id bigint[];
    v_may bigint[];
begin
    -- an expression that contains a query costs a query each time, even if it does not reach that part
    if p_torn is null then
        perform from wf.teardown limit 1;
        p_torn := found;
    end if;
    if p_torn then
        v_may := wf._withhold(p_instance, p_parent, p_node, p_at);
        if cardinality(v_may) < cardinality(p_parent) then
            select array_agg(p_instance[k]), array_agg(p_parent[k]), array_agg(p_node[k]), array_agg(p_index[k]),
                   case when p_item is not null then array_agg(p_item[k]) end,
                   case when p_sees is not null then array_agg(p_sees[k]) end
              into p_instance, p_parent, p_node, p_index, p_item, p_sees
              from unnest(v_may) k;
        end if;
    end if;
    if p_item is not null then
        v_id := array(select nextval('wf.process_id') from generate_series(1, cardinality(p_instance)));
        insert into wf.binding (instance_id, scope_id, name, value)
        select u.i, u.id, j.key, j.value
          from unnest(p_instance, v_id, p_item) u (i, id, item), jsonb_each(u.item) j;
    end if;
    insert into wf.process (instance_id, id, parent_id, version_id, node_id, next_id, kind, machine, was, event, state,
                            at, began_at, index, collects, scopes, bind, group_id, lane_id, rank, plain, wide, open,
                            todo, total, chosen, input, policy, error, retry_from, held, reserved, in_round,
                            spare, late, in_dag, timed, rate_id, noted)
    select u.i, u.id, u.j, p.version_id, n.id, n.next_id, n.kind, n.machine, '',
           case when n.type_id is null then 'enter' else 'enable' end,
           case when n.type_id is null then 'ACTIVE' else 'INIT' end, p_at, p_at,
           u.k,
           n.collects,
           case when n.scope = 'own' then array[u.id] else s.scopes end,
           n.bind,
           coalesce((e.e).group_id, n.group_id),
           coalesce((e.e).lane_id, n.lane_id),
           coalesce((e.e).rank, n.rank, p.rank),
           n.plain,
           n.wide,
           coalesce((e.e).open, wf._first(n.begins, n.children)),
           coalesce((e.e).total - (e.e).open, (n.finally_id is not null)::int),
           (e.e).total, (e.e).chosen,
           (e.e).input, (e.e).policy, (e.e).error,
           case when n.retry is not null then 1 end,
           (e.e).held,
           case when n.begins = 'round' then (e.e).open end,
           n.in_round,
           coalesce((e.e).spare, case n.handles when 'leaves' then n.children - 1 end),
           n.late, n.in_dag,
           n.timed,
           coalesce((e.e).rate_id, n.rate_id), n.noted
      from (select x.i, x.j, x.m, x.k, coalesce(x.id, nextval('wf.process_id')) as id, coalesce(x.s, x.j) as sees
              from unnest(p_instance, p_parent, p_node, p_index, v_id, p_sees) x (i, j, m, k, id, s)
            offset 0) u
     cross join lateral (select x.version_id, x.scopes, x.rank
                           from wf.process x
                          where x.instance_id = u.i and x.id = u.sees
                         offset 0) p
     cross join lateral (select x.id, x.next_id, x.kind, x.machine, x.scope, x.begins, x.type_id, x.bind, x.group_id,
                                x.lane_id, x.rank, x.plain, x.wide, x.children, x.collects, x.input, x.input_fixed,
                                x.policy, x.retry, x.rate_id, x.in_round, x.handles, x.late, x.in_dag, x.timed,
                                x.finally_id, x.reads, x.noted
                           from wf.node x
                          where x.version_id = p.version_id and x.id = u.m
                         offset 0) n
     cross join lateral (select case when n.scope = 'child' then p.scopes || u.id else p.scopes end as scopes) s
     cross join lateral (select case when (n.input is null or n.input_fixed)
                                          and n.policy is null
                                          and n.reads is null -- the condition of a retry may read names
                                          and n.begins not in ('chosen', 'window', 'round', 'free')
                                     then null::wf.entry
                                     else wf._prepare(u.i, s.scopes, p.version_id, n.id) end as e offset 0) e;
    return true;
end;
$$;

-- wf._first(p_begins, p_children)
--
-- Returns  how many children begin at once in a form that need not be measured
-- Locks    nothing
-- Raises   nothing
-- Called   where a node is entered
create or replace function wf._first(p_begins text, p_children int) returns int
language sql immutable
begin atomic
    select case when p_begins = 'all' then p_children
                when p_begins in ('first', 'body') then least(p_children, 1)
                else 0 end;
end;

-- wf._enter_children(p_moves, p_at)
--
-- Begins the first children of composites that have just been entered and have no
-- window: all children, the free ones, the first one, or the chosen one. At most 1,000
-- of one instance begin at once; the rest is left to other transactions.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing of its own
-- Called   by the triggers of process
create or replace function wf._enter_children(p_moves wf.full_move[], p_at timestamptz) returns void
language plpgsql as $$
declare
    c_most constant int := 1000;
    f record;
begin
    select array_agg(m.instance_id) instances, array_agg(m.id) parents, array_agg(c.id) nodes,
           bool_or(n.begins = 'free') dags
      into f
      from wf._due_full(p_moves, 'block') m
     cross join lateral (select x.begins
                           from wf.node x
                          where x.version_id = m.version_id and x.id = m.node_id
                         offset 0) n
     cross join lateral (select x.id, x.ordinal
                           from wf.node x
                          where x.version_id = m.version_id and x.parent_id = m.node_id
                         offset 0) c
     where case n.begins when 'all' then true
                         when 'free' then wf._last_before(m.version_id, c.id) is null
                         else c.ordinal = coalesce(m.chosen, 1) end;
    if f.dags then
        perform wf._open_dags(p_moves);
    end if;
    if cardinality(f.nodes) > c_most then
        with child as materialized (
            select u.i, u.j, u.node, u.k, row_number() over (partition by u.i order by u.k) > c_most as later
              from unnest(f.instances, f.parents, f.nodes) with ordinality u (i, j, node, k)),
        rest as (
            insert into wf.pending (instance_id, parent_id, node_id, first, count, later)
            select c.i, c.j, c.node, 0, 1, true from child c where c.later order by c.k)
        select array_agg(c.i order by c.k) filter (where not c.later) instances,
               array_agg(c.j order by c.k) filter (where not c.later) parents,
               array_agg(c.node order by c.k) filter (where not c.later) nodes,
               array_agg(distinct c.i) filter (where c.later) later
          into f
          from child c;
        perform wf._ask_to_begin(f.later, p_at);
    end if;
    perform wf._enter(f.instances, f.parents, f.nodes, null, null, p_at);
end;
$$;

-- wf._enter_next(p_moves, p_at, p_torn)
--
-- Begins the nodes that come after ended processes (p_torn: see _enter). Deeper than
-- wf._deepest() it only puts them into wf.pending, see the head of machine.sql.
--
-- Returns  true
-- Locks    nothing; only inserts
-- Raises   nothing of its own
-- Called   by the update trigger of process, and by _enter_freed
create or replace function wf._enter_next(p_moves wf.move[], p_at timestamptz, p_torn boolean) returns boolean
language plpgsql as $$
begin
    if pg_trigger_depth() > wf._deepest() then
        insert into wf.pending (instance_id, parent_id, node_id, first, count)
        select m.instance_id, m.parent_id, m.next_id, 0, 1 from wf._due(p_moves, 'next') m;
        return true;
    end if;
    if cardinality(p_moves) = 1 then
        return wf._enter(array[p_moves[1].instance_id], array[p_moves[1].parent_id], array[p_moves[1].next_id],
                         null, null, p_at, p_torn);
    end if;
    perform wf._enter(array_agg(m.instance_id), array_agg(m.parent_id), array_agg(m.next_id), null, null, p_at, p_torn)
       from wf._due(p_moves, 'next') m;
    return true;
end;
$$;

-- wf._reenter(p_moves, p_at)
--
-- Enters composites again after a failure. Their arguments are evaluated again; for another
-- round of a policy retry they are kept.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Raises   nothing of its own
-- Called   by the update trigger of process, for the events retry and due of a composite
create or replace function wf._reenter(p_moves wf.full_move[], p_at timestamptz) returns void
language plpgsql as $$
declare
    r record;
    v_entry wf.entry;
begin
    for r in
        select m.instance_id, m.id, m.scopes as own, m.total - m.todo as rounds, m.version_id, m.node_id,
               q.scopes, n.scope, n.begins, n.children, n.handles, p.input, p.policy,
               m.was = 'INIT' as again, m.was = 'INIT' and (n.policy is null or p.policy is not null)
               and (n.input is null or n.input_fixed or p.input is not null) as kept,
               case when n.input_fixed then n.input end as fixed,
               case when m.parent_id is null
                    then (select p.input from wf.process p where p.instance_id = m.instance_id and p.id = m.id)
                    end as given
          from wf._due_full(p_moves, 'reenter') m
         cross join lateral (select x.*
                               from wf.node x
                              where x.version_id = m.version_id and x.id = m.node_id
                             offset 0) n
         cross join lateral (select x.input, x.policy from wf.process x
                              where x.instance_id = m.instance_id and x.id = m.id offset 0) p
          left join wf.process q on q.instance_id = m.instance_id and q.id = m.parent_id
    loop
        if r.begins = 'round' and r.rounds > 0 then
            perform wf._resume_rounds(p, p_at) from wf.process p where p.instance_id = r.instance_id and p.id = r.id;
            continue;
        end if;
        if not r.again then
            perform wf._forget_notes(r.instance_id, r.id, p_at);
        end if;
        delete from wf.forall_item t where t.instance_id = r.instance_id and t.process_id = r.id;
        delete from wf.forall_result t where t.instance_id = r.instance_id and t.process_id = r.id;
        delete from wf.given_up t where t.instance_id = r.instance_id and t.process_id = r.id;
        perform wf._release_live(array[r.instance_id], array[r.id]);
        if r.kept then
            v_entry := null;
            v_entry.input := r.input;
            v_entry.policy := r.policy;
        else -- the root stands in its own scope
            v_entry := wf._prepare(r.instance_id,
                                   case when r.scope = 'own' then coalesce(r.scopes, r.own) else r.own end,
                                   r.version_id, r.node_id);
            v_entry.input := coalesce(v_entry.input, r.given);
        end if;
        if r.handles = 'retries' and v_entry.error is null then
            v_entry.error := wf._reserve_again(r.instance_id, r.version_id, r.node_id);
            v_entry.open := case when v_entry.error is not null then 0 end;
        end if;
        if v_entry.error is null then
            perform wf._forget_names(r.instance_id, r.own, r.version_id, r.node_id);
        end if;
        if r.scope = 'own' and v_entry.error is null then
            insert into wf.binding (instance_id, scope_id, name, value)
            select r.instance_id, r.id, j.key, j.value from jsonb_each(coalesce(v_entry.input, r.fixed)) j
                on conflict (instance_id, scope_id, name) do update set value = excluded.value;
        end if;
        update wf.process p
           set was = p.state, at = p_at, input = v_entry.input, policy = v_entry.policy, error = v_entry.error,
               open = coalesce(v_entry.open, wf._first(r.begins, r.children)), chosen = v_entry.chosen,
               total = v_entry.total, held = v_entry.held,
               reserved = case when r.begins = 'round' then v_entry.open end,
               todo = coalesce(v_entry.total - v_entry.open, 0),
               spare = coalesce(v_entry.spare, case r.handles when 'leaves' then r.children - 1 end), warned = null,
               event = case when v_entry.error is null then 'enter'
                            when v_entry.error ->> 'kind' = 'skipped' then 'cascade' else 'fail' end,
               state = case when v_entry.error is null then 'ACTIVE'
                            when v_entry.error ->> 'kind' = 'skipped' then 'END' else 'FAILED' end
         where p.instance_id = r.instance_id and p.id = r.id;
    end loop;
end;
$$;

-- wf._end_empty(p_moves, p_at)
--
-- Ends composites in which nothing begins. The output of let and return is their value;
-- return and checkpoint end by a move of their own.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Raises   nothing of its own
-- Called   by the triggers of process
create or replace function wf._end_empty(p_moves wf.full_move[], p_at timestamptz) returns void
language plpgsql as $$
begin
    update wf.process p
       set was = p.state, state = 'END', at = p_at,
           event = case when n.ends in ('return', 'checkpoint') then n.ends else 'end' end,
           output = case when n.ends in ('value', 'return') then coalesce(p.input, n.input)
                         when n.begins = 'round' then wf._start_state(n.ends, coalesce(p.input, n.input)) end
      from wf._due_full(p_moves, 'empty') m
     cross join lateral (select x.ctid
                           from wf.process x
                          where x.instance_id = m.instance_id and x.id = m.id
                         offset 0) k
     cross join lateral (select x.begins, x.ends, x.input
                           from wf.node x
                          where x.version_id = m.version_id and x.id = m.node_id
                         offset 0) n
     where p.ctid = k.ctid;
end;
$$;

-- wf._break(p_moves, p_at)
--
-- Fails processes for which something could not be evaluated when they began. Ends
-- processes that read a name of a process that was skipped with all that reads it.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Raises   nothing of its own
-- Called   by the insert trigger of process
create or replace function wf._break(p_moves wf.full_move[], p_at timestamptz) returns void
language plpgsql as $$
begin
    update wf.process p
       set was = p.state, at = p_at,
           event = case p.error ->> 'kind' when 'skipped' then 'cascade' else 'fail' end,
           state = case p.error ->> 'kind' when 'skipped' then 'END' else 'FAILED' end
     where p.ctid = any (array(select k.ctid
                                 from wf._due_full(p_moves, 'broken') m
                                cross join lateral (select x.ctid
                                                      from wf.process x
                                                     where x.instance_id = m.instance_id and x.id = m.id
                                                    offset 0) k));
end;
$$;

-- wf._count_ended(p_moves, p_steps, p_at, p_torn)
--
-- Counts ended processes in their parents. A parent ends with its last child, or with the
-- first child that returns. A parent may begin more children. A race is won by the first
-- child that ends well. A process that is torn down ends when it has been undone. Elements
-- and branches that were given up are counted when they have stopped. A try whose finally
-- has to run first keeps the returned value. A dag begins the steps whose predecessors
-- have all ended (p_torn: see _enter).
--
-- Returns  nothing
-- Locks    the parents' rows; by then the caller holds their instances
-- Raises   nothing of its own
-- Called   by the update trigger of process, near its end, since it nests
create or replace function wf._count_ended(p_moves wf.full_move[], p_steps bigint, p_at timestamptz, p_torn boolean)
returns void
language plpgsql as $$
declare
    v_freed wf.move[];
begin
    if p_steps & wf._step('free') > 0 then
        v_freed := wf._free_steps(p_moves);
    end if;
    update wf.process p
       set was = p.state, at = d.at,
           fill = least(k.ended, (k.c).more),
           todo = p.todo - least(k.ended, (k.c).more),
           open = p.open - k.ended + least(k.ended, (k.c).more) + k.freed + coalesce((k.stopped = 'undo')::int, 0),
           output = coalesce(d.output, (k.c).state, p.output),
           reserved = coalesce((k.c).reserved, p.reserved),
           chosen = coalesce((select n.ordinal from wf.node n where n.version_id = p.version_id and n.id = k.winner),
                             p.chosen),
           event = case when p.todo > 0 and p.total is null then 'refill'
                        when p.state = 'ABORTING' then coalesce(k.stopped, 'count')
                        -- a return goes up to the form that has a scope of its own
                        when k.returned then case when p.scopes[1] = p.id then 'end' else 'return' end
                        when k.winner is not null then 'win'
                        when p.open - k.ended + (k.c).more + k.freed = 0
                        then case when (k.c).error is not null then 'fail' else 'end' end
                        when (k.c).more > 0 then 'refill' else 'count' end,
           state = case when p.todo > 0 and p.total is null then p.state
                        when p.state = 'ABORTING' then wf._state_of_stopped(k.stopped)
                        when k.returned then 'END'
                        when k.winner is not null then 'ABORTING'
                        when p.open - k.ended + (k.c).more + k.freed = 0
                        then case when (k.c).error is not null then 'FAILED' else 'END' end
                        else p.state end,
           error = coalesce((k.c).error, p.error)
      from (select m.instance_id, m.parent_id, count(*)::int as all,
                   count(*) filter (where m.state = 'END' or wf._is_given_up(m.instance_id, m.id))::int as ended,
                   max(m.at) as at, max(m.id) as last, bool_or(m.event = 'return') as returned,
                   (array_agg(m.output) filter (where m.event = 'return'))[1] as output,
                   min(m.node_id) filter (where m.state = 'END') as first
              from wf._due_full(p_moves, 'up') m
             group by m.instance_id, m.parent_id) d
     -- a process that was stopped, or has handed its error on, ends its parent only if the
     -- parent is stopped itself
     cross join lateral (select x.ctid, case x.state when 'ABORTING' then d.all else d.ended end as ended,
                                d.returned or x.total is null and x.output is not null as returned,
                                case when v_freed is null then 0
                                     else (select count(*)::int from unnest(v_freed) f
                                            where f.instance_id = x.instance_id and f.parent_id = x.id) end as freed,
                                case when x.spare is not null and x.total is null and x.state = 'ACTIVE'
                                     then d.first end as winner,
                                -- nothing is left in the process, and no finally comes
                                case when x.state = 'ABORTING' and x.open <= d.all
                                          and (x.total is not null or x.todo = 0)
                                     then wf._when_stopped(x.instance_id, x.id) end as stopped,
                                case when x.total is null then row(x.todo, null, null, null)::wf.closing
                                     when x.state <> 'ACTIVE' or d.ended = 0 or d.returned
                                     then row(0, null, null, null)::wf.closing
                                     when x.reserved is not null then wf._close_round(d.instance_id, x.id, d.last)
                                     when x.open - d.ended + x.todo > 0 then row(x.todo, null, null, null)::wf.closing
                                     else row(0, null, wf._forall_error(x), null)::wf.closing end as c
                           from wf.process x
                          where x.instance_id = d.instance_id and x.id = d.parent_id offset 0) k
     where p.ctid = k.ctid and k.ended > 0;
    if v_freed is not null then
        perform wf._enter_freed(v_freed, p_at, p_torn);
    end if;
end;
$$;
