-- What a compiled file may look like: docs/spec.md as rows, and the check that uses
-- these rows. A check is a query; if it returns no rows, the file is sound.

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
-- The grammar: the keys that the objects of a compiled file have, and what each key
-- holds: another object, an expression, or an atom of wf._spec_atom(). An object that
-- is a node is named by its kind. In the texts below, "key holds" is a key with one
-- value, "key [holds]" a key with a list of values, "key {holds}" one with a map of
-- values; "key!" must be there.
--
-- Returns  a row per object and key; form is one value, a list or a map of them
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._spec_part, wf._spec_shape and wf._node_kinds
create or replace function wf._spec_key()
returns table (object text, key text, form text, holds text, required boolean)
language sql immutable rows 100 set search_path = pg_catalog, pg_temp as $$
    select o.object, rtrim(split_part(k, ' ', 1), '!'),
           case left(split_part(k, ' ', 2), 1) when '[' then 'list' when '{' then 'map' else 'one' end,
           btrim(split_part(k, ' ', 2), '[]{}'), strpos(k, '! ') > 0
      from (values
        ('file', 'format! format, file! text, workflows! [workflow], task_types! {task_type}'),
        ('workflow', 'name! workflow_name, doc text, line! line, params! [param], returns type, '
         'policies workflow_heading, steps! [node]'),

        ('param', 'name! name, type! type, default expression, doc text, line line'),
        ('type', 'list type, object {type}, optional type'),

        ('task', 'kind! text, line! line, type! type_name, args! {expression}, as name, policies policies, '
         'undo undo, reads {depth}'),
        ('seq', 'kind! text, line! line, steps! [node], policies heading, undo undo, reads {depth}'),
        ('par', 'kind! text, line! line, branches! [node]'),
        ('dag', 'kind! text, line! line, branches! [node], after! [ordinals]'),
        ('race', 'kind! text, line! line, branches! [node]'),
        ('forall', 'kind! text, line! line, name! name, index name, in! expression, max expression, '
         'tolerate expression, body! node, '
         'collect [collect], reads {depth}, collect_reads {depth}'),
        ('collect', 'as! name, value! expression'),
        ('while', 'kind! text, line! line, name! name, start! expression, while! expression, max! expression, '
         'body! node, yield! collect, reads {depth}, round_reads {depth}'),
        ('repeat', 'kind! text, line! line, max! expression, body! node, until! expression, yield collect, '
         'reads {depth}, round_reads {depth}'),
        ('fold', 'kind! text, line! line, name! name, element! name, over! expression, body! node, '
         'yield! collect, reads {depth}, round_reads {depth}'),
        ('if', 'kind! text, line! line, condition! expression, then! node, else node, reads {depth}'),
        ('switch', 'kind! text, line! line, on! expression, branches! [node], reads {depth}'),
        ('try', 'kind! text, line! line, body! node, catches [catch], finally finally'),
        ('catch', 'kind! catch_kind, line! line, name! name, when expression, body! node, reads {depth}'),
        ('atomic', 'kind! text, line! line, steps! [node], policies policies, undo undo, reads {depth}'),
        ('checkpoint', 'kind! text, line! line, only truth'),
        ('finally', 'kind! finally_kind, line! line, name name, body! node'),
        ('undo', 'kind! undo_kind, line! line, body! node'),
        ('let', 'kind! text, line! line, as! name, type type, value! expression, reads {depth}'),
        ('return', 'kind! text, line! line, value expression, reads {depth}'),
        ('call', 'kind! text, line! line, workflow! workflow_name, args! {expression}, as name, '
         'params [declared], returns type, policies heading, undo undo, reads {depth}, steps! [node]'),
        ('declared', 'name! name, type! type'),

        ('heading', 'title expression, on_failure on_failure, retry retry, timeout deadline'),
        ('workflow_heading', 'title expression, on_failure on_failure, retry retry, timeout deadline, '
         'tags expression, start_if start_if, schedule schedule, '
         'key key'),
        ('start_if', 'condition! expression, message expression'),
        ('policies', 'on_failure on_failure, group group, rate rate, queue expression, requires expression, '
         'priority expression, '
         'idempotent expression, weight weight, output expression, retry retry, timeout timeout, '
         'title expression'),
        ('schedule', 'cron expression, every expression, timezone expression, params expression, catchup expression, '
         'overlap expression, jitter expression, start expression, end expression, count expression'),
        ('key', 'reuse! reuse, by expression'),
        ('group', 'name! expression, max expression'),
        ('rate', 'limit! expression, per! expression, name! expression'),
        ('retry', 'attempts! expression, delay expression, backoff expression, max_delay expression, '
         'jitter expression, on expression, when expression'),
        ('timeout', 'inactivity expression, runtime expression, deadline expression, wait expression'),
        ('deadline', 'deadline! expression'),

        ('task_type', 'name! type_name, doc text, params! [param], returns type, machine! machine, wait wait, '
         'policies policies, requests requests'),
        ('requests', 'start request, poll request, cancel request, cleanup request'),
        ('request', 'transport! transport, args! {expression}, every every, handle {expression}, '
         'success expression, failure expression, failure_as expression, output expression, progress expression'),
        ('every', 'delay expression, backoff expression, max_delay expression, attempts expression')
           ) o (object, keys)
     cross join lateral string_to_table(o.keys, ', ') k;
