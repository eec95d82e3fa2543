-- What a compiled file may look like: docs/spec.md as rows, and the check that is
-- made with them. A check is a query; no rows means sound.

do $$
begin
    if to_regtype('wf.part') is null then
        create type wf.part as (object text, path text, place int[], scopes int[], value jsonb);
        comment on type wf.part is
            'A workflow of a compiled file, a parameter of it or a node in it, as wf._spec_part tells, without the '
            'nodes in it.';
    end if;
end;
$$;

-- wf._spec_key()
--
-- The grammar: which keys the objects of a compiled file have, and what each
-- of them holds: another object, an expression, or an atom of wf._spec_atom().
-- The objects that are nodes are named by their kind.
--
-- Returns  a row per object and key; form is one value, a list or a map of them
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._spec_part and wf._spec_shape
create or replace function wf._spec_key()
returns table (object text, key text, form text, holds text, required boolean)
language sql immutable rows 100 set search_path = pg_catalog, pg_temp as $$
    values
        ('file', 'format', 'one', 'format', true),
        ('file', 'file', 'one', 'text', true),
        ('file', 'workflows', 'list', 'workflow', true),
        ('file', 'task_types', 'map', 'task_type', true),

        ('workflow', 'name', 'one', 'workflow_name', true),
        ('workflow', 'doc', 'one', 'text', false),
        ('workflow', 'line', 'one', 'line', true),
        ('workflow', 'params', 'list', 'param', true),
        ('workflow', 'returns', 'one', 'type', false),
        ('workflow', 'policies', 'one', 'heading', false),
        ('workflow', 'steps', 'list', 'node', true),

        ('param', 'name', 'one', 'name', true),
        ('param', 'type', 'one', 'type', true),
        ('param', 'default', 'one', 'expression', false),
        ('param', 'doc', 'one', 'text', false),
        ('param', 'line', 'one', 'line', false),

        ('type', 'list', 'one', 'type', false),
        ('type', 'object', 'map', 'type', false),
        ('type', 'optional', 'one', 'type', false),

        ('task', 'kind', 'one', 'text', true),
        ('task', 'line', 'one', 'line', true),
        ('task', 'type', 'one', 'type_name', true),
        ('task', 'args', 'map', 'expression', true),
        ('task', 'as', 'one', 'name', false),
        ('task', 'policies', 'one', 'policies', false),
        ('task', 'reads', 'map', 'depth', false),

        ('seq', 'kind', 'one', 'text', true),
        ('seq', 'line', 'one', 'line', true),
        ('seq', 'steps', 'list', 'node', true),
        ('seq', 'policies', 'one', 'heading', false),
        ('seq', 'reads', 'map', 'depth', false),

        ('par', 'kind', 'one', 'text', true),
        ('par', 'line', 'one', 'line', true),
        ('par', 'branches', 'list', 'node', true),

        ('forall', 'kind', 'one', 'text', true),
        ('forall', 'line', 'one', 'line', true),
        ('forall', 'name', 'one', 'name', true),
        ('forall', 'index', 'one', 'name', false),
        ('forall', 'in', 'one', 'expression', true),
        ('forall', 'max', 'one', 'expression', false),
        ('forall', 'body', 'one', 'node', true),
        ('forall', 'collect', 'list', 'collect', false),
        ('forall', 'reads', 'map', 'depth', false),
        ('forall', 'collect_reads', 'map', 'depth', false),

        ('collect', 'as', 'one', 'name', true),
        ('collect', 'value', 'one', 'expression', true),

        ('if', 'kind', 'one', 'text', true),
        ('if', 'line', 'one', 'line', true),
        ('if', 'condition', 'one', 'expression', true),
        ('if', 'then', 'one', 'node', true),
        ('if', 'else', 'one', 'node', false),
        ('if', 'reads', 'map', 'depth', false),

        ('switch', 'kind', 'one', 'text', true),
        ('switch', 'line', 'one', 'line', true),
        ('switch', 'on', 'one', 'expression', true),
        ('switch', 'branches', 'list', 'node', true),
        ('switch', 'reads', 'map', 'depth', false),

        ('try', 'kind', 'one', 'text', true),
        ('try', 'line', 'one', 'line', true),
        ('try', 'body', 'one', 'node', true),
        ('try', 'catches', 'list', 'catch', true),

        ('catch', 'kind', 'one', 'catch_kind', true),
        ('catch', 'line', 'one', 'line', true),
        ('catch', 'name', 'one', 'name', true),
        ('catch', 'when', 'one', 'expression', false),
        ('catch', 'body', 'one', 'node', true),
        ('catch', 'reads', 'map', 'depth', false),

        ('let', 'kind', 'one', 'text', true),
        ('let', 'line', 'one', 'line', true),
        ('let', 'as', 'one', 'name', true),
        ('let', 'value', 'one', 'expression', true),
        ('let', 'reads', 'map', 'depth', false),

        ('return', 'kind', 'one', 'text', true),
        ('return', 'line', 'one', 'line', true),
        ('return', 'value', 'one', 'expression', false),
        ('return', 'reads', 'map', 'depth', false),

        ('call', 'kind', 'one', 'text', true),
        ('call', 'line', 'one', 'line', true),
        ('call', 'workflow', 'one', 'workflow_name', true),
        ('call', 'args', 'map', 'expression', true),
        ('call', 'as', 'one', 'name', false),
        ('call', 'policies', 'one', 'heading', false),
        ('call', 'reads', 'map', 'depth', false),
        ('call', 'steps', 'list', 'node', true),

        ('heading', 'title', 'one', 'expression', false),

        ('policies', 'group', 'one', 'group', false),
        ('policies', 'queue', 'one', 'expression', false),
        ('policies', 'requires', 'one', 'expression', false),
        ('policies', 'priority', 'one', 'expression', false),
        ('policies', 'idempotent', 'one', 'expression', false),
        ('policies', 'retry', 'one', 'retry', false),
        ('policies', 'title', 'one', 'expression', false),

        ('group', 'name', 'one', 'expression', true),
        ('group', 'max', 'one', 'expression', false),

        ('retry', 'attempts', 'one', 'expression', true),
        ('retry', 'delay', 'one', 'expression', false),
        ('retry', 'backoff', 'one', 'expression', false),
        ('retry', 'max_delay', 'one', 'expression', false),
        ('retry', 'jitter', 'one', 'expression', false),
        ('retry', 'on', 'one', 'expression', false),
        ('retry', 'when', 'one', 'expression', false),

        ('task_type', 'name', 'one', 'type_name', true),
        ('task_type', 'doc', 'one', 'text', false),
        ('task_type', 'params', 'list', 'param', true),
        ('task_type', 'returns', 'one', 'type', false),
        ('task_type', 'machine', 'one', 'machine', true),
        ('task_type', 'wait', 'one', 'wait', false),
        ('task_type', 'policies', 'one', 'policies', false),
        ('task_type', 'requests', 'one', 'requests', false),

        ('requests', 'start', 'one', 'request', false),
        ('requests', 'poll', 'one', 'request', false),
        ('requests', 'cancel', 'one', 'request', false),
        ('requests', 'cleanup', 'one', 'request', false),

        ('request', 'transport', 'one', 'transport', true),
        ('request', 'args', 'map', 'expression', true),
        ('request', 'every', 'one', 'every', false),
        ('request', 'handle', 'map', 'expression', false),
        ('request', 'success', 'one', 'expression', false),
        ('request', 'failure', 'one', 'expression', false),
        ('request', 'failure_as', 'one', 'expression', false),
        ('request', 'output', 'one', 'expression', false),
        ('request', 'progress', 'one', 'expression', false),

        ('every', 'delay', 'one', 'expression', false),
        ('every', 'backoff', 'one', 'expression', false),
        ('every', 'max_delay', 'one', 'expression', false),
        ('every', 'attempts', 'one', 'expression', false);
