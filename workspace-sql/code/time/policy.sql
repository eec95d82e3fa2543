-- Schedules are set by a call, or by the policy schedule of a workflow. The policy takes
-- effect with the version that has it.

-- wf._find_schedule(p_name)
--
-- Returns  the schedule, locked for a change
-- Locks    its row
-- Raises   WF003
-- Called   by procedures that change a schedule
create or replace function wf._find_schedule(p_name text) returns wf.schedule
language plpgsql as $$
declare
    v_schedule wf.schedule;
begin
    select s.* into v_schedule from wf.schedule s where s.name = p_name for no key update;
    if not found then
        raise exception using errcode = 'WF003',
            message = format('there is no schedule %s', coalesce(left(p_name, 100), 'null')),
            hint = 'List the schedules: wf-console schedules.';
    end if;
    return v_schedule;
end;
$$;

-- wf._is_timezone(p_name)
--
-- PostgreSQL also takes abbreviations and offsets such as CEST and X-2 for time zones, but
-- their clocks never jump. The list of all names tells names from these. Reading it takes
-- 20 ms, so this reads it only for names that may be an abbreviation or an offset.
--
-- Returns  whether there is a time zone of this name
-- Locks    nothing
-- Raises   nothing
-- Called   by _check_schedule
create or replace function wf._is_timezone(p_name text) returns boolean
language plpgsql stable as $$
begin
    if p_name = 'UTC' then
        return true;
    elsif p_name ~ '^[A-Za-z_]+/[A-Za-z_/-]+$' then
        return isfinite(now() at time zone p_name);
    end if;
    return exists (select from pg_timezone_names z where z.name = p_name);
exception when invalid_parameter_value then
    return false;
end;
$$;

-- wf._check_schedule(p_schedule, p_now)
--
-- Returns  nothing, if a schedule is valid
-- Locks    nothing
-- Raises   WF002
-- Called   by _set_schedule
create or replace function wf._check_schedule(p_schedule wf.schedule, p_now timestamptz) returns void
language plpgsql stable as $$
declare
    v_wrong text;
    v_hint text;
begin
    if (octet_length(p_schedule.name) between 1 and 255) is not true then
        v_wrong := format('its name has %s bytes', coalesce(octet_length(p_schedule.name), 0));
        v_hint := 'A name has 1 to 255 bytes, such as nightly.';
    elsif (p_schedule.cron is null) = (p_schedule.every is null) then
        v_wrong := case when p_schedule.cron is null then 'it has neither a cron expression nor an interval'
                        else 'it has a cron expression and an interval' end;
        v_hint := 'Give one of them: a cron expression such as 30 2 * * *, or an interval such as 10 minutes.';
    elsif p_schedule.every < interval '1 second' or p_schedule.every > interval '100 years'
          or extract(month from p_schedule.every) <> 0 or extract(year from p_schedule.every) <> 0 then
        v_wrong := format('its interval is %s', p_schedule.every);
        v_hint := 'An interval has at least 1 second, and neither months nor years: for those give a cron expression.';
    elsif not wf._is_timezone(p_schedule.timezone) then
        v_wrong := format('there is no time zone %s', coalesce(quote_literal(left(p_schedule.timezone, 100)), 'null'));
        v_hint := 'Give a name such as UTC or Europe/Berlin; pg_timezone_names lists them.';
    elsif (p_schedule.catchup between 0 and 1000) is not true then
        v_wrong := format('its catchup is %s', coalesce(p_schedule.catchup::text, 'null'));
        v_hint := 'Give a catchup from 0 to 1000.';
    elsif (p_schedule.overlap in ('allow', 'skip', 'queue', 'replace', 'coalesce')) is not true then
        v_wrong := format('its overlap is %s', coalesce(quote_literal(left(p_schedule.overlap, 100)), 'null'));
        v_hint := 'Give allow, skip, queue, replace or coalesce.';
    elsif (p_schedule.jitter between interval '0' and interval '1 day') is not true then
        v_wrong := format('its jitter is %s', coalesce(p_schedule.jitter::text, 'null'));
        v_hint := 'Give an interval from 0 to 1 day.';
    elsif p_schedule.most < 1 then
        v_wrong := format('its count is %s', p_schedule.most);
        v_hint := 'Give a count of at least 1, or null for any number.';
    elsif not isfinite(p_schedule.start_at) or not isfinite(p_schedule.end_at)
          or p_schedule.end_at < greatest(p_schedule.start_at, p_now) then
        v_wrong := format('it starts at %s and ends at %s', p_schedule.start_at, p_schedule.end_at);
        v_hint := 'Give an end that is later than the start and later than now, or no end.';
    end if;
    if v_wrong is not null then
        raise exception using errcode = 'WF002', hint = v_hint,
            message = format('schedule %s cannot be set: %s', coalesce(left(p_schedule.name, 100), 'null'), v_wrong);
    end if;