$$;

-- wf._node_kinds()
--
-- Returns  the kinds of nodes in a compiled file: task, and each process form except
--          those of tasks; without catch, finally and undo, which have places of their own
-- Locks    nothing
-- Raises   nothing
-- Called   wherever a compiled file is read
create or replace function wf._node_kinds() returns text[]
language sql immutable set search_path = pg_catalog, pg_temp as $$
    select array_agg(k.object) from wf._spec_key() k where k.key = 'kind' and k.holds = 'text';
$$;

-- wf._spec_atom()
--
-- Returns  the atoms, values that are not taken apart: JSON type, pattern of the text, and the pattern in words
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._spec_shape
create or replace function wf._spec_atom()
returns table (atom text, type text, pattern text, meaning text)
language sql stable rows 20 set search_path = pg_catalog, pg_temp set standard_conforming_strings = on as $$
    values
        ('format', 'number', '^1$', '1, the version of the format'),
        ('text', 'string', '', 'a string'),
        ('catch_kind', 'string', '^catch$', 'catch'),
        ('truth', 'boolean', '', 'true or false'),
        ('finally_kind', 'string', '^finally$', 'finally'),
        ('undo_kind', 'string', '^undo$', 'undo'),
        ('line', 'number', '^[1-9][0-9]{0,8}$', 'a line number'),
        ('depth', 'number', '^[0-9]{1,2}$', 'the depth of a scope'),
        ('weight', 'number', '', 'a number'),
        ('name', 'string', '^[A-Za-z_][A-Za-z0-9_]{0,62}$', 'a name of letters, digits and _, at most 63 bytes'),
        ('type_name', 'string', '^(?=.{1,63}$)[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$',
         'names joined by dots, at most 63 bytes'),
        ('workflow_name', 'string', '^(?=.{1,63}$)[a-z_][A-Za-z0-9_]*(\.[a-z_][A-Za-z0-9_]*)*$',
         'names that begin with a small letter, joined by dots, at most 63 bytes'),
        ('type', 'string', '^(string|int|number|bool|json|list|object|date|timestamp|duration|secret|sql|shell)$',
         'a type'),
        ('on_failure', 'string', '^(pause|skip|skip_all|fail|fail_undo|fail_late|fail_late_undo)$',
         'pause, skip, skip_all, fail, fail_undo, fail_late or fail_late_undo'),
        ('reuse', 'string', '^(dedupe|singleton|coalesce)$', 'dedupe, singleton or coalesce'),
        ('ordinals', 'array', '^\[([1-9][0-9]{0,4}(, [1-9][0-9]{0,4})*)?\]$', 'a list of ordinals of branches'),
        ('machine', 'string', '^(sync|async|wait)$', 'sync, async or wait'),
        ('wait', 'string', '^(sleep|moment|signal|callback|input|child|instance|fail)$',
         'sleep, moment, signal, callback, input, child, instance or fail')
    union all
    select 'transport', 'string', format('^(%s)$', string_agg(t.name, '|')),
           'one of ' || string_agg(t.name, ', ' order by t.name)
      from wf.transport t;
$$;

-- wf._undo_ordinal()
--
-- Returns  the ordinal of an undo in the node to which it belongs: greater than that of every other child
-- Locks    nothing
-- Raises   nothing
-- Called   with the places of nodes
create or replace function wf._undo_ordinal() returns int
language sql immutable
begin atomic
    select 10001;
