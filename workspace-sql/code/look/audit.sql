-- The audit, as administrators read it, and how fsck checks it.

-- wf._say_ids(p_ids, p_count)
--
-- Returns  numbers as people read them: "3, 7-9"; with the count of all, if not all are listed
-- Locks    nothing
-- Raises   nothing
-- Called   by audit_list
create or replace function wf._say_ids(p_ids int8multirange, p_count bigint) returns text
language sql immutable
begin atomic
    select string_agg(case when upper(i.ids) - lower(i.ids) = 1 then lower(i.ids)::text
                           else format('%s-%s', lower(i.ids), upper(i.ids) - 1) end, ', ' order by i.ids)
           || case when sum(upper(i.ids) - lower(i.ids)) < p_count then format(', ... (%s in all)', p_count) else '' end
      from unnest(p_ids) i (ids);
end;

-- wf._since(p_since)
--
-- Returns  the moment that p_since gives, as a moment or as an interval before now; null if it is null
-- Locks    nothing
-- Raises   WF002
-- Called   by audit_list and wf.list
create or replace function wf._since(p_since text) returns timestamptz
language plpgsql stable as $$
begin
    return case when p_since ~ '^[0-9]{4}-' then p_since::timestamptz else now() - p_since::interval end;
exception when data_exception then
    raise exception using errcode = 'WF002',
        message = format('since: "%s" is neither a moment nor an interval', left(p_since, 100)),
        hint = 'Write a moment as "2026-01-31" or "2026-01-31 17:00", an interval as "90 minutes" or "7d".';
end;
$$;

-- wf.audit_list(p_since, p_by, p_verb, p_instance, p_limit)
--
-- If a row does not list all of its instances, the history tells whether p_instance is
-- one of them.
--
-- Returns  the last rows of the audit, in their order
-- Locks    nothing
-- Raises   WF002
-- Called   by administrators
create or replace function wf.audit_list(p_since text default null, p_by text default null,
                                         p_verb text default null, p_instance bigint default null,
                                         p_limit int default null)
returns table (number bigint, at timestamptz, login text, role text, client text, verb text, targets bigint,
               refused bigint, instances text, processes text, reason text, arguments jsonb, xid xid8, digest text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set jit = off as $$
declare
    v_since constant timestamptz := wf._since(p_since);
begin
    if p_limit < 0 then
        raise exception using errcode = 'WF002',
            message = format('the limit must be at least 0, not %s', p_limit),
            hint = 'Give at least 0; null: all.';
    end if;
    return query
    select a.number, a.at, a.login, a.role, coalesce(host(a.client), 'local'), a.verb, a.targets, a.refused,
           wf._say_ids(a.instances, case when a.processes is null then a.targets end),
           wf._say_ids(a.processes, a.targets), a.reason, a.arguments, a.xid, encode(a.digest, 'hex')
      from (select x.*
              from wf.audit x
             where (v_since is null or x.at >= v_since)
               and (p_by is null or p_by in (x.login, x.role))
               and (p_verb is null or x.verb = p_verb)
               and case when p_instance is null or x.instances @> p_instance then true
                        when (select count(*) from unnest(x.instances)) >= 100
                        then x.xid in (select e.xid from wf.event e where e.instance_id = p_instance)
                        else false end
             order by x.id desc
             limit p_limit) a
     order by a.id;
end;
$$;
comment on function wf.audit_list(text, text, text, bigint, int) is
    'Lists what operators, authors and administrators have done. Give since when (a moment, or an interval before '
    'now), by which login or role, which verb (as the console calls it), to which instance, and at most how many of '
    'the last rows; each may be null: all. Returns number, at (the clock of the server), login, role, client (local: a '
    'socket of the server''s machine), verb, targets (to how many it was done), refused (for how many it was refused), '
    'instances and processes (of many the first ones), reason, arguments, xid (event_v shows its moves), digest. A row '
    'gets its number and digest within about a second, if a driver works.';

-- wf._fsck_audit()
--
-- Returns  one row for each contradiction: a number is missing, or a digest does not follow from its row
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.fsck
create or replace function wf._fsck_audit()
returns table (check_name text, instance_id bigint, process_id bigint, detail text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    with head as (
        select coalesce(max(h.number), 0) as number, coalesce(max(h.purged), 0) as purged,
               coalesce((array_agg(h.purged_digest))[1], '') as purged_digest, (array_agg(h.digest))[1] as digest,
               count(*) = 1 as known
          from wf.audit_head h
    ), sealed as (
        select a.number, a.digest, a as row, coalesce(lag(a.number) over w, h.purged) as before,
               coalesce(lag(a.digest) over w, h.purged_digest) as link, lead(a.number) over w is null as last
          from wf.audit a
         cross join head h
         where a.number is not null
        window w as (order by a.number)
    )
    select 'audit: nobody knows its last number', null::bigint, null::bigint, 'audit_head has no row'
      from head h
     where not h.known
     union all
    select 'audit: rows are missing', null, null, format('after number %s comes %s', s.before, s.number)
      from sealed s
     where s.number <> s.before + 1
     union all
    select 'audit: a row was changed', null, null, format('number %s: its digest does not follow from it', s.number)
      from sealed s
     where s.number = s.before + 1 and s.digest is distinct from wf._audit_digest(s.link, s.row)
     union all
    select 'audit: the last rows are missing', null, null,
           format('the last number is %s, and %s is there', h.number, coalesce(s.number::text, 'none'))
      from head h
      left join sealed s on s.last
     where h.known and h.number > h.purged and (s.number, s.digest) is distinct from (h.number, h.digest)
     union all
    select 'audit: rows are gone, and no purge says so', null, null, format('up to number %s', h.purged)
      from head h
     where h.purged > 0
       and not exists (select
                         from wf.audit a
                        where a.verb = 'audit purge'
                          and a.arguments @> jsonb_build_object('up_to', h.purged,
                                                                'digest', encode(h.purged_digest, 'hex')));
$$;
