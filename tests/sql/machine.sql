-- machine.sql - every move that is no row of wf.transition is refused: all
-- states × all events × all states of each machine, and dishonest rows.
begin;
select no_plan();

select is_empty($$select t.* from wf.transition t
                   where not exists (select from wf.machine_state s where s.machine = t.machine and s.state = t.to_state)
                      or t.from_state <> '' and not exists (select from wf.machine_state s where s.machine = t.machine and s.state = t.from_state)$$,
                'every move leads from a state of its machine to a state of its machine');

-- an instance of nothing, whose rows are put into any state behind the triggers' back
insert into wf.workflow (name) values ('dummy');
insert into wf.version (workflow_id, number, checksum, source, spec, installed_at, installed_by)
select w.id, 1, 'x', '', '{}', now(), 'test' from wf.workflow w;
insert into wf.node (version_id, id, ordinal, kind, line, label, machine, scope, begins, ends)
select v.id, 1, 1, 'seq', 1, 'seq', 'composite', 'none', 'first', 'last' from wf.version v;

create function place(p_kind text, p_machine text, p_state text) returns bigint language plpgsql as $$
declare
    v_version wf.version;
begin
    select v.* into v_version from wf.version v;
    set local session_replication_role = replica;
    delete from wf.process;
    delete from wf.instance;
    insert into wf.instance (id, workflow_id, version_id, was, event, state, at, started_at, started_by)
    overriding system value
    values (1, v_version.workflow_id, v_version.id, '', 'start', case p_kind when 'instance' then p_state else 'RUNNING' end, now(), now(), 'test');
    insert into wf.process (instance_id, id, version_id, node_id, kind, machine, was, event, state, at, began_at, scopes)
    values (1, 1, v_version.id, 1, p_kind, p_machine, '', 'enable', p_state, now(), now(), array[1]);
    set local session_replication_role = origin;
    return 1;
end;
$$;

-- tries one move; the SQLSTATE it ends with
create function try_move(p_kind text, p_was text, p_event text, p_to text) returns text language plpgsql as $$
begin
    begin
        if p_kind = 'instance' then
            update wf.instance set was = p_was, event = p_event, state = p_to;
        else
            update wf.process set was = p_was, event = p_event, state = p_to;
        end if;
        raise exception using errcode = 'TT000';
    exception when others then
        return sqlstate;
    end;
end;
$$;

create table kind as
select k.kind, k.machine
  from (values ('sync', 'sync'), ('async', 'async'), ('wait', 'wait'), ('child', 'child'), ('seq', 'composite'), ('instance', 'instance')) k (kind, machine);

create function try_all(p_kind text, p_machine text) returns table (move text, code text) language plpgsql as $$
declare
    s record;
    e record;
begin
    for s in select m.state from wf.machine_state m where m.machine = p_machine loop
        perform place(p_kind, p_machine, s.state);
        for e in
            select v.event, t.state
              from (select distinct event from wf.transition union values ('nonsense'), ('')) v (event),
                   (select m.state from wf.machine_state m where m.machine = p_machine union values ('NOWHERE'), ('')) t (state)
             where not exists (select from wf.transition x
                                where x.machine = p_machine and x.from_state = s.state and x.event = v.event and x.to_state = t.state)
        loop
            code := try_move(p_kind, s.state, e.event, e.state);
            move := format('%s -%s-> %s', s.state, e.event, e.state);
            return next;
        end loop;
    end loop;
end;
$$;

select is_empty(format('select * from try_all(%L, %L) where code <> ''WF001''', kind, machine), 'machine ' || machine || ' refuses every move that is no row')
  from kind;

-- a forged `was`: the row says that it was in a state from which the move is legal
create function forge_all(p_kind text, p_machine text) returns table (move text, code text) language plpgsql as $$
declare
    s record;
    t record;
begin
    for s in select m.state from wf.machine_state m where m.machine = p_machine loop
        perform place(p_kind, p_machine, s.state);
        for t in select x.* from wf.transition x where x.machine = p_machine and x.from_state <> s.state loop
            code := try_move(p_kind, t.from_state, t.event, t.to_state);
            move := format('%s, said to be in %s, -%s-> %s', s.state, t.from_state, t.event, t.to_state);
            return next;
        end loop;
    end loop;
end;
$$;
select is_empty(format('select * from forge_all(%L, %L) where code <> ''WF001''', kind, machine), 'machine ' || machine || ' refuses a forged was')
  from kind;

-- a first move is no other row either
select throws_ok($$insert into wf.process (instance_id, id, version_id, node_id, kind, machine, was, event, state, at, began_at, scopes)
    select 1, 2, v.id, 1, 'sync', 'sync', 'INIT', 'start', 'START_REQUESTED', now(), now(), array[1] from wf.version v$$,
    'WF001', null, 'a process is born by its first move only');
select throws_ok($$insert into wf.process (instance_id, id, version_id, node_id, kind, machine, was, event, state, at, began_at, scopes)
    select 1, 2, v.id, 1, 'sync', 'sync', '', 'enable', 'END', now(), now(), array[1] from wf.version v$$,
    'WF001', null, 'a process is not born ended');
select throws_ok($$insert into wf.instance (id, workflow_id, version_id, was, event, state, at, started_at, started_by)
    overriding system value
    select 2, v.workflow_id, v.id, '', 'start', 'END', now(), now(), 'test' from wf.version v$$,
    'WF001', null, 'an instance is not born ended');

-- nor may a row become another one
select place('sync', 'sync', 'INIT');
select throws_ok($$update wf.process set id = 7, was = 'INIT', event = 'abort', state = 'ABORTED'$$, 'WF001', null, 'a process keeps its number');
select throws_ok($$update wf.process set kind = 'async', was = 'INIT', event = 'abort', state = 'ABORTED'$$, 'WF001', null, 'a process keeps its kind');
select throws_ok($$update wf.process set machine = 'async', was = 'INIT', event = 'abort', state = 'ABORTED'$$, 'WF001', null, 'a process keeps its machine');

-- every state but the terminal ones has an exit, and the terminal ones have none
select is_empty($$
    select m.machine, m.state
      from wf.machine_state m
     where m.terminal = exists (select from wf.transition t
                                 where t.machine = m.machine and t.from_state = m.state and t.to_state <> t.from_state)
$$, 'the states with an exit are those that are not terminal');
select is_empty($$
    select m.machine, m.state
      from wf.machine_state m
     where not m.terminal and m.state not in ('FAILED', 'WAITING')
       and not exists (select from wf.transition t
                        where t.machine = m.machine and t.from_state = m.state and t.to_state <> t.from_state and t.actor in ('D', 'W', 'T'))
$$, 'each state but FAILED and WAITING has an exit without an operator');
select is_empty($$
    select m.machine, m.state
      from wf.machine_state m
     where not exists (select from wf.transition t where t.machine = m.machine and t.to_state = m.state and t.from_state <> t.to_state)
$$, 'each state can be reached');

select * from finish();
rollback;
