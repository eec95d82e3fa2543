-- while, repeat and fold: one round after another. A loop is a window of one element
-- (forall.sql). A round is a process with a scope of its own, and `todo` says how many
-- more rounds there may be. While one round is under way, nothing else of the loop is.
-- When a round has ended, its yield is the next state, and the condition says whether
-- there is another round. Both are evaluated in the move that counts the round
-- (_count_ended). The state is the output of the loop itself; each round has it as a name
-- in its scope. A loop keeps nothing of the rounds that have ended, so the last round
-- costs as much as the first one.
--
-- How many rounds there will be is not known beforehand. They are reserved in
-- wf.extent as they go by: twice as many each time, at most 1,000 (process.reserved).
-- Rounds that were not needed are given back.
--
-- If nothing in a body can wait (node.light: it has only lets, ifs, switches and blocks of
-- them), the rounds need no processes. They are evaluated one after another in memory, and
-- only the state and the number of rounds are kept (_run_rounds). If such a round has an
-- error, it is begun again as a process, and the error is that of the process.

do $$
begin
    if to_regtype('wf.closing') is null then
        create type wf.closing as (more int, state jsonb, error jsonb, reserved int);
        comment on type wf.closing is
            'What follows when the last child of a form with a window has ended: more is how many elements or '
            'rounds may still begin, and error is set if it fails. A loop has its next state, and how many rounds it '
            'has reserved.';
    end if;
end;
$$;

-- wf._without_range(p_begins, p_input)
--
-- Returns  the expression that is evaluated as the input of a forall or loop; for a range, a list of its two ends
-- Called   by _prepare
create or replace function wf._without_range(p_begins text, p_input jsonb) returns jsonb
language sql immutable
begin atomic
    select case when wf._is_range(p_begins, p_input, false)
                then jsonb_set(p_input, case p_begins when 'round' then '{2,0}'::text[] else '{0}' end, '"list"')
                else p_input end;
end;

-- wf._source(p_begins, p_value)
--
-- Returns  the list of a forall or fold, or the ends of its range; p_value is the value of its input
-- Called   wherever its elements are looked at
create or replace function wf._source(p_begins text, p_value jsonb) returns jsonb
language sql immutable
begin atomic
    select case p_begins when 'round' then p_value -> 1 else p_value end;
end;

-- wf._holds(p_kind, p_condition, p_environment, p_line)
--
-- Returns  whether the condition of a loop is true, and an error record if it is not a boolean
-- Called   by _first_round and _close_round
create or replace function wf._holds(p_kind text, p_condition jsonb, p_environment jsonb, p_line int,
                                     out holds boolean, out error jsonb)
language plpgsql stable as $$
declare
    v_result jsonb := wf._evaluate(p_condition, p_environment);
begin
    if v_result ? 'error' then
        error := wf._blame(v_result -> 'error', p_condition, p_environment, p_line, 'condition');
    elsif jsonb_typeof(v_result -> 'value') <> 'boolean' then
        error := wf._refuse('input', format('the condition of a %s needs a boolean, not %s',
                                            p_kind, jsonb_typeof(v_result -> 'value')));
    end if;
    holds := error is null and v_result -> 'value' = 'true';
end;
$$;

-- wf._first_round(p_node, p_entry, p_value, p_environment)
--
-- Works out how many rounds a loop may have, and whether there is a first one. p_value is
-- the value of the loop's input: for a while the first state, for a fold the first state
-- and the list.
--
-- Returns  the entry with open and total
-- Raises   WF020 if a value does not fit
-- Called   by _measure
create or replace function wf._first_round(p_node wf.node, p_entry wf.entry, p_value jsonb, p_environment jsonb)
returns wf.entry
language plpgsql as $$
declare
    v_max jsonb;
    f record;