$$;

-- wf._node_kinds()
--
-- Returns  the kinds of nodes in a compiled file: task, and each process form
--          but those of tasks, and catch, which stands in a try only
-- Locks    nothing
-- Raises   nothing
-- Called   wherever a compiled file is read
create or replace function wf._node_kinds() returns text[]
language sql immutable set search_path = pg_catalog, pg_temp as $$
    select array_agg(k.object) from wf._spec_key() k where k.key = 'kind' and k.object <> 'catch';
$$;

-- wf._spec_atom()
--
-- Returns  the values that are not taken apart: their JSON type, the pattern of their text, and that in words
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._spec_shape
create or replace function wf._spec_atom()
returns table (atom text, type text, pattern text, meaning text)
language sql immutable rows 10 set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
    values
        ('format', 'number', '^1$', '1, the version of the format'),
        ('text', 'string', '', 'a string'),
        ('catch_kind', 'string', '^catch$', 'catch'),
        ('line', 'number', '^[1-9][0-9]{0,8}$', 'a line number'),
        ('depth', 'number', '^[0-9]{1,2}$', 'the depth of a scope'),
        ('name', 'string', '^[A-Za-z_][A-Za-z0-9_]{0,62}$', 'a name of letters, digits and _, at most 63 bytes'),
        ('type_name', 'string', '^(?=.{1,63}$)[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$',
         'names joined by dots, at most 63 bytes'),
        ('workflow_name', 'string', '^(?=.{1,63}$)[a-z_][A-Za-z0-9_]*(\.[a-z_][A-Za-z0-9_]*)*$',
         'names that begin with a small letter, joined by dots, at most 63 bytes'),
        ('type', 'string', '^(string|int|number|bool|json|list|object|date|timestamp|duration|secret|sql|shell)$',
         'a type'),
        ('machine', 'string', '^(sync|async|wait)$', 'sync, async or wait'),
        ('wait', 'string', '^(sleep|fail)$', 'sleep or fail'),
        ('transport', 'string', '^(http|ssh|sql|exec|builtin)$', 'http, ssh, sql, exec or builtin');
