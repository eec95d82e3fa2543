-- Starting instances, as applications do it. How an instance starts is flow/start.sql.

-- wf.start(p_workflow, p_params, p_key, p_priority, p_tags, p_version, p_at, p_before)
--
-- Starts an instance, inside the caller's transaction. If the key is known and the payload is
-- the same, it returns the instance with that key; the workflow's policy key may say otherwise.
-- A second caller waits for the first one's transaction.
--
-- Returns  the instance
-- Locks    the rows of quotas that count it; else nothing, it only inserts; if its transaction is not READ COMMITTED,
--          the version's row (for key share)
-- Raises   WF002, WF003, WF007, WF008, WF016, WF017
-- Called   by applications, authors, the console
create or replace function wf.start(
    p_workflow text, p_params jsonb default '{}', p_key text default null, p_priority int default 0,
    p_tags text[] default '{}', p_version int default null, p_at timestamptz default null,
    p_before timestamptz default null)
returns bigint
language plpgsql security definer :engine as $$
begin
    return case when wf._gate(false)
                then wf._start(p_workflow, p_params, p_key, p_priority, p_tags, p_version, p_at, p_before,
                               row(session_user, wf._actor(), null, null, 0, gen_random_uuid(), null, null)) end;
end;
$$;
comment on function wf.start(text, jsonb, text, int, text[], int, timestamptz, timestamptz) is
    'Starts an instance of a workflow inside the caller''s transaction: name, parameters (an object), idempotency '
    'key (the same start with a known key returns the instance with that key; the workflow''s policy key may say '
    'otherwise), priority (-1000 to 1000, higher first), tags (at most 64 of 1 to 127 bytes each; the workflow''s tags '
    'are added), version (the newest if null), the time at which it is to begin (until then it is SCHEDULED; null, or '
    'a time that is past: at once), the time before which it has to begin (if it cannot, it is aborted with an error '
    'of kind timeout; null: no limit). Returns the instance''s number. Raises WF002, WF003, WF007, WF008 '
    'without a grant for the workflow or the priority, WF016 if a quota is spent, WF017 if the workflow''s policy '
    'start_if does not hold.';

-- wf.start_many(p_workflow, p_params)
--
-- Starts one instance for each element of a list of parameters, as start does,
-- but all of them in a few statements.
--
-- Returns  the instances, in order
-- Locks    as start
-- Raises   WF002, WF003, WF007, WF008, WF016, WF017
-- Called   by applications, authors
create or replace function wf.start_many(p_workflow text, p_params jsonb) returns setof bigint
language plpgsql security definer :engine as $$
declare
    v_params jsonb[];
begin
    perform wf._gate(false);
    perform wf._check_workflow_grant(p_workflow);
    if jsonb_typeof(p_params) is distinct from 'array' then
        raise exception using errcode = 'WF002',
            message = 'the parameters are not a JSON list',
            hint = 'Give a list with one object of parameters for each instance.';
    end if;
    v_params := array(select e.item from jsonb_array_elements(p_params) with ordinality e (item, k) order by e.k);
    return query
        select unnest(wf._start_all(p_workflow, v_params, 0,
                                    array(select row(session_user, wf._actor(), null, null, 0,
                                                     gen_random_uuid(), null, null)::wf.starter
                                            from unnest(v_params))));
end;
$$;
comment on function wf.start_many(text, jsonb) is
    'Starts one instance for each object in a list of parameters. Returns their numbers, in order. Raises WF002, '
    'WF003, WF007 if the workflow''s policy key gives one of them a key that is taken, WF008 without a grant for the '
    'workflow or the priority 0, WF016 if too little of a quota is left, WF017 if the workflow''s policy '
    'start_if does not hold for one of them. If it raises an error, none is started.';