begin
    if p_node.ends = 'all' then
        p_entry.total := wf._count_elements(p_node, p_value -> 1);
        p_entry.open := least(p_entry.total, 1);
        return p_entry;
    end if;
    v_max := wf._evaluate(p_node.max, p_environment);
    if v_max ? 'error' then
        p_entry.error := wf._blame(v_max -> 'error', p_node.max, p_environment, p_node.line, 'max');
        return p_entry;
    elsif jsonb_typeof(v_max -> 'value') <> 'number'
          or (v_max ->> 'value')::numeric < 1 or (v_max ->> 'value')::numeric % 1 <> 0 then
        raise exception using errcode = 'WF020',
            message = format('max of a %s is an int of at least 1, not %s', p_node.kind, v_max -> 'value');
    end if;
    p_entry.total := least((v_max ->> 'value')::numeric, 999999999);
    p_entry.open := 1;
    if p_node.ends = 'while' then
        select h.* into f
          from wf._holds(p_node.kind, p_node.condition,
                         p_environment || jsonb_build_object(coalesce(p_node.state, ''), p_value), p_node.line) h;
        p_entry.error := f.error;
        p_entry.open := f.holds::int;
    end if;
    return p_entry;
end;
$$;

-- wf._start_state(p_ends, p_value)
--
-- Returns  the state with which a loop begins; null for a repeat. p_value is the value of the loop's input
-- Called   where a loop has no state of a round yet
create or replace function wf._start_state(p_ends text, p_value jsonb) returns jsonb
language sql immutable
begin atomic
    select case p_ends when 'all' then p_value -> 0 else p_value end;
end;

-- wf._reserve_rounds(p_instance, p_version, p_kind, p_most, p_reserved, p_todo)
--
-- Reserves the next rounds of a loop: as many as there have been, at most 1,000;
-- fewer if the instance may not have so many.
--
-- Returns  how many rounds the loop has reserved then; an error record if not even one more fits
-- Locks    the row of extent; by then the caller holds the instance
-- Called   by _close_round, when all reserved rounds have begun
create or replace function wf._reserve_rounds(p_instance bigint, p_version bigint, p_kind text, p_most bigint,
                                              p_reserved int, p_todo int, out reserved int, out error jsonb)
language plpgsql as $$
declare
    c_most constant int := 1000;
    v_processes bigint;
    v_quota int;
    v_fit bigint;
    v_more int;
begin
    select r.most + e.processes, e.quota into v_processes, v_quota
      from wf.node r, wf.extent e
     where r.version_id = p_version and r.id = 1 and e.instance_id = p_instance;
    v_fit := (least(wf._setting_number('instance_processes'), v_quota) - v_processes) / p_most;
    v_more := least(p_reserved, p_todo, c_most, v_fit);
    if v_fit < 1 then
        error := wf._beyond(format('the next round of this %s', p_kind), p_most, v_processes + p_most, 0, 0, v_quota);
        return;
    end if;
    update wf.extent e set processes = e.processes + v_more * p_most where e.instance_id = p_instance;
    reserved := p_reserved + v_more;
end;
$$;

-- wf._close_round(p_instance, p_process, p_round)
--
-- A round of a loop has ended: its yield is the next state, and the condition says
-- whether there is another round. The first error in these is the error of the loop.
--
-- Returns  what follows
-- Locks    as _reserve_rounds
-- Called   by _count_ended and _resume_rounds
create or replace function wf._close_round(p_instance bigint, p_process bigint, p_round bigint) returns wf.closing
language plpgsql as $$
declare
    v_closing wf.closing;
    v_environment jsonb;
    v_result jsonb;
    v_again boolean := true;
    l record;
