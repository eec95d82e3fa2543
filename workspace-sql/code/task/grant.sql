-- Which queues and capabilities the drivers of a login may serve.
--
-- A queue that a grant names is only for the roles of the grants that name it; so is a
-- capability. A role whose grant names queues serves these queues and no others. A role
-- whose grant names no queue serves every queue that no grant names; so does a login
-- without a grant. A login has the grants of all roles that it is a member of, added
-- up. Names are plain text: there are no wildcards.

-- wf._allowance(p_login)
--
-- Returns  one row, for queues and for capabilities: true: only these names; false: all but these
-- Locks    nothing
-- Raises   nothing
-- Called   by register and _review
create or replace function wf._allowance(p_login oid)
returns table (queues_only boolean, queues text[], capabilities_only boolean, capabilities text[])
language sql stable
begin atomic
    with granted as materialized (
        select g.queues, g.capabilities, coalesce(pg_has_role(p_login, r.oid, 'member'), false) as mine
          from wf.driver_grant g
          left join pg_roles r on r.rolname = g.role),
    bound as materialized (
        select not u.super and coalesce(bool_and(cardinality(g.queues) > 0) filter (where g.mine), false) as queues,
               not u.super and coalesce(bool_and(cardinality(g.capabilities) > 0) filter (where g.mine), false)
                   as capabilities
          from (select coalesce(bool_or(r.rolsuper), false) as super from pg_roles r where r.oid = p_login) u
          left join granted g on true
         group by u.super)
    select b.queues,
           array(select n.name
                   from granted g
                  cross join unnest(g.queues) n (name)
                  group by n.name having bool_or(g.mine) = b.queues
                  order by n.name collate "C"),
           b.capabilities,
           array(select n.name
                   from granted g
                  cross join unnest(g.capabilities) n (name)
                  group by n.name having bool_or(g.mine) = b.capabilities
                  order by n.name collate "C")
      from bound b;
end;

-- wf._refuse_ungranted(p_kind, p_asked, p_only, p_names)
--
-- Returns  nothing, if every name in p_asked is granted
-- Locks    nothing
-- Raises   WF008
-- Called   by register
create or replace function wf._refuse_ungranted(p_kind text, p_asked text[], p_only boolean, p_names text[])
returns void
language plpgsql as $$
declare
    v_refused constant text[] := array(select a.name from unnest(p_asked) a (name)
                                        where (a.name = any (p_names)) <> p_only);
begin
    if cardinality(v_refused) > 0 then
        raise exception using errcode = 'WF008',
            message = format('login %s may not serve the %s %s', quote_ident(session_user), p_kind,
                             left(array_to_string(v_refused, ', '), 500)),
            detail = format('It asked for: %s. It may serve %s: %s.', left(array_to_string(p_asked, ', '), 500),
                            case when p_only then 'only' else 'all but those that are granted to others' end,
                            left(array_to_string(p_names, ', '), 500)),
            hint = 'Change the driver''s configuration, or have an administrator grant more: wf-console driver grants '
                   'lists what is granted.';
    end if;
end;
$$;

-- wf._review(p_driver)
--
-- Looks up again what a driver may serve, since grants and memberships change. A driver
-- that asked for more goes on with what is left, and still reports the requests that it holds.
-- While there is no grant, a driver may serve all that it asked for, and there is nothing to look up.
--
-- Returns  the driver's row as it is now
-- Locks    the driver's row, when it changes
-- Raises   nothing
-- Called   by poll, for a driver's first poll in a second, and heartbeat
create or replace function wf._review(p_driver wf.driver) returns wf.driver
language plpgsql as $$
declare
    v_driver wf.driver := p_driver;
begin
    if not p_driver.limited and p_driver.limits = '{}' and p_driver.capabilities = p_driver.asked then
        perform from wf.driver_grant limit 1;
        if not found then return p_driver; end if;
    end if;
    select a.queues_only, a.queues,
           array(select c.name from unnest(p_driver.asked) c (name)
                  where (c.name = any (a.capabilities)) = a.capabilities_only)
      into v_driver.limited, v_driver.limits, v_driver.capabilities
      from wf._allowance(p_driver.login) a;
    if v_driver is distinct from p_driver then
        update wf.driver d
           set limited = v_driver.limited, limits = v_driver.limits, capabilities = v_driver.capabilities
         where d.id = p_driver.id;
    end if;
    return v_driver;
