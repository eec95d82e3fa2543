-- Keys of instances: the answer to a start with a known key.
--
-- The policy key of a workflow says when a key starts another instance:
--
--   dedupe      never: the same start always answers the same instance (also without the policy)
--   singleton   when the instance with the key has ended; until then a start answers that instance
--   coalesce    as singleton, but one successor may wait until that instance has ended. A start
--               with another payload replaces the instance that waits, also one that waits for
--               its time
--
-- A successor is SCHEDULED. It has a row of work (kind start) that is never due; the item of
-- that row is the instance before it. When that instance ends, the transaction adds a second
-- row, which is due (_tell_successors). This transaction may not see a successor that is not
-- committed yet. Therefore each successor brings a second row of its own; when that row is
-- done, it sees whichever of the two transactions committed last. A replaced instance loses
-- its rows of work.

-- wf._key_of(p_by, p_params)
--
-- Returns  the key that the policy of a workflow gives to a start with these parameters; null: none
-- Locks    nothing
-- Raises   WF002
-- Called   by _start, where the start names no key
create or replace function wf._key_of(p_by jsonb, p_params jsonb) returns text
language plpgsql stable as $$
declare
    v_key constant jsonb := wf._evaluate(p_by, p_params);
begin
    if v_key ? 'error' or jsonb_typeof(v_key -> 'value') in ('object', 'array') then
        raise exception using errcode = 'WF002',
            message = coalesce('the policy key cannot be worked out: '
                               || (wf._blame(v_key -> 'error', p_by, p_params, null, null) ->> 'message'),
                               format('by of the policy key is %s', left(v_key ->> 'value', 100))),
            hint = 'Give parameters for which it is a text of 1 to 255 bytes or a number, or null for no key.';
    end if;
    return v_key ->> 'value';
end;
$$;

-- wf._claim_key(p_workflow_id, p_workflow, p_key, p_reuse, p_digest)
--
-- Takes a key, and a number for the instance that is started with it. A second caller of
-- the key waits for the first one's transaction.
--
-- Returns  that number, and the instance after whose end the new one may begin (null: at once); if the key is known,
--          the instance that the start answers
-- Locks    the new row; waits for a transaction that has claimed the key; then as _reuse_key
-- Raises   WF002, WF007
-- Called   by _start
create or replace function wf._claim_key(
    p_workflow_id bigint, p_workflow text, p_key text, p_reuse text, p_digest text, out instance_id bigint,
    out known boolean, out after_id bigint)
language plpgsql as $$
declare
    v_digest text;
begin
    if octet_length(p_key) not between 1 and 255 then
        raise exception using errcode = 'WF002',
            message = format('the key has %s bytes', octet_length(p_key)),
            hint = 'A key has 1 to 255 bytes.';
    end if;
    insert into wf.instance_key as k (workflow_id, key, instance_id, digest)
    values (p_workflow_id, p_key, nextval('wf.instance_id_seq'), p_digest)
        on conflict do nothing
    returning k.instance_id into instance_id;
    known := instance_id is null;
    if not known then
        return;
    elsif p_reuse in ('singleton', 'coalesce') then
        select r.* into instance_id, known, after_id, v_digest
          from wf._reuse_key(p_workflow_id, p_key, p_reuse, p_digest) r;
    else
        select k.instance_id, k.digest into instance_id, v_digest
          from wf.instance_key k where k.workflow_id = p_workflow_id and k.key = p_key;
    end if;
    if v_digest is distinct from p_digest then
        raise exception using errcode = 'WF007',
            message = format('key %s of workflow %s is known with another payload', p_key, p_workflow),
            detail = format('It started instance %s.', instance_id),
            hint = case p_reuse when 'singleton' then 'Wait until that instance has ended, or abort it.'
                                else 'Use a new key, or the same parameters, priority, tags and version.' end;
    end if;
end;
$$;