$$;

-- wf._spec_part(p_spec)
--
-- Takes a compiled file apart, guided by the grammar: one row for each object
-- in it. A node is addressed by its place: the ordinals on the way from the
-- file to it; what belongs to a node has the node's place. A scope is named by
-- how long the place of the node is that opened it.
--
-- Returns  object (its name in the grammar; 'node' if its kind is unknown), path (for messages),
--          place, scopes (that it sees, outermost first), value, level (how deep in the file)
-- Locks    nothing
-- Raises   nothing
-- Called   by _spec_shape and _spec_nodes
create or replace function wf._spec_part(p_spec jsonb)
returns table (object text, path text, place int[], scopes int[], value jsonb, level int)
language sql stable rows 20000
begin atomic
    with recursive
    grammar as materialized (
        select k.object, k.key, k.form, k.holds, f.scope
          from wf._spec_key() k
          -- a workflow is entered like a call of it
          left join wf.form f on f.kind = case k.object when 'workflow' then 'call' else k.object end
         where k.holds = 'node' or k.holds in (select o.object from wf._spec_key() o)
    ),
    part (object, path, place, scopes, value, level) as (
        select 'file', '', '{}'::int[], '{}'::int[], p_spec, 0
        union all
        select case when g.holds <> 'node' then g.holds
                    when c.value ->> 'kind' = any (wf._node_kinds()) then c.value ->> 'kind'
                    else 'node'
               end,
               p.path || c.step,
               case when g.holds in ('node', 'workflow', 'catch') then p.place || c.ordinal else p.place end,
               case when g.holds = 'workflow' then '{1}'
                    when g.holds not in ('node', 'catch') then p.scopes
                    when g.scope = 'own' then array[cardinality(p.place)]
                    when g.scope = 'child' then p.scopes || cardinality(p.place)
                    else p.scopes
               end,
               c.value,
               p.level + 1
          from part p
          join grammar g on g.object = p.object and p.value ? g.key
         cross join lateral (
               select '.' || g.key, case g.key when 'else' then 2 else 1 end, p.value -> g.key
                where g.form = 'one'
               union all
               select format('.%s[%s]', g.key, e.ordinal - 1), e.ordinal::int + (g.key = 'catches')::int, e.value
                 from jsonb_array_elements(case when g.form = 'list' and jsonb_typeof(p.value -> g.key) = 'array'
                                                then p.value -> g.key end)
                      with ordinality e (value, ordinal)
               union all
               select format('.%s.%s', g.key, e.key), 1, e.value
                 from jsonb_each(case when g.form = 'map' and jsonb_typeof(p.value -> g.key) = 'object'
                                      then p.value -> g.key end) e
               ) c (step, ordinal, value)
         where p.level < 103
           and jsonb_typeof(p.value) = 'object'
           -- a type that is only a word is an atom
           and not (g.holds = 'type' and jsonb_typeof(c.value) = 'string')
    )
    select p.object, ltrim(p.path, '.'), p.place, p.scopes, p.value, p.level from part p;