end;

-- wf._undo_depth(p_place)
--
-- Returns  the length of the place of the innermost undo around a node, or of the node
--          itself if it is an undo; 0 if there is no undo
-- Locks    nothing
-- Raises   nothing
-- Called   by _node_tree
create or replace function wf._undo_depth(p_place int[]) returns int
language sql immutable
begin atomic
    select coalesce(max(i), 0) from generate_subscripts(p_place, 1) i where p_place[i] = wf._undo_ordinal();
end;

-- wf._spec_part(p_spec)
--
-- Takes a compiled file apart, guided by the grammar: one row for each object
-- in it. The address of a node is its place: the ordinals on the way from the
-- file to it. An object that belongs to a node has the node's place. The name of
-- a scope is the length of the place of the node that opened it.
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
               case when g.holds in ('node', 'workflow', 'catch', 'finally', 'undo') then p.place || c.ordinal
                    else p.place end,
               case when g.holds = 'workflow' then '{1}'
                    -- an undo sees what the node to which it belongs sees
                    when g.holds not in ('node', 'catch', 'finally') then p.scopes
                    when g.scope = 'own' then array[cardinality(p.place)]
                    when g.scope = 'child' then p.scopes || cardinality(p.place)
                    else p.scopes
               end,
               c.value,
               p.level + 1
          from part p
          join grammar g on g.object = p.object and p.value ? g.key
         cross join lateral (
               select '.' || g.key,
                      case g.key when 'else' then 2
                                 when 'finally' then 2 + jsonb_array_length(
                                      case when jsonb_typeof(p.value -> 'catches') = 'array'
                                           then p.value -> 'catches' else '[]' end)
                                 when 'undo' then wf._undo_ordinal()
                                 else 1 end, p.value -> g.key
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
-- Called   by wf._check_spec and _recompile
create or replace function wf._spec_nodes(p_spec jsonb) returns wf.part[]
language sql stable set search_path = pg_catalog, pg_temp as $$
    select array_agg((p.object, p.path, p.place, p.scopes,
                      case when p.object in ('task', 'param', 'let', 'return') then p.value - 'undo'
                           else p.value - '{steps,branches,body,then,else,catches,finally,undo}'::text[] end)::wf.part)
      from wf._spec_part(p_spec) p
     where (p.object in ('workflow', 'param', 'catch', 'finally', 'undo') or p.object = any (wf._node_kinds()))
       and p.place <> '{}';
$$;

-- wf._is_atom(p_value, p_holds, p_type, p_pattern)
--
-- Returns  whether a value is an atom of this type and pattern, or is checked in
--          another way: without a pattern, or as a composed type, part by part
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._spec_shape
create or replace function wf._is_atom(p_value jsonb, p_holds text, p_type text, p_pattern text) returns boolean
language sql immutable
begin atomic
    select p_pattern is null
           or jsonb_typeof(p_value) = p_type and p_value #>> '{}' ~ p_pattern
           or p_holds = 'type' and jsonb_typeof(p_value) = 'object';
end;

-- wf._are_expressions(p_values)
--
-- Returns  whether all of these are expressions; one call checks them all together
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._spec_shape
create or replace function wf._are_expressions(p_values jsonb[]) returns boolean
language sql immutable set search_path = pg_catalog, pg_temp as $$
    select wf._is_expression(jsonb_build_array('list') || coalesce(jsonb_agg(v), '[]')) is null
      from unnest(p_values) v
     where v::text like '%[%';
$$;

-- wf._object_faults(p_object, p_value, p_level, p_places)
--
-- Returns  a row for each fault of an object that a look at its keys does not find:
--          what to add to its path, what is wrong, what to do
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._spec_shape
create or replace function wf._object_faults(p_object text, p_value jsonb, p_level int, p_places int)
returns table (step text, message text, hint text)
language sql stable
begin atomic
    select '', 'must be an object', null
     where jsonb_typeof(p_value) <> 'object'
     union all
    select '.kind', 'is not a kind of node',
           regexp_replace('The kinds are ' || array_to_string(wf._node_kinds(), ', ') || '.',
                          ', (?=[a-z]+[.])', ' and ')
     where p_object = 'node' and jsonb_typeof(p_value) = 'object'
     union all
    select '', 'a type has one key', 'A type is a word, {"list": T}, {"object": {"field": T}} or {"optional": T}.'
     where p_object = 'type' and case when jsonb_typeof(p_value) = 'object'
                                      then (select count(*) from jsonb_object_keys(p_value)) <> 1 end
     union all
    select '', 'must not be empty', null
     where p_object = 'file' and p_value -> 'workflows' = '[]'
        or p_object = 'atomic' and p_value -> 'steps' = '[]'
        or p_value -> 'branches' = '[]' or p_value -> 'catches' = '[]'
     union all
    select '', 'needs catches or a finally', null
     where p_object = 'try' and not p_value ?| '{catches,finally}'
     union all
    select '', 'is nested too deeply', 'A tree has at most 100 levels.'
     where p_level = 103 or p_places = 101;
end;

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
    -- the values under their keys, except for those that are sound already
    entry as materialized (
        select p.object, p.place, ltrim(p.path || '.' || e.key, '.') as path,
               -- secrets are allowed nowhere else
               case when e.key = 'args' and p.object in ('task', 'request') and e.value::text like '%["secret", %'
                    then wf._hide_secrets(e.value, '{}') else e.value end as value,
               g.key, g.form, g.holds, g.type, g.pattern, g.meaning, f.fits
          from part p
         cross join lateral jsonb_each(case when p.taken_apart then p.value end) e
          left join grammar g on g.object = p.object and g.key = e.key
         cross join lateral (
               select case g.form when 'list' then jsonb_typeof(e.value) = 'array'
                                  when 'map' then jsonb_typeof(e.value) = 'object'
                                  else wf._is_atom(e.value, g.holds, g.type, g.pattern) end) f (fits)
         where p.object <> 'node'
           and (g.key is null or not f.fits or g.holds = 'expression' or g.form <> 'one' and g.pattern is not null)
    ),
    expression as materialized (
        select e.place, e.path, e.value from entry e where e.holds = 'expression' and e.form = 'one'
        union all
        select e.place, e.path || '.' || m.key, m.value
          from entry e
         cross join lateral jsonb_each(case when jsonb_typeof(e.value) = 'object' then e.value end) m
         where e.holds = 'expression' and e.form = 'map'
    )
    select p.place, ltrim(p.path || f.step, '.'), f.message, f.hint
      from part p
     cross join lateral wf._object_faults(p.object, p.value, p.level, cardinality(p.place)) f
    union all
    select p.place, ltrim(p.path || '.' || g.key, '.'), 'is missing', null
      from part p
      join grammar g on g.object = p.object and g.required
     where p.taken_apart and not p.value ? g.key
    union all
    select e.place, e.path || f.step, f.message, f.hint
      from entry e
     cross join lateral (
           select '', 'unknown key', (select 'The keys here are ' || string_agg(g.key, ', ' order by g.key) || '.'
                                        from grammar g
                                       where g.object = e.object)
            where e.key is null
           union all
           select '', 'must be ' || case e.form when 'list' then 'a list' when 'map' then 'an object'
                                                else e.meaning end, null
            where not e.fits
           union all
           select '.' || m.key, 'must be ' || e.meaning, null
             from jsonb_each(case when e.form = 'map' and jsonb_typeof(e.value) = 'object' then e.value end) m
            where not wf._is_atom(m.value, e.holds, e.type, e.pattern)
           union all
           select format('[%s]', m.ordinality - 1), 'must be ' || e.meaning, null
             from jsonb_array_elements(case when e.form = 'list' and e.fits then e.value end) with ordinality m
            where not wf._is_atom(m.value, e.holds, e.type, e.pattern)
           ) f (step, message, hint)
    union all
    select e.place, e.path, wf._is_expression(e.value), 'docs/spec.md lists the forms of expressions.'
      from expression e
     where not (select wf._are_expressions(array(select x.value from expression x)))
       and wf._is_expression(e.value) is not null
    union all
    select array[p.place[1]], format('workflows[%s]', p.place[1] - 1), format('has %s nodes', count(*)),
           'A workflow has at most 10000 nodes.'
      from part p
     where p.object in ('workflow', 'node', 'catch', 'finally', 'undo') or p.object = any (wf._node_kinds())
     group by p.place[1]
    having count(*) > 10000;
$$;