-- wf._reuse_key(p_workflow_id, p_key, p_reuse, p_digest)
--
-- Decides about a start with a known key, for a workflow with the policy key(singleton)
-- or key(coalesce).
--
-- Returns  as _claim_key, and the digest of the payload that the key has from now on
-- Locks    the row of the key; then as _replace_waiting
-- Raises   nothing
-- Called   by _claim_key
create or replace function wf._reuse_key(
    p_workflow_id bigint, p_key text, p_reuse text, p_digest text, out instance_id bigint, out known boolean,
    out after_id bigint, out digest text)
language plpgsql as $$
declare
    v wf.instance_key;
    v_waits bigint; -- the instance that has not begun
    v_replaced boolean;
begin
    select k.* into v from wf.instance_key k where k.workflow_id = p_workflow_id and k.key = p_key for update;
    if v.next_id is not null and not wf._is_scheduled(v.next_id) then
        -- the successor has begun, or was aborted before that
        v.instance_id := case when wf._has_ended(v.next_id) then v.instance_id else v.next_id end;
        v.next_id := null;
    end if;
    v_waits := coalesce(v.next_id, case when wf._is_scheduled(v.instance_id) then v.instance_id end);
    known := p_reuse = 'singleton' or v_waits is not null and v.digest = p_digest;
    if v_waits is null and wf._has_ended(v.instance_id) then
        known := false;
        v.instance_id := nextval('wf.instance_id_seq');
    elsif not known then
        v_replaced := v_waits is not null and wf._replace_waiting(v_waits);
        if v_replaced and v_waits = v.instance_id then
            v.instance_id := nextval('wf.instance_id_seq');
        else
            after_id := case when v_replaced then v.instance_id else coalesce(v_waits, v.instance_id) end;
            v.instance_id := after_id;
            v.next_id := nextval('wf.instance_id_seq');
        end if;
    end if;
    instance_id := coalesce(v.next_id, v.instance_id);
    digest := case when known then v.digest else p_digest end;
    if not known then
        update wf.instance_key k set instance_id = v.instance_id, next_id = v.next_id, digest = p_digest
         where k.workflow_id = p_workflow_id and k.key = p_key;
    end if;
end;
$$;

-- wf._is_scheduled(p_instance)
--
-- Returns  whether an instance has not begun
-- Locks    nothing
-- Raises   nothing
-- Called   by _reuse_key and _replace_waiting
create or replace function wf._is_scheduled(p_instance bigint) returns boolean
language plpgsql as $$
begin
    return exists (select from wf.instance i where i.id = p_instance and i.state = 'SCHEDULED');
end;
$$;

-- wf._has_ended(p_instance)
--
-- Returns  whether an instance has ended; a purged instance has
-- Locks    nothing
-- Raises   nothing
-- Called   by _reuse_key, _free_to_begin and fsck
create or replace function wf._has_ended(p_instance bigint) returns boolean
language plpgsql as $$
begin
    return not exists (select from wf.instance i where i.id = p_instance and i.state not in ('END', 'ABORTED'));
end;
$$;

-- wf._replace_waiting(p_instance)
--
-- Another start replaces an instance that has not begun. The instance does not begin any
-- more, and a row of work has it aborted.
--
-- Returns  whether it was replaced; false: it has begun just now
-- Locks    the instance's rows of work: waits for a driver that is about to begin it
-- Raises   nothing
-- Called   by _reuse_key
create or replace function wf._replace_waiting(p_instance bigint) returns boolean
language plpgsql as $$
begin
    -- this row first: the transaction that has it decides about the others
    perform from wf.work w
      where w.instance_id = p_instance and w.kind = 'start' and w.item_id > 0 for update;
    delete from wf.work w where w.instance_id = p_instance and w.kind = 'start';
    if not wf._is_scheduled(p_instance) then
        return false;
    end if;
    insert into wf.work (kind, instance_id, item_id, due_at) values ('abort', p_instance, 0, wf._now());
    return true;
end;
$$;

