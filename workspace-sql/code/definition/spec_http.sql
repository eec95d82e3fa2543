-- What requests over HTTP must not contain, as far as a compiled file shows it. The
-- driver refuses what is known only when a task begins; common/http.c has the same
-- lists.

-- wf._spelled(p_expression, p_values)
--
-- p_values has the expressions that stand for the names in the parts of a text.
--
-- Returns  a text, with x for each part that is not known; null if the expression is not a text
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._spec_http
create or replace function wf._spelled(p_expression jsonb, p_values jsonb) returns text
language sql immutable
begin atomic
    select case when jsonb_typeof(p_expression) = 'string' then p_expression #>> '{}'
                when p_expression ->> 0 = 'const' and jsonb_typeof(p_expression -> 1) = 'string'
                then p_expression ->> 1
                when p_expression ->> 0 = 'text'
                then (select string_agg(case when jsonb_typeof(v.value) = 'string' then v.value #>> '{}' else 'x' end,
                                        '' order by e.ordinality)
                        from jsonb_array_elements(p_expression) with ordinality e
                       cross join lateral (select case when e.value ->> 0 = 'var'
                                                       then coalesce(p_values -> (e.value ->> 1), e.value)
                                                       else e.value end as value) v
                       where e.ordinality > 1) end;
end;

-- wf._spec_http(p_spec, p_nodes)
--
-- Checks the arguments of requests over HTTP: those that task types give, and those
-- of tasks that their types hand on.
--
-- Returns  a row for each fault: the place, the path to it, what is wrong, what to do
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._check_spec, for a file whose shape is sound
create or replace function wf._spec_http(p_spec jsonb, p_nodes wf.part[])
returns table (place int[], path text, message text, hint text)
language sql stable set search_path = pg_catalog, pg_temp as $$
    with
    argument as materialized (
        select t.key as type, format('task_types.%s.requests.%s.args.%s', t.key, r.key, a.key) as path, a.key, a.value
          from jsonb_each(p_spec -> 'task_types') t
         cross join lateral jsonb_each(t.value -> 'requests') r
         cross join lateral jsonb_each(r.value -> 'args') a
         where r.value ->> 'transport' = 'http' and a.key in ('url', 'method', 'headers')
    ),
    given as (
        select '{}'::int[] as place, a.path, a.key, a.value, '{}'::jsonb as params
          from argument a
         where a.value ->> 0 is distinct from 'var'
        union
        -- the value of a parameter, or a text of the type with parameters in it
        select p.place, p.path || '.args', a.key,
               case a.value ->> 0 when 'var' then p.value -> 'args' -> (a.value ->> 1) else a.value end,
               case a.value ->> 0 when 'var' then '{}' else p.value -> 'args' end
          from unnest(p_nodes) p
          join argument a on a.type = p.value ->> 'type'
         where p.object = 'task' and (a.value ->> 0 = 'var' or a.key = 'url' and a.value ->> 0 = 'text')
    ),
    header as (
        select g.place, g.path, h.name, h.value
          from given g
         cross join lateral (
               select m.key, m.value
                 from (select case when g.value ->> 0 in ('const', 'object') then g.value -> 1
                                   else g.value end) o (value)
                cross join lateral jsonb_each(case jsonb_typeof(o.value) when 'object' then o.value else '{}' end) m
                union
               select m.name, null
                 from jsonb_array_elements_text(case when g.value ->> 0 = 'object'
                                                      and jsonb_typeof(g.value -> 2) = 'array'
                                                     then g.value -> 2 else '[]' end) m (name)
               ) h (name, value)
         where g.key = 'headers'
    )
    select g.place, g.path, 'a URL must not have a user or password before its host',
           'Say who you are in a header, with a secret.'
      from given g
     where g.key = 'url' and wf._spelled(g.value, g.params) ~* '^https?:/+[^/?#]*@'
    union
    select g.place, g.path, format('the method must not be %s', m.method),
           'Every other word is allowed, such as GET, POST or PROPFIND.'
      from given g
     cross join lateral (select wf._spelled(g.value, g.params) as method) m
     where g.key = 'method' and m.method collate "C" ~* '^(connect|pri|trace|track)$'
    union
    select h.place, h.path, format('the value of header %s must be a secret, not a literal', h.name),
           'Give ["secret", name], alone or in a text: then only the driver knows the value, never the database.'
      from header h
     where h.name collate "C" ~* '^authorization$'
       and case when h.value ->> 0 = 'const' then h.value -> 1 else h.value end #>> '{}' <> ''
       and jsonb_typeof(case when h.value ->> 0 = 'const' then h.value -> 1 else h.value end) = 'string'
    union
    select h.place, h.path, format('the header %s is not for workflows to set', h.name),
           'The driver says where a request goes and where it ends: Connection, Content-Length, Expect, Host, '
           'HTTP2-Settings, Keep-Alive, TE, Trailer, Transfer-Encoding, Upgrade and Proxy-... are reserved.'
      from header h
     where replace(h.name, '_', '-') collate "C"
           ~* ('^(proxy-.*|connection|content-length|expect|host|http2-settings|keep-alive|'
               'te|trailer|transfer-encoding|upgrade)$');
$$;
