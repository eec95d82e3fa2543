-- Callbacks: a system outside is given a token. With it the system can end, once, the wait
-- of the task wf.Callback for which the token was made.
--
-- A callback is a signal that only the holder of a token can send. Its name is 'callback ',
-- followed by the name of the callback; no other signal may have a name that begins so. Like
-- every signal it is kept until a task waits for it, and taken where the instance is held.

comment on table wf.callback is
    'The tokens of callbacks: the last one that was made for each name in an instance. They are purged with the '
    'instance.';
comment on column wf.callback.instance_id is 'the instance in which the task wf.Callback waits, or will wait';
comment on column wf.callback.name is 'the name of the callback, an argument of that task';
comment on column wf.callback.token is 'SHA-256 of the token: the token itself is not stored';
comment on column wf.callback.made_at is 'when it was made';
comment on column wf.callback.made_by is 'who asked for it';
comment on column wf.callback.used_at is 'when it was used; null: it was not';
comment on column wf.callback.used_by is 'the login that used it';
comment on column wf.callback.digest is 'SHA-256 of the payload that it was used with: the same payload may come again';
comment on column wf.callback.progress is 'the progress that the holder of the token has reported';
comment on column wf.callback.progressed_at is 'when that was reported';

-- wf.callback_token(p_instance, p_name)
--
-- Returns  a new token
-- Locks    the gate, the row of the former token
-- Raises   WF002, WF003, WF004, WF008
-- Called   by applications, operators, the console
create or replace function wf.callback_token(p_instance bigint, p_name text) returns text
language plpgsql security definer :engine as $$
declare
    v_token constant text := translate(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
begin
    perform wf._gate(false);
    perform wf._signalled(to_jsonb(p_instance));
    if not wf._fits_signal(p_name) then
        raise exception using errcode = 'WF002',
            message = format('the name of the callback has %s bytes', coalesce(octet_length(p_name)::text, 'no')),
            hint = 'Give the name that the task wf.Callback has: 1 to 255 bytes, such as paid.';
    end if;
    insert into wf.callback (instance_id, name, token, made_at, made_by)
    values (p_instance, p_name, wf._sha256(v_token), wf._now(), wf._actor())
        on conflict (instance_id, name) do update
       set token = excluded.token, made_at = excluded.made_at, made_by = excluded.made_by, used_at = null,
           used_by = null, digest = null, progress = null, progressed_at = null;
    return v_token;
end;
$$;
comment on function wf.callback_token(bigint, text) is
    'Makes a token for the callback of this name in an instance. One call of wf.callback with the token ends the task '
    'wf.Callback that waits for it, or will wait. A token that was made before for this callback is not valid any '
    'more. The token has 64 hexadecimal digits. It is not stored, so keep it. Raises WF002, WF003, WF004 if the '
    'instance has ended, WF008 without a grant for the workflow (operators and administrators need none).';

-- wf._token(p_token)
--
-- Returns  the row of a token
-- Locks    its row, unless the instance has ended
-- Raises   WF003, WF004
-- Called   by callback and callback_progress
create or replace function wf._token(p_token text) returns wf.callback
language plpgsql as $$
declare
    v wf.callback;
    v_state text;
begin
    select c.* into v from wf.callback c where c.token = wf._sha256(p_token);
    if found and exists (select from wf.instance i where i.id = v.instance_id and i.ended_at is null) then
        -- an instance that has ended is not locked, so that no purge waits
        select c.* into v from wf.callback c where c.token = v.token for no key update;
    end if;
    if v.token is null then
        raise exception using errcode = 'WF003',
            message = 'the token is not valid: it was never made, a newer one replaced it, or its instance was purged',
            hint = 'Ask for a new token where you got this one: wf.callback_token makes tokens.';
    end if;
    select i.state into v_state from wf.instance i where i.id = v.instance_id;
    if v_state in ('END', 'ABORTED') and v.used_at is null then
        raise exception using errcode = 'WF004',
            message = format('instance %s has ended (%s): nothing in it waits for a callback', v.instance_id, v_state),
            hint = 'Nothing can be done with this token any more.';
    end if;
    return v;
end;
$$;

-- wf._check_payload(p_what, p_payload)
--
-- Returns  nothing, if a value from outside is not too large
-- Locks    nothing
-- Raises   WF002
-- Called   by callback and callback_progress
create or replace function wf._check_payload(p_what text, p_payload jsonb) returns void
language plpgsql stable as $$
begin
    if octet_length(p_payload::text) > wf._setting_number('value_bytes') then
        raise exception using errcode = 'WF002',
            message = format('the %s has %s bytes, more than the %s allowed', p_what, octet_length(p_payload::text),
                             wf._setting_number('value_bytes')),
            hint = 'Send a reference to the data instead of the data.';
    end if;
end;
$$;

-- wf.callback(p_token, p_payload)
--
-- Returns  accepted; known, if the same payload was accepted before
-- Locks    the gate, the row of the token; else nothing, it only inserts
-- Raises   WF002, WF003, WF004
-- Called   by the holder of the token
create or replace function wf.callback(p_token text, p_payload jsonb default 'null') returns text
language plpgsql security definer :engine as $$
declare
    v_payload constant jsonb := coalesce(p_payload, 'null');
    v_digest constant text := wf._sha256(v_payload::text);
    v wf.callback;
    v_signal bigint;
begin
    perform wf._gate(false);
    perform wf._check_payload('payload', v_payload);
    v := wf._token(p_token);
    if v.digest = v_digest then
        return 'known';
    elsif v.used_at is not null then
        raise exception using errcode = 'WF004',
            message = format('the token was used at %s, with another payload', v.used_at),
            hint = 'A token is good for one callback; the same one may be sent again, and changes nothing.';
    end if;
    update wf.callback c set used_at = wf._now(), used_by = wf._actor(), digest = v_digest where c.token = v.token;
    insert into wf.signal (instance_id, name, payload, broadcast, sent_at, sender)
    values (v.instance_id, wf._callback_name(v.name), v_payload, false, wf._now(), wf._actor())
    returning id into v_signal;
    insert into wf.work (kind, instance_id, item_id, due_at)
    values ('signal', v.instance_id, v_signal, wf._now());
    perform wf._ring();
    return 'accepted';
end;
$$;
comment on function wf.callback(text, jsonb) is
    'Calls back, with a token that wf.callback_token has made. The task wf.Callback for which it was made ends with '
    'this payload when the caller''s transaction is committed and a driver polls. If the task does not wait yet, it '
    'ends as soon as it does. Returns accepted, or known if the same payload was accepted before, which changes '
    'nothing. Raises WF002 if the payload is too large, WF003 if the token is not valid, WF004 if it was used with '
    'another payload or the instance has ended.';

-- wf.callback_progress(p_token, p_progress)
--
-- Returns  nothing
-- Locks    the gate, the row of the token
-- Raises   WF002, WF003, WF004
-- Called   by the holder of the token
create or replace function wf.callback_progress(p_token text, p_progress jsonb) returns void
language plpgsql security definer :engine as $$
declare
    v wf.callback;
begin
    perform wf._gate(false);
    perform wf._check_payload('progress', p_progress);
    v := wf._token(p_token);
    if v.used_at is not null then
        raise exception using errcode = 'WF004',
            message = format('the token was used at %s: progress cannot be reported after the callback', v.used_at),
            hint = 'Report progress before you call back.';
    end if;
    update wf.callback c set progress = p_progress, progressed_at = wf._now() where c.token = v.token;
end;
$$;
comment on function wf.callback_progress(text, jsonb) is
    'Reports the progress of the work that a callback is to end: any JSON. callback_v and explain show it until the '
    'next report. A report puts off no deadline. Returns nothing; raises WF002, WF003 and WF004 as wf.callback does.';

create or replace view wf.callback_v with (security_barrier = true) as
select c.instance_id, w.name as workflow, c.name, c.made_at, c.made_by, c.progress, c.progressed_at, c.used_at,
       c.used_by
  from wf.callback c
  join wf.instance i on i.id = c.instance_id
  join wf.workflow w on w.id = i.workflow_id;
comment on view wf.callback_v is 'The callbacks that tokens were made for, without the tokens.';
select wf._inherit_comments('callback_v', 'callback') \gset
comment on column wf.callback_v.workflow is 'the workflow of that instance';