end;
$$;

-- wf._store_schedule(p_schedule, p_now)
--
-- Stores a schedule under its name. If its times are the same as before, it goes on where it
-- was. With other times it begins with the first one from now on. If paused, it stays paused.
--
-- Returns  its next time
-- Locks    its row
-- Raises   WF004
-- Called   by _set_schedule
create or replace function wf._store_schedule(p_schedule wf.schedule, p_now timestamptz) returns timestamptz
language plpgsql as $$
declare
    v_was wf.schedule;
    v wf.schedule := p_schedule;
begin
    insert into wf.schedule (name, workflow_id, policy, times, cron, every, timezone, params, priority, catchup,
                             overlap, jitter, start_at, end_at, most, login, set_at, set_by)
    values (v.name, v.workflow_id, v.policy, v.times, v.cron, v.every, v.timezone, v.params, v.priority, v.catchup,
            v.overlap, v.jitter, v.start_at, v.end_at, v.most, v.login, v.set_at, v.set_by)
        on conflict do nothing;
    v_was := wf._find_schedule(v.name);
    if v_was.policy <> v.policy then
        perform wf._refuse_policy(v.name, v_was.policy);
    end if;
    v.id := v_was.id;
    v.next_at := case when row(v.cron, v.every, v.timezone, v.start_at) is not distinct from
                           row(v_was.cron, v_was.every, v_was.timezone, v_was.start_at)
                      then v_was.next_at end;
    if v.next_at is null or v.next_at > v.end_at then
        v.next_at := wf._schedule_after(v, p_now);
    end if;
    if v.most <= v_was.fired then
        v.next_at := null;
    end if;
    update wf.schedule s
       set workflow_id = v.workflow_id, times = v.times, cron = v.cron, every = v.every, timezone = v.timezone,
           params = v.params, priority = v.priority, catchup = v.catchup, overlap = v.overlap, jitter = v.jitter,
           start_at = v.start_at, end_at = v.end_at, most = v.most, login = v.login, set_at = v.set_at,
           set_by = v.set_by, next_at = v.next_at
     where s.id = v.id;
    delete from wf.work w where w.instance_id is null and w.item_id = v.id and w.kind = 'schedule';
    if v_was.paused_at is null then
        perform wf._call_schedule('schedule', array[v.id], wf._jittered(v, v.next_at));
        perform wf._ring();
    end if;
    return v.next_at;
end;
$$;

-- wf._refuse_policy(p_name, p_policy)
--
-- Returns  nothing, it raises
-- Locks    nothing
-- Raises   WF004: a schedule of this name is the policy of its workflow, or (p_policy false) is not
-- Called   by _store_schedule and schedule_remove
create or replace function wf._refuse_policy(p_name text, p_policy boolean) returns void
language plpgsql as $$
begin
    raise exception using errcode = 'WF004',
        message = case when p_policy then format('schedule %s is the policy of the workflow of that name', p_name)
                       else format('there is a schedule %s already, which no policy of a workflow has set', p_name)
                       end,
        hint = case when p_policy then 'Change it in the text of the workflow, or give another name.'
                    else 'Remove it, so that the workflow may have one of its own: wf-console schedule remove '
                         || p_name end;
end;
$$;

-- wf._drop_schedule(p_id)
--
-- Returns  nothing; the schedule is deleted, with the rows of its times
-- Locks    its row
-- Raises   nothing
-- Called   by schedule_remove and _follow_version
create or replace function wf._drop_schedule(p_id bigint) returns void
language plpgsql as $$
begin
    delete from wf.work w where w.instance_id is null and w.item_id = p_id and w.kind in ('schedule', 'successor');
    delete from wf.firing f where f.schedule_id = p_id;
    delete from wf.schedule s where s.id = p_id;
end;
$$;

-- wf._set_schedule(p_schedule, p_workflow, p_now)
--
-- Sets a schedule of a workflow. The caller gives name, policy, cron or every, timezone, params,
-- priority, catchup, overlap, jitter, start_at, end_at and most in p_schedule.
--
-- Returns  the schedule, with its next time
-- Locks    its row, and as _hold_quota
-- Raises   WF002, WF003, WF004, WF008
-- Called   by schedule_set and _follow_version
create or replace function wf._set_schedule(p_schedule wf.schedule, p_workflow text, p_now timestamptz)
returns wf.schedule
language plpgsql as $$
declare
    v wf.schedule := p_schedule;
    v_version bigint;
