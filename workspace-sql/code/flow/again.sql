-- The policy `retry` of a block, a call or a workflow. When an error of a process in it
-- looks for its handler, the policy takes the error if it accepts it and attempts are
-- left. Everything that runs in the block is then torn down (teardown.follows is again).
-- When that has stopped, the block makes the move retry: it is INIT, and a timer of kind
-- retry says when its next round begins. A round begins everything in the block anew
-- (_reenter). Only the arguments of a call and the values of the block's policies are
-- kept from the first round.
--
-- Nothing counts or reads former rounds, so each round costs as much as the first one.
-- The processes that a round may have are reserved in wf.extent when it begins.

-- wf._retry_of(p_fixed, p_policy)
--
-- Returns  the values of a policy retry: those fixed in the node, or those of the node's expressions; null if these
--          could not be evaluated
-- Called   wherever a policy retry is asked
create or replace function wf._retry_of(p_fixed jsonb, p_policy jsonb) returns jsonb
language sql immutable
begin atomic
    select case when p_fixed = '{}' then p_policy -> 'retry' else p_fixed end;
end;

-- wf._policy_scopes(p_instance, p_process, p_parent, p_scopes)
--
-- Returns  the scopes that the policies of a process see; if the process sees only its own scope, those around it
-- Called   where `when` of a retry is evaluated
create or replace function wf._policy_scopes(p_instance bigint, p_process bigint, p_parent bigint, p_scopes bigint[])
returns bigint[]
language sql stable
begin atomic
    select case when p_scopes[1] = p_process and p_parent is not null
                then (select p.scopes from wf.process p where p.instance_id = p_instance and p.id = p_parent)
                else p_scopes end;
end;

-- wf._has_round_left(p_block, p_node, p_process, p_error, p_at)
--
-- Returns  whether the retry of a block takes an error of a process in it
-- Locks    nothing; a condition that cannot be evaluated is noted in the history
-- Called   by _ask_handler
create or replace function wf._has_round_left(p_block wf.process, p_node wf.node, p_process bigint, p_error jsonb,
                                              p_at timestamptz) returns boolean
language plpgsql as $$
declare
    v_idempotent constant boolean := case p_error ->> 'kind' when 'lost' then (
        select n.idempotent or coalesce(p.policy -> 'idempotent', 'false') = 'true'
          from wf.process p
          join wf.node n on n.version_id = p.version_id and n.id = p.node_id
         where p.instance_id = p_block.instance_id and p.id = (p_error ->> 'process')::bigint) end;
    v_verdict constant jsonb := wf._judge_retry(
        wf._retry_of(p_node.retry, p_block.policy), p_block.attempt - p_block.retry_from + 1, p_error ->> 'kind',
        p_error, coalesce(v_idempotent, false), p_node.retry_when, p_node.reads, p_block.instance_id,
        wf._policy_scopes(p_block.instance_id, p_block.id, p_block.parent_id, p_block.scopes));
begin
    if v_verdict ? 'error' then
        insert into wf.event (instance_id, process_id, xid, at, was, event, state, detail)
        select p.instance_id, p.id, pg_current_xact_id(), p_at, p.state, 'undecided', p.state,
               v_verdict -> 'error' || jsonb_build_object('line', p_node.line)
          from wf.process p where p.instance_id = p_block.instance_id and p.id = p_process;
    end if;
    return v_verdict = 'true';
end;
$$;

-- wf._wait_for_round(p_instance, p_body, p_error, p_failed_at, p_at)
--
-- The body of a block (p_body) has been torn down after a failure (p_error, at
-- p_failed_at). The block now waits for its next round. The delay counts from the failure.
--
-- Returns  nothing
-- Locks    nothing beyond the row that it updates
-- Called   by _end_teardowns
create or replace function wf._wait_for_round(p_instance bigint, p_body bigint, p_error jsonb, p_failed_at timestamptz,
                                              p_at timestamptz) returns void
language plpgsql as $$
declare
    v_block bigint := (select p.parent_id from wf.process p where p.instance_id = p_instance and p.id = p_body);
begin
    perform wf._forget_notes(p_instance, v_block, p_at);
    insert into wf.timer (instance_id, process_id, kind, due_at)
    select p_instance, p.id, 'retry',
           p_failed_at + wf._retry_delay(wf._retry_of(n.retry, p.policy), p.attempt - p.retry_from + 1,
                                         wf._retry_chance(p.id, p.attempt))
      from wf.process p
      join wf.node n on n.version_id = p.version_id and n.id = p.node_id
     where p.instance_id = p_instance and p.id = v_block;
    update wf.process p
       set was = p.state, event = 'retry', state = 'INIT', at = p_at, attempt = p.attempt + 1, output = null,
           error = p_error
     where p.instance_id = p_instance and p.id = v_block;
end;
$$;

-- wf._reserve_again(p_instance, p_version, p_node)
--
-- Reserves the processes that another round of a block may have.
--
-- Returns  an error record if the instance may not have so many processes; else null
-- Locks    the row of extent; by then the caller holds the instance
-- Called   by _reenter
create or replace function wf._reserve_again(p_instance bigint, p_version bigint, p_node int) returns jsonb
language plpgsql as $$
declare
    v_most bigint;
    v_error jsonb;
begin
    select n.most,
           wf._beyond(format('the next round of this %s', n.kind), n.most,
                      n.most + r.most + coalesce(e.processes, 0), 0, 0, e.quota)
      into v_most, v_error
      from wf.node n
      join wf.node r on r.version_id = n.version_id and r.id = 1
      left join wf.extent e on e.instance_id = p_instance
     where n.version_id = p_version and n.id = p_node;
    if v_error is null then
        insert into wf.extent (instance_id, processes) values (p_instance, v_most)
            on conflict (instance_id) do update set processes = wf.extent.processes + excluded.processes;
    end if;
    return v_error;
end;
$$;