begin
    select p.version_id, p.scopes, p.total, p.todo, p.reserved, n.kind, n.line, n.ends, n.condition, n.yield, n.state,
           n.most, n.collect_reads
      into l
      from wf.process p
      join wf.node n on n.version_id = p.version_id and n.id = p.node_id
     where p.instance_id = p_instance and p.id = p_process;
    v_environment := wf._environment(p_instance, l.scopes || p_round, l.collect_reads);
    v_closing.more := 0;
    v_closing.reserved := l.reserved;
    if l.ends = 'until' then
        select not h.holds, h.error into v_again, v_closing.error
          from wf._holds(l.kind, l.condition, v_environment, l.line) h;
    end if;
    -- a repeat has no state: the yield of its last round is its result
    if l.yield is not null and v_closing.error is null and not (l.ends = 'until' and v_again) then
        v_result := wf._evaluate(l.yield, v_environment);
        v_closing.state := v_result -> 'value';
        if v_result ? 'error' then
            v_closing.error := wf._blame(v_result -> 'error', l.yield, v_environment, l.line, 'yield');
        else
            v_closing.error := wf._oversize(pg_column_size(v_closing.state));
        end if;
        if v_closing.error is null and wf._is_large(pg_column_size(v_closing.state)) then
            v_closing.error := wf._keep_value(p_instance, pg_column_size(v_closing.state), l.scopes);
        end if;
    end if;
    if l.ends = 'while' and v_closing.error is null then
        select h.holds, h.error into v_again, v_closing.error
          from wf._holds(l.kind, l.condition,
                         v_environment || jsonb_build_object(coalesce(l.state, ''), v_closing.state), l.line) h;
    end if;
    if v_closing.error is null and v_again and l.todo = 0 and l.ends <> 'all' then
        v_closing.error := wf._refuse('limit', format('this %s has had the %s rounds that its max allows, and its '
                                                      'condition asks for another', l.kind, l.total));
    elsif v_closing.error is null and v_again and l.todo > 0 then
        if l.reserved = l.total - l.todo then
            select r.reserved, r.error into v_closing.reserved, v_closing.error
              from wf._reserve_rounds(p_instance, l.version_id, l.kind, l.most, l.reserved, l.todo) r;
        end if;
        v_closing.more := case when v_closing.error is null then l.todo else 0 end;
    end if;
    return v_closing;
end;
$$;

-- wf._resume_rounds(p_loop, p_at)
--
-- Goes on with a loop that failed between two rounds: the yield and the condition after
-- its last round are evaluated anew, in the scope of that round.
--
-- Returns  nothing
-- Locks    nothing beyond the rows it updates
-- Called   by _reenter
create or replace function wf._resume_rounds(p_loop wf.process, p_at timestamptz) returns void
language plpgsql as $$
declare
    v_last bigint := (select c.id
                        from wf.process c
                       where c.parent_id = p_loop.id and c.index = p_loop.total - p_loop.todo - 1 and c.wide
                       order by c.id desc limit 1);
    v_closing wf.closing := wf._close_round(p_loop.instance_id, p_loop.id, v_last);
    v_more int := least(v_closing.more, 1);
begin
    update wf.process p
       set was = p.state, at = p_at, output = v_closing.state, error = v_closing.error,
           reserved = coalesce(v_closing.reserved, p.reserved), fill = v_more, open = v_more, todo = p.todo - v_more,
           event = case when v_closing.error is not null then 'fail' when v_more = 1 then 'refill' else 'end' end,
           state = case when v_closing.error is not null then 'FAILED' when v_more = 1 then 'ACTIVE' else 'END' end
     where p.instance_id = p_loop.instance_id and p.id = p_loop.id;
end;
$$;

-- wf._program(p_version, p_node)
--
-- Returns  what a light node does: ["let", name, value]; for an if or switch [kind, input, number of children,
--          children]; for a block ["steps", children]
-- Called   by _run_rounds
create or replace function wf._program(p_version bigint, p_node int) returns jsonb
language plpgsql stable as $$
declare
    v_node wf.node;
    v_input jsonb;
    v_children jsonb;
begin
    select n.* into v_node from wf.node n where n.version_id = p_version and n.id = p_node;
    v_input := case when v_node.input_fixed then jsonb_build_array('const', v_node.input) else v_node.input end;
    if v_node.ends = 'value' then
        return jsonb_build_array('let', v_node.bind, v_input);
    end if;
    v_children := (select coalesce(jsonb_agg(wf._program(p_version, c.id) order by c.ordinal), '[]')
                     from wf.node c where c.version_id = p_version and c.parent_id = p_node);
    return case v_node.begins
               when 'chosen' then jsonb_build_array(v_node.kind, v_input, v_node.children, v_children)
               else jsonb_build_array('steps', v_children) end;
