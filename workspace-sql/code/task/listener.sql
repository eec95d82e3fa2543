-- Logins can ask to be notified when an instance has ended (outside/result.sql). Only the
-- ends of such instances send a notification: PostgreSQL makes commits that notify take
-- turns, and other commits need not wait.

comment on table wf.end_listener is
    'Instances whose end somebody wants to be notified of on channel wf_end. The notification deletes the row.';
comment on column wf.end_listener.instance_id is 'the instance';

-- wf._hear(p_instance)
--
-- Writes down that somebody wants to be notified when these instances have ended.
--
-- Returns  nothing
-- Locks    nothing, it only inserts; the caller holds the instances
-- Raises   nothing
-- Called   by _do_work
create or replace function wf._hear(p_instance bigint[]) returns void
language plpgsql as $$
begin
    insert into wf.end_listener (instance_id)
    select i.id from wf.instance i where i.id = any (p_instance)
        on conflict do nothing;
    perform wf._tell_listeners(array_agg(i.id))
       from wf.instance i where i.id = any (p_instance) and i.ended_at is not null having count(*) > 0;
end;
$$;

-- wf._tell_listeners(p_instance)
--
-- Notifies, at the commit, the logins that asked to hear of the end of these instances.
--
-- Returns  nothing
-- Locks    rows of end_listener
-- Raises   nothing
-- Called   by the triggers of instance, if anybody listens, and _hear
create or replace function wf._tell_listeners(p_instance bigint[]) returns void
language plpgsql as $$
begin
    perform pg_notify('wf_end', t.instance_id::text)
       from wf.end_listener t where t.instance_id = any (p_instance);
    delete from wf.end_listener t where t.instance_id = any (p_instance);
end;
$$;