end;

-- wf._spec_nodes(p_spec)
--
-- Returns  the workflows of a file whose shape is sound, with their parameters and nodes
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._check_spec
create or replace function wf._spec_nodes(p_spec jsonb) returns wf.part[]
language sql stable set search_path = pg_catalog, pg_temp as $$
    select array_agg((p.object, p.path, p.place, p.scopes,
                      case when p.object in ('task', 'param', 'let', 'return') then p.value
                           else p.value - '{steps,branches,body,then,else,catches}'::text[] end)::wf.part)
      from wf._spec_part(p_spec) p
     where (p.object in ('workflow', 'param', 'catch') or p.object = any (wf._node_kinds()))
       and p.place <> '{}';
$$;

-- wf._spec_shape(p_spec)
--
-- Checks a compiled file against the grammar: keys, types of values, limits,
-- and the form of each expression.
--
-- Returns  a row for each fault: the place, the path to it, what is wrong, what to do
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._check_spec
create or replace function wf._spec_shape(p_spec jsonb)
returns table (place int[], path text, message text, hint text)
language sql stable set search_path = pg_catalog, pg_temp set enable_nestloop = off as $$
    with
    part as materialized (
        select p.object, p.path, p.place, p.value, p.level, jsonb_typeof(p.value) = 'object' as taken_apart
          from wf._spec_part(p_spec) p
    ),
    grammar as materialized (
        select k.object, k.key, k.form, k.holds, k.required, a.type, a.pattern, a.meaning
          from wf._spec_key() k
          left join wf._spec_atom() a on a.atom = k.holds
    ),
    -- what stands under their keys, as far as it isn't sound already
    entry as materialized (
        select p.object, p.place, ltrim(p.path || '.' || e.key, '.') as path,
               -- secrets stand nowhere else
               case when e.key = 'args' and p.object in ('task', 'request') and e.value::text like '%["secret", %'
                    then wf._hide_secrets(e.value, '{}') else e.value end as value,
               g.key, g.form, g.holds, g.type, g.pattern, g.meaning, f.fits
          from part p
         cross join lateral jsonb_each(case when p.taken_apart then p.value end) e
          left join grammar g on g.object = p.object and g.key = e.key
         cross join lateral (
               select case g.form
                          when 'list' then jsonb_typeof(e.value) = 'array'
                          when 'map' then jsonb_typeof(e.value) = 'object'
                          else g.pattern is null
                               or jsonb_typeof(e.value) = g.type and e.value #>> '{}' ~ g.pattern
                               -- the parts of a composed type are checked one by one
                               or g.holds = 'type' and jsonb_typeof(e.value) = 'object'
                      end) f (fits)
         where p.object <> 'node'
           and (g.key is null or not f.fits or g.holds = 'expression' or g.form = 'map' and g.pattern is not null)
    ),
    -- one look at all expressions together finds out whether each needs one of its own
    sound as materialized (
        select wf._is_expression(jsonb_build_array('list') || coalesce(jsonb_agg(e.value), '[]')) is null as sound
          from (select e.value from entry e where e.holds = 'expression' and e.form = 'one'
                union all
                select m.value
                  from entry e
                 cross join lateral jsonb_each(case when jsonb_typeof(e.value) = 'object' then e.value end) m
                 where e.holds = 'expression' and e.form = 'map' and e.value::text like '%[%') e
         where e.value::text like '%[%'
    )
    select p.place, p.path, 'must be an object', null
      from part p
     where not p.taken_apart
    union all
    select p.place, ltrim(p.path || '.kind', '.'), 'is no kind of node',
           regexp_replace('The kinds are ' || array_to_string(wf._node_kinds(), ', ') || '.',
                          ', (?=[a-z]+[.])', ' and ')
      from part p
     where p.object = 'node' and p.taken_apart
    union all
    select e.place, e.path, 'unknown key',
           (select 'The keys here are ' || string_agg(g.key, ', ' order by g.key) || '.'
              from grammar g
             where g.object = e.object)
      from entry e
     where e.key is null
    union all
    select p.place, ltrim(p.path || '.' || g.key, '.'), 'is missing', null
      from part p
      join grammar g on g.object = p.object and g.required
     where p.taken_apart and not p.value ? g.key
    union all
    select e.place, e.path,
           case e.form when 'list' then 'must be a list' when 'map' then 'must be an object'
                       else 'must be ' || e.meaning end, null
      from entry e
     where not e.fits
    union all
    select e.place, e.path || '.' || m.key, 'must be ' || e.meaning, null
      from entry e
     cross join lateral jsonb_each(case when jsonb_typeof(e.value) = 'object' then e.value end) m
     where e.form = 'map' and e.pattern is not null
       and not (jsonb_typeof(m.value) = e.type and m.value #>> '{}' ~ e.pattern)
       and not (e.holds = 'type' and jsonb_typeof(m.value) = 'object')
    union all
    select p.place, p.path, 'a type has one key',
           'A type is a word, {"list": T}, {"object": {"field": T}} or {"optional": T}.'
      from part p
     where p.object = 'type' and p.taken_apart and (select count(*) from jsonb_object_keys(p.value)) <> 1
    union all
    select e.place, e.path || m.step, wf._is_expression(m.value), 'docs/spec.md lists the forms of expressions.'
      from entry e
     cross join lateral (
           select '', e.value where e.form = 'one'
           union all
           select '.' || m.key, m.value
             from jsonb_each(case when e.form = 'map' and jsonb_typeof(e.value) = 'object' then e.value end) m
           ) m (step, value)
     where e.holds = 'expression' and not (select s.sound from sound s) and wf._is_expression(m.value) is not null
    union all
    select p.place, p.path, 'must not be empty', null
      from part p
     where p.taken_apart
       and (p.object = 'file' and p.value -> 'workflows' = '[]'
            or p.value -> 'branches' = '[]' or p.value -> 'catches' = '[]')
    union all
    select p.place, p.path, 'is nested too deeply', 'A tree has at most 100 levels.'
      from part p
     where p.level = 103 or cardinality(p.place) = 101
    union all
    select array[w.ordinal], format('workflows[%s]', w.ordinal - 1), format('has %s nodes', w.nodes),
           'A workflow has at most 10000 nodes.'
      from (select p.place[1] as ordinal, count(*) as nodes
              from part p
             where p.object in ('workflow', 'node', 'catch') or p.object = any (wf._node_kinds())
             group by 1) w
     where w.nodes > 10000;
$$;