end;
$$;

-- wf._program_reads(p_version, p_node)
--
-- Returns  the names that a light loop reads around it and in it, with their depths
-- Called   by _run_rounds
create or replace function wf._program_reads(p_version bigint, p_node int) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    with recursive below (id, reads) as (
        select n.id, coalesce(n.collect_reads, '{}') from wf.node n where n.version_id = p_version and n.id = p_node
         union all
        select n.id, coalesce(n.reads, '{}')
          from below b
          join wf.node n on n.version_id = p_version and n.parent_id = b.id)
    select jsonb_object_agg(r.key, r.value) from below b, jsonb_each(b.reads) r;
end;

-- wf._fitting(p_value)
--
-- Returns  p_value, a value that was made in a round
-- Raises   WF021 if it is larger than a value may be
-- Called   by _run_program and _run_rounds
create or replace function wf._fitting(p_value jsonb) returns jsonb
language plpgsql stable as $$
begin
    if pg_column_size(p_value) > 4096 and wf._oversize(pg_column_size(p_value)) is not null then
        return wf._fail_limit('the value is too large');
    end if;
    return p_value;
end;
$$;

-- wf._run_program(p_program, p_environment)
--
-- Returns  the environment with the names that a light node binds
-- Raises   what its expressions raise
-- Called   by _run_rounds
create or replace function wf._run_program(p_program jsonb, p_environment jsonb) returns jsonb
language plpgsql stable as $$
declare
    v_environment jsonb := p_environment;
    v_kind text := p_program ->> 0;
    v_chosen int;
begin
    if v_kind = 'let' then
        return p_environment || jsonb_build_object(p_program ->> 1,
                                                   wf._fitting(wf._operand(p_program -> 2, p_environment, 1)));
    elsif v_kind = 'steps' then
        for v_step in 0 .. jsonb_array_length(p_program -> 1) - 1 loop
            v_environment := wf._run_program(p_program -> 1 -> v_step, v_environment);
        end loop;
        return v_environment;
    end if;
    v_chosen := wf._chosen(v_kind, (p_program ->> 2)::int, wf._operand(p_program -> 1, p_environment, 1));
    return case when v_chosen <= (p_program ->> 2)::int
                then wf._run_program(p_program -> 3 -> (v_chosen - 1), p_environment) else p_environment end;
end;
$$;

-- wf._is_true(p_condition, p_names)
--
-- Returns  the value of a condition
-- Raises   WF020 if that is not a boolean, or the error that the condition raises
-- Called   by _after_round
create or replace function wf._is_true(p_condition jsonb, p_names jsonb) returns boolean
language plpgsql stable as $$
declare
    v_value jsonb := wf._operand(p_condition, p_names, 1);
begin
    if jsonb_typeof(v_value) <> 'boolean' then
        raise exception using errcode = 'WF020', message = 'it is not a boolean';
    end if;
    return v_value = 'true';
end;
$$;

-- wf._after_round(p_ends, p_condition, p_yield, p_state, p_names)
--
-- Does for a round in memory what _close_round does for a process.
--
-- Returns  whether there is another round, and the next state
-- Raises   what the condition or the yield raises
-- Called   by _run_rounds
create or replace function wf._after_round(p_ends text, p_condition jsonb, p_yield jsonb, p_state text, p_names jsonb,
                                           out again boolean, out state jsonb)
language plpgsql stable as $$
begin
    again := p_ends <> 'until' or not wf._is_true(p_condition, p_names);
    if p_yield is not null and not (p_ends = 'until' and again) then
        state := wf._fitting(wf._operand(p_yield, p_names, 1));
    end if;
    if p_ends = 'while' then
        again := wf._is_true(p_condition, p_names || jsonb_build_object(coalesce(p_state, ''), state));
    end if;
end;
$$;