end;
$$;

-- wf.driver_grant_set(p_role, p_queues, p_capabilities)
--
-- Returns  nothing
-- Locks    the gate, the row of the grant; no driver waits for it
-- Raises   WF002, WF003 if there is no such role
-- Called   by administrators
create or replace function wf.driver_grant_set(p_role text, p_queues text[] default '{}',
                                               p_capabilities text[] default '{}') returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform wf._gate(false);
    if not exists (select from pg_roles r where r.rolname = p_role) then
        raise exception using errcode = 'WF003',
            message = format('there is no role %s', coalesce(quote_literal(left(p_role, 100)), 'null')),
            hint = 'Give the name of a login of drivers, or of a role that such logins are members of.';
    elsif p_queues is null or cardinality(p_queues) > 1000
          or exists (select from unnest(p_queues) q (name)
                      where coalesce(octet_length(q.name), 0) not between 1 and 63) then
        raise exception using errcode = 'WF002',
            message = 'the queues of a grant are at most 1,000 names of 1 to 63 bytes',
            hint = 'An empty list means every queue that no grant names.';
    elsif wf._are_capabilities(p_capabilities) is not true then
        raise exception using errcode = 'WF002',
            message = 'the capabilities of a grant are at most 64 strings of 1 to 127 bytes without control characters',
            hint = 'An empty list means every capability that no grant names.';
    end if;
    insert into wf.driver_grant (role, queues, capabilities, granted_at, granted_by)
    values (p_role, array(select distinct q.name collate "C" from unnest(p_queues) q (name) order by 1),
            array(select distinct c.name collate "C" from unnest(p_capabilities) c (name) order by 1), wf.now(),
            wf._actor())
        on conflict (role) do update
       set queues = excluded.queues, capabilities = excluded.capabilities, granted_at = excluded.granted_at,
           granted_by = excluded.granted_by;
    perform wf._audit('driver grant', jsonb_build_object('role', p_role, 'queues', p_queues,
                                                         'capabilities', p_capabilities));
end;
$$;
comment on function wf.driver_grant_set(text, text[], text[]) is
    'Grants queues and capabilities to the drivers of a login, or of all logins that are members of a role: from then '
    'on only these drivers serve them, and these drivers serve nothing else. An empty list means every name that no '
    'grant names. The grant replaces what the role was granted before. Drivers at work heed it within a second, for '
    'the requests that they are handed from then on. Returns nothing; raises WF002 if a name is not valid, WF003 if '
    'there is no such role.';

-- wf.driver_grant_remove(p_role)
--
-- Returns  nothing
-- Locks    the gate, the row of the grant
-- Raises   WF003 if the role has no grant
-- Called   by administrators; also for a role that was dropped
create or replace function wf.driver_grant_remove(p_role text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform wf._gate(false);
    delete from wf.driver_grant g where g.role = p_role;
    if not found then
        raise exception using errcode = 'WF003',
            message = format('role %s has no grant', coalesce(quote_literal(left(p_role, 100)), 'null')),
            hint = 'List them: wf-console driver grants.';
    end if;
    perform wf._audit('driver revoke', jsonb_build_object('role', p_role));
end;
$$;
comment on function wf.driver_grant_remove(text) is
    'Takes back what the drivers of a role were granted. A queue that no other grant names is then every driver''s '
    'again. Returns nothing; raises WF003 if the role has no grant.';

create or replace view wf.driver_grant_v with (security_barrier = true) as
select g.role, g.queues, g.capabilities, g.granted_at, g.granted_by
  from wf.driver_grant g;
comment on view wf.driver_grant_v is 'Which queues and capabilities are granted to drivers of which logins.';
select wf._inherit_comments('driver_grant_v', 'driver_grant') \gset
