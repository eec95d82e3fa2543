-- The audit: what operators, authors and administrators have done, one row each. A verb
-- writes its row in its own transaction: both are there, or neither.
--
-- The rows have numbers without gaps, and each has a digest that follows from the row and
-- from the digest before it. Therefore fsck sees that a row was changed or is missing. A
-- verb does not give its row a number: the next verb would have to wait until the first
-- one's transaction ends, and that may stay open for hours. Instead wf.work and tick number
-- the rows that are committed, in portions, in the order in which they find them. The
-- digests have no key: somebody who may change the rows may read everything in the database,
-- and would read the key, too. A number and its digest that are kept elsewhere show whether
-- anybody, even the owner, has changed a row up to that number.

-- wf._first_ids(p_ids)
--
-- Returns  these numbers as ranges, at most the first 100 of them; null if there are no
--          numbers
-- Locks    nothing
-- Raises   nothing
-- Called   by _audit
create or replace function wf._first_ids(p_ids bigint[]) returns int8multirange
language sql immutable
begin atomic
    select range_agg(f.ids)
      from (select a.ids
              from unnest((select range_agg(int8range(u.id, u.id + 1))
                             from unnest(p_ids) u (id) where u.id is not null)) a (ids)
             order by a.ids limit 100) f;
end;

-- wf._first_bytes(p_arguments)
--
-- Returns  the arguments of a verb; if they have more than 4000 bytes, only their size and their beginning
-- Locks    nothing
-- Raises   nothing
-- Called   by _audit
create or replace function wf._first_bytes(p_arguments jsonb) returns jsonb
language sql immutable
begin atomic
    select case when octet_length(p_arguments::text) <= 4000 then p_arguments
                else jsonb_build_object('bytes', octet_length(p_arguments::text),
                                        'begins', left(p_arguments::text, 1000)) end;
end;

-- wf._audit(p_verb, p_arguments, p_reason, p_instance, p_process, p_answer)
--
-- Writes down what was done. p_verb is the name of the verb in the console. The arrays are
-- the answers to the verb: for each an instance, a process or null, and done, begun or refused.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   by every procedure that a person calls to decide something
create or replace function wf._audit(p_verb text, p_arguments jsonb, p_reason text default null,
                                     p_instance bigint[] default null, p_process bigint[] default null,
                                     p_answer text[] default null) returns void
language sql as $$
    insert into wf.audit (at, xid, login, role, client, verb, arguments, reason, targets, refused, instances,
                          processes)
    select clock_timestamp(), pg_current_xact_id(), session_user, wf._role(), inet_client_addr(), p_verb,
           wf._first_bytes(p_arguments), nullif(p_reason, ''),
           count(*) filter (where u.answer <> 'refused'), count(*) filter (where u.answer = 'refused'),
           wf._first_ids(array_agg(distinct u.instance_id) filter (where u.answer <> 'refused')),
           wf._first_ids(array_agg(distinct u.process_id) filter (where u.answer <> 'refused'))
      from unnest(p_instance, p_process, p_answer) u (instance_id, process_id, answer);
$$;

-- wf._check_reason(p_verb, p_reason, p_required)
--
-- Returns  nothing
-- Locks    nothing
-- Raises   WF002 if the reason is too long, or if the verb needs one and has none
-- Called   by verbs that take a reason, before they do anything
create or replace function wf._check_reason(p_verb text, p_reason text, p_required boolean) returns void
language plpgsql stable as $$
begin
    if octet_length(p_reason) > 4000 then
        raise exception using errcode = 'WF002',
            message = format('the reason has %s bytes; at most 4000 are kept', octet_length(p_reason)),
            hint = 'Say it shorter.';
    elsif p_required and (p_reason ~ '[^[:space:]]') is not true then
        raise exception using errcode = 'WF002',
            message = format('%s needs a reason, and none was given', p_verb),
            hint = 'Say why, in words that somebody else will understand: history and audit keep them.';
    end if;
end;
$$;