-- wf._key_holder(p_workflow_id, p_key)
--
-- Returns  the instance that has a key now; a successor has it as soon as it has begun
-- Locks    nothing
-- Raises   nothing
-- Called   wherever an instance is named by its key
create or replace function wf._key_holder(p_workflow_id bigint, p_key text) returns bigint
language sql stable
begin atomic
    select coalesce((select i.id from wf.instance i
                      where i.id = k.next_id and i.state not in ('SCHEDULED', 'END', 'ABORTED')), k.instance_id)
      from wf.instance_key k
     where k.workflow_id = p_workflow_id and k.key = p_key;
end;

-- wf._follow(p_instance, p_after, p_before)
--
-- Has an instance begin when the one before it (p_after) has ended. At p_before a row of
-- work looks whether it has begun.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   by _start
create or replace function wf._follow(p_instance bigint, p_after bigint, p_before timestamptz) returns void
language plpgsql as $$
begin
    insert into wf.work (kind, instance_id, item_id, due_at)
    select 'start', p_instance, u.item, u.due_at
      from (values (p_after, timestamptz 'infinity'), (bigint '0', p_before)) u (item, due_at)
     where u.due_at is not null;
end;
$$;

-- wf._tell_successors(p_instance, p_at)
--
-- These instances have ended: rows of work have their successors begin.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   by the triggers of instance
create or replace function wf._tell_successors(p_instance bigint[], p_at timestamptz) returns void
language plpgsql as $$
begin
    insert into wf.work (kind, instance_id, item_id, due_at)
    select 'start', w.instance_id, 0, p_at
      from unnest(p_instance) u (id)
     cross join lateral (select x.instance_id from wf.work x
                          where x.kind = 'start' and x.item_id = u.id and x.item_id > 0 offset 0) w;
    if found then
        perform wf._ring();
    end if;
end;
$$;

-- wf._free_to_begin(p_instance, p_now)
--
-- SCHEDULED instances are to begin. An instance is looked at again after 100 ms, if another
-- transaction holds the instance before it, or if a start is about to replace it.
--
-- Returns  those that may begin: their time has come, the instance before them has ended, and no start replaces them
-- Locks    their rows of work that are never due, then the instances before them (for share), skipping locked ones;
--          then their other rows of work
-- Raises   nothing
-- Called   by _begin_scheduled
create or replace function wf._free_to_begin(p_instance bigint[], p_now timestamptz) returns bigint[]
language plpgsql as $$
declare
    f record;
    v_looked bigint[] := array[]::bigint[]; -- instances that follow another one
    v_held bigint[] := array[]::bigint[]; -- those of them that do not begin now
begin
    for f in
        select i.id, i.state, w.id as work_id, w.item_id as after_id, coalesce(i.scheduled_at > p_now, false) as early
          from unnest(p_instance) u (id)
         cross join lateral (select x.id, x.item_id from wf.work x
                              where x.instance_id = u.id and x.kind = 'start' and x.item_id > 0 offset 0) w
         cross join lateral (select x.id, x.state, x.scheduled_at from wf.instance x where x.id = u.id offset 0) i
         order by w.item_id
    loop
        v_looked := v_looked || f.id;
        perform from wf.work w where w.id = f.work_id for update skip locked;
        if found and (f.state <> 'SCHEDULED' or not f.early and wf._has_ended(f.after_id)) then
            continue;
        end if;
        v_held := v_held || f.id;
        if found then perform from wf.instance i where i.id = f.after_id for share skip locked; end if;
        if not found then
            insert into wf.work (kind, instance_id, item_id, due_at)
            values ('start', f.id, 0, p_now + interval '100 ms');
        end if;
    end loop;
    if cardinality(v_looked) > 0 then
        delete from wf.work w
         where w.kind = 'start' and w.instance_id = any (v_looked) and w.instance_id <> all (v_held);
    end if;
    return array(select u.id from unnest(p_instance) u (id)
                  where u.id <> all (v_held)
                    and not exists (select from wf.work w where w.instance_id = u.id and w.kind = 'abort'));
end;
$$;