begin
    perform wf._check_workflow_grant(p_workflow);
    select f.workflow_id, f.version_id into v.workflow_id, v_version from wf._find_version(p_workflow, null) f;
    if extract(month from v.every) = 0 and extract(year from v.every) = 0 then
        -- a day has 24 hours here: time zones count for cron expressions only
        v.every := make_interval(secs => extract(epoch from v.every)::float8);
    end if;
    v.start_at := coalesce(v.start_at,
                           (select s.start_at from wf.schedule s
                             where s.name = v.name and s.every is not distinct from v.every),
                           -- an interval that is too long is refused below
                           p_now + case when v.every <= interval '100 years' then v.every else interval '0' end);
    v.login := wf._login();
    v.set_at := p_now;
    v.set_by := wf._actor();
    perform wf._check_schedule(v, p_now);
    perform wf._complete_params(w.params, v.params) from wf.version w where w.id = v_version;
    perform wf._hold_quota(v.priority, session_user, true);
    v.times := case when v.cron is not null then wf._parse_cron(v.cron)::text end;
    v.next_at := wf._store_schedule(v, p_now);
    return v;
end;
$$;

-- wf._audited_schedule(p_schedule, p_workflow)
--
-- Returns  the arguments that the audit keeps of a schedule that was set
-- Locks    nothing
-- Raises   nothing
-- Called   by schedule_set and _follow_version
create or replace function wf._audited_schedule(p_schedule wf.schedule, p_workflow text) returns jsonb
language sql stable
begin atomic
    select jsonb_strip_nulls(to_jsonb(p_schedule) - '{times,login,set_at,set_by,fired,id,workflow_id}'::text[])
           || jsonb_build_object('workflow', p_workflow);
end;

-- wf._policy_schedule(p_workflow, p_policy)
--
-- Returns  the schedule that the policy of a workflow describes
-- Locks    nothing
-- Raises   WF005 for an argument that is not a constant, or not of its type
-- Called   by _follow_version
create or replace function wf._policy_schedule(p_workflow text, p_policy jsonb) returns wf.schedule
language plpgsql stable as $$
declare
    v_given constant jsonb := coalesce(wf._constant_parts(p_policy), '{}');
    v_read text;
    v wf.schedule;
begin
    select k into v_read from jsonb_object_keys(p_policy) k where not v_given ? k order by k limit 1;
    if v_read is not null then
        raise exception using errcode = 'WF005',
            message = format('policies.schedule.%s of workflow %s: no constant', v_read, p_workflow),
            hint = 'It is needed when the workflow is installed: write the value itself.';
    end if;
    v.catchup := 1;
    v.overlap := 'allow';
    v.jitter := '0';
    v.timezone := 'UTC';
    v.params := '{}';
    v := jsonb_populate_record(v, v_given - '{start,end,count}'::text[]
                                  || jsonb_strip_nulls(jsonb_build_object(
                                         'start_at', v_given -> 'start', 'end_at', v_given -> 'end',
                                         'most', v_given -> 'count')));
    v.name := p_workflow;
    v.policy := true;
    v.priority := 0;
    return v;
exception when data_exception then
    raise exception using errcode = 'WF005',
        message = format('policies.schedule of workflow %s: %s', p_workflow, sqlerrm),
        hint = 'docs/spec.md says what its arguments are.';
end;
$$;

-- wf._follow_version()
--
-- A workflow has another version, or none: sets the schedule that this version has as a
-- policy, or else drops that of the version before.
--
-- Locks    the row of the schedule
-- Raises   WF004, WF005 (whatever is wrong with the policy), WF008
create or replace function wf._follow_version() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_policy constant jsonb := (select v.spec #> '{workflow,policies,schedule}'
                                  from wf.version v where v.id = new.version_id);
    v wf.schedule;
    v_hint text;
begin
    if v_policy is not null then
        v := wf._set_schedule(wf._policy_schedule(new.name, v_policy), new.name, wf._now());
        perform wf._audit('schedule set', wf._audited_schedule(v, new.name));
    else
        perform wf._drop_schedule(s.id) from wf.schedule s where s.name = new.name and s.policy;
    end if;
    return null;
exception when sqlstate 'WF002' then
    get stacked diagnostics v_hint = pg_exception_hint;
    raise exception using errcode = 'WF005', hint = v_hint,
        message = format('policies.schedule of workflow %s: %s', new.name, sqlerrm);
end;
$$;
create or replace trigger workflow_versioned after update on wf.workflow for each row
    when (new.version_id is distinct from old.version_id) execute function wf._follow_version();
