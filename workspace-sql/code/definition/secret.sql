-- Secrets: the places where a driver puts them. The workspace never has their values.
-- Evaluated arguments have no placeholders, since data could imitate these. Instead
-- install takes the secrets out of a task's arguments and stores their places.

-- wf._secret_source(p_expr, p_typed)
--
-- p_typed has the names that stand for secrets: parameters of a task type.
--
-- Returns  {"secret": name} or {"var": name} if an expression stands for a secret, else null
-- Locks    nothing
-- Raises   nothing
-- Called   by _hide_secrets, _secret_places and _spec_secrets
create or replace function wf._secret_source(p_expr jsonb, p_typed text[]) returns jsonb
language sql immutable
begin atomic
    select case when jsonb_typeof(p_expr) = 'array'
                     and jsonb_array_length(p_expr) = 2
                     and jsonb_typeof(p_expr -> 1) = 'string'
                     and (p_expr ->> 0 = 'secret' and p_expr ->> 1 ~ '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$'
                          or p_expr ->> 0 = 'var' and p_expr ->> 1 = any (p_typed))
                then jsonb_build_object(p_expr ->> 0, p_expr -> 1) end;
end;

-- wf._hide_secrets(p_expr, p_typed, p_depth)
--
-- Takes secrets out of the places where they are allowed. A secret that is a whole
-- value becomes null. A text with n secrets becomes the list of the n + 1 texts
-- around them.
--
-- Returns  an expression that wf._evaluate knows, unless secrets are in other places
-- Locks    nothing
-- Raises   nothing
-- Called   by _spec_shape, _store_nodes and _store_task_types
create or replace function wf._hide_secrets(p_expr jsonb, p_typed text[], p_depth int default 1) returns jsonb
language plpgsql immutable as $$
begin
    if p_depth > 101 then
        return p_expr;
    elsif jsonb_typeof(p_expr) = 'object' then
        return (select coalesce(jsonb_object_agg(f.key, wf._hide_secrets(f.value, p_typed, p_depth + 1)), '{}')
                  from jsonb_each(p_expr) f);
    elsif wf._secret_source(p_expr, '{}') is not null then
        return 'null'::jsonb;
    elsif jsonb_typeof(p_expr) <> 'array' or p_expr ->> 0 not in ('list', 'text') then
        return p_expr;
    elsif p_expr ->> 0 = 'list' then
        return (select jsonb_agg(wf._hide_secrets(e.value, p_typed, p_depth + 1) order by e.ordinality)
                  from jsonb_array_elements(p_expr) with ordinality e);
    end if;
    return (
        with part as (
            select e.ordinality, e.value, s.source, count(s.source) over (order by e.ordinality) as gap
              from jsonb_array_elements(p_expr) with ordinality e
             cross join lateral (select wf._secret_source(e.value, p_typed) as source) s
             where e.ordinality > 1
        ),
        gap as (
            select g.k,
                   coalesce(jsonb_agg(p.value order by p.ordinality)
                            filter (where p.source is null and p.value is not null), '[]') as parts
              from generate_series(0, (select count(p.source) from part p)) g (k)
              left join part p on p.gap = g.k
             group by g.k
        )
        select case when count(*) > 1 then '["list"]' || jsonb_agg('["text"]' || g.parts order by g.k)
                    else p_expr end
          from gap g);
end;
$$;

-- wf._secret_places(p_expr, p_whole, p_typed)
--
-- Finds the places of secrets in the value of an object of expressions. p_whole has names
-- whose values hold secrets; such a name counts where its whole value is passed on.
--
-- Returns  at: the keys and indexes that lead there; source: {"secret": name}, {"var": name}, or
--          {"text": [{"secret": name} or {"var": name}, …]}
-- Locks    nothing
-- Raises   nothing
-- Called   by _request_secrets and _spec_secrets
create or replace function wf._secret_places(p_expr jsonb, p_whole text[], p_typed text[])
returns table (at jsonb, source jsonb)
language sql immutable set search_path = pg_catalog, pg_temp as $$
    with recursive part (at, value) as (
        select '[]'::jsonb, p_expr
        union all
        select p.at || c.step, c.value
          from part p
         cross join lateral (
               select to_jsonb(f.key), f.value
                 from jsonb_each(case jsonb_typeof(p.value) when 'object' then p.value else '{}' end) f
                union all
               select to_jsonb(e.ordinality - 2), e.value
                 from jsonb_array_elements(case when jsonb_typeof(p.value) = 'array' and p.value ->> 0 = 'list'
                                                then p.value else '[]' end) with ordinality e
                where e.ordinality > 1
               ) c (step, value)
    )
    select p.at, s.source
      from part p
     cross join lateral (
           select wf._secret_source(p.value, p_whole || p_typed)
            union all
           select jsonb_build_object('text', jsonb_agg(t.source order by t.ordinality))
             from (select e.ordinality, wf._secret_source(e.value, p_typed) as source
                     from jsonb_array_elements(case when jsonb_typeof(p.value) = 'array' and p.value ->> 0 = 'text'
                                                    then p.value else '[]' end) with ordinality e) t
            where t.source is not null
           having count(*) > 0
           ) s (source)
     where s.source is not null;
$$;

-- wf._secret_params(p_type)
--
-- Returns  the parameters of a task type that are secrets
-- Locks    nothing
-- Raises   nothing
-- Called   by _request_secrets, _spec_secrets and _store_task_types
create or replace function wf._secret_params(p_type jsonb) returns text[]
language sql immutable
begin atomic
    select array(select p ->> 'name'
                   from jsonb_array_elements(p_type -> 'params') p
                  where p -> 'type' in ('"secret"', '{"optional": "secret"}'));
end;

-- wf._request_secrets(p_type, p_args)
--
-- Follows the secrets in a task's arguments into the requests of its type.
--
-- Returns  an object from requests to lists of {"at": [keys and indexes], "secret": name}
--          (the secret is the value there) and {"at", "text": [names]} (the value there
--          is the list of the texts around them); null if the requests have no secrets
-- Locks    nothing
-- Raises   nothing
-- Called   by _spec_secrets and _store_nodes
create or replace function wf._request_secrets(p_type jsonb, p_args jsonb) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp as $$
    with
    given as materialized (
        select g.at ->> 0 as param, g.at - 0 as rest, g.source from wf._secret_places(p_args, '{}', '{}') g
    ),
    place as (
        select r.key as request, p.at || coalesce(g.rest, '[]') as at, coalesce(g.source, p.source) as source
          from jsonb_each(p_type -> 'requests') r
         cross join lateral wf._secret_places(r.value -> 'args', array(select g.param from given g),
                                              wf._secret_params(p_type)) p
          left join given g on g.param = p.source ->> 'var'
         where not p.source ? 'var' or g.param is not null
    ),
    named as (
        select p.request, p.at,
               case when p.source ? 'secret' then p.source
                    else jsonb_build_object('text',
                             (select jsonb_agg(coalesce(t.source -> 'secret', g.source -> 'secret')
                                               order by t.ordinality)
                                from jsonb_array_elements(p.source -> 'text') with ordinality t (source)
                                left join given g on g.param = t.source ->> 'var')) end as source
          from place p
    ),
    listed as (
        select n.request, jsonb_agg(jsonb_build_object('at', n.at) || n.source order by n.at) as places
          from named n
         group by n.request
    )
    select jsonb_object_agg(l.request, l.places) from listed l;
$$;