-- wf._run_rounds(p_instance, p_process, p_at)
--
-- Does the next rounds of a light loop in memory, until the loop ends, a round has an
-- error, or this call has done enough. In the last case the rest is left to another
-- transaction.
--
-- Returns  the index of a round that has to begin as a process, because there is an error in it or after it, or the
--          loop is torn down; else null
-- Locks    nothing beyond the rows it updates
-- Called   by _enter_elements
create or replace function wf._run_rounds(p_instance bigint, p_process bigint, p_at timestamptz) returns int
language plpgsql as $$
declare
    v_program jsonb;
    v_around jsonb; -- the names around the loop
    v_names jsonb;  -- these names and those of the round
    v_state jsonb;
    v_items jsonb;
    v_first int;    -- the index of the next round
    v_round int;
    v_left int := wf._left_in_call('wf.rounds', 0);
    v_ended boolean := false;
    v_failed boolean := false;
    l record;
    f record;       -- the next state, and whether another round follows
begin
    select p.version_id, p.node_id, p.scopes, p.total, p.todo, p.reserved, p.output,
           case when n.input_fixed then n.input else p.input end as input, n.begins, n.ends, n.state, n.item,
           n.condition, n.yield, wf._is_range(n.begins, n.input, n.input_fixed) as is_range
      into l
      from wf.process p
      join wf.node n on n.version_id = p.version_id and n.id = p.node_id
     where p.instance_id = p_instance and p.id = p_process;
    v_first := l.total - l.todo - 1;
    v_round := v_first;
    if exists (select from wf.teardown) and exists (select from wf._torn(array[p_instance], array[p_process])) then
        return v_first;
    end if;
    v_program := (select wf._program(l.version_id, c.id) from wf.node c
                   where c.version_id = l.version_id and c.parent_id = l.node_id);
    v_around := wf._environment(p_instance, l.scopes, wf._program_reads(l.version_id, l.node_id));
    v_state := coalesce(l.output, wf._start_state(l.ends, l.input));
    begin
        while v_left > 0 and not v_ended loop
            v_names := v_around;
            if l.state is not null then
                v_names := v_names || jsonb_build_object(l.state, v_state);
            end if;
            if l.item is not null and l.is_range then
                v_names := v_names || jsonb_build_object(l.item, trunc((l.input -> 1 ->> 0)::numeric) + v_round);
            elsif l.item is not null then
                if v_items is null or v_round % 1000 = 0 then
                    v_items := (select t.items from wf.forall_item t
                                 where t.instance_id = p_instance and t.process_id = p_process
                                   and t.chunk = v_round / 1000);
                end if;
                v_names := v_names || jsonb_build_object(l.item, v_items -> (v_round % 1000));
            end if;
            v_names := wf._run_program(v_program, v_names);
            select a.again, a.state into f from wf._after_round(l.ends, l.condition, l.yield, l.state, v_names) a;
            -- another round would be more than max allows: that is an error after this round
            v_failed := f.again and v_round + 1 = l.total and l.ends <> 'all';
            exit when v_failed;
            v_ended := not f.again or v_round + 1 = l.total;
            v_state := f.state;
            v_round := v_round + 1;
            v_left := v_left - 1;
            perform set_config('wf.spent', '', true) where current_setting('wf.spent', true) <> '';
        end loop;
    exception
        when transaction_rollback or insufficient_resources or operator_intervention or lock_not_available then
            raise;
        when others then
            v_failed := true;
    end;
    perform wf._left_in_call('wf.rounds', v_round - v_first);
    if not v_ended and not v_failed then
        insert into wf.pending (instance_id, parent_id, first, count, later)
        values (p_instance, p_process, v_round, 1, true);
        perform wf._ask_to_begin(array[p_instance], p_at);
    end if;
    update wf.process p
       set was = p.state, at = p_at, output = v_state, reserved = p.reserved + v_round - v_first,
           event = case when v_ended then 'end' else 'count' end, state = case when v_ended then 'END' else p.state end,
           open = case when v_ended then 0 else 1 end,
           todo = p.total - v_round - case when v_ended then 0 else 1 end
     where p.instance_id = p_instance and p.id = p_process and v_round > v_first;
    return case when v_failed then v_round end;
end;
$$;