-- wf._audit_digest(p_before, p_row)
--
-- The digest must not depend on the time zone or another setting of the session.
--
-- Returns  the digest of a row: the SHA-256 of the digest before it and of the values of the row
-- Locks    nothing
-- Raises   nothing
-- Called   by _seal_audit and _fsck_audit
create or replace function wf._audit_digest(p_before bytea, p_row wf.audit) returns bytea
language sql stable
begin atomic
    select sha256(p_before || convert_to(
               jsonb_build_array(p_row.number, p_row.id, extract(epoch from p_row.at), p_row.xid::text, p_row.login,
                                 p_row.role, host(p_row.client), p_row.verb, p_row.arguments, p_row.reason,
                                 p_row.targets, p_row.refused, p_row.instances::text, p_row.processes::text)::text,
               'UTF8'));
end;

-- wf._seal_audit()
--
-- Gives at most 1,000 committed rows of the audit their numbers and digests.
--
-- Returns  nothing
-- Locks    the row of audit_head; if it is locked, another session is at work, and this does nothing
-- Raises   nothing
-- Called   by wf.work and tick
create or replace function wf._seal_audit() returns void
language plpgsql as $$
declare
    v_head wf.audit_head;
    v_row wf.audit;
begin
    if not exists (select from wf.audit a where a.number is null) then
        return;
    end if;
    select h.* into v_head from wf.audit_head h for no key update skip locked;
    if not found then
        return;
    end if;
    for v_row in select a.* from wf.audit a where a.number is null order by a.id limit 1000 loop
        v_head.number := v_head.number + 1;
        v_row.number := v_head.number;
        v_head.digest := wf._audit_digest(v_head.digest, v_row);
        update wf.audit a set number = v_head.number, digest = v_head.digest where a.id = v_row.id;
    end loop;
    update wf.audit_head h set number = v_head.number, digest = v_head.digest;
end;
$$;

-- wf._audit_purge(p_before, p_reason, p_limit)
--
-- Deletes the oldest rows of the audit: those before the first row that is not older than
-- p_before, and at most p_limit rows. Only the owner of the schema and a superuser may call
-- it. It adds a row to the audit that says which rows were deleted.
--
-- Returns  how many rows it has deleted
-- Locks    the gate, the row of audit_head
-- Raises   WF002 without a moment or a reason, WF004 if rows are just getting their numbers
-- Called   by DBAs
create or replace function wf._audit_purge(p_before timestamptz, p_reason text, p_limit int default 100000)
returns bigint
language plpgsql as $$
declare
    v_head wf.audit_head;
    v_to wf.audit;
    v_gone bigint;
begin
    perform wf._gate(false);
    perform wf._check_reason('audit purge', p_reason, true);
    if p_before is null or p_limit is null or p_limit < 1 then
        raise exception using errcode = 'WF002',
            message = format('audit purge cannot delete %s rows from before %s', coalesce(p_limit::text, 'null'),
                             coalesce(p_before::text, 'null')),
            hint = 'Give a moment, a reason, and a number of rows of at least 1.';
    end if;
    select h.* into v_head from wf.audit_head h for no key update skip locked;
    if not found then
        raise exception using errcode = 'WF004',
            message = 'another transaction is numbering the rows of the audit at this moment',
            hint = 'Try again when it has ended.';
    end if;
    select a.* into v_to
      from wf.audit a
     where a.number <= v_head.purged + p_limit
       and a.number < coalesce((select min(b.number) from wf.audit b where b.at >= p_before), v_head.number + 1)
     order by a.number desc limit 1;
    if not found then
        return 0;
    end if;
    delete from wf.audit a where a.number <= v_to.number;
    get diagnostics v_gone = row_count;
    update wf.audit_head h set purged = v_to.number, purged_digest = v_to.digest;
    perform wf._audit('audit purge', jsonb_build_object('before', p_before, 'up_to', v_to.number, 'rows', v_gone,
                                                        'digest', encode(v_to.digest, 'hex')), p_reason);
    return v_gone;
end;
$$;
