-- How workflows are installed and removed.

-- wf._sha256(p_text)
--
-- Returns  the SHA-256 of a text, in hexadecimal digits
-- Locks    nothing
-- Raises   nothing
-- Called   wherever a text needs a checksum or a digest
create or replace function wf._sha256(p_text text) returns text
language plpgsql immutable as $$
begin
    return encode(sha256(convert_to(p_text, 'UTF8')), 'hex');
end;
$$;

-- wf._checksums(p_spec, p_nodes)
--
-- Returns  two objects, from names of task types and of workflows to the SHA-256 of their definitions
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.install, for a file that is sound, and by _recompile
create or replace function wf._checksums(p_spec jsonb, p_nodes wf.part[], out task_types jsonb, out workflows jsonb)
language plpgsql stable as $$
begin
    select coalesce(jsonb_object_agg(t.key, wf._sha256(jsonb_set(t.value - '{doc,line}'::text[], '{params}',
                                                                 p.params)::text)), '{}')
      into task_types
      from jsonb_each(p_spec -> 'task_types') t
     cross join lateral (select coalesce(jsonb_agg(r.value - '{doc,line}'::text[] order by r.ordinality), '[]')
                           from jsonb_array_elements(t.value -> 'params') with ordinality r) p (params);

    select jsonb_object_agg(w.name, w.checksum)
      into workflows
      from (select max(p.value ->> 'name') filter (where p.object = 'workflow') as name,
                   -- the parameters of a workflow are parts of their own
                   wf._sha256(string_agg(concat(p.place[2:],
                                                p.value - case p.object when 'call' then '{line,doc}'::text[]
                                                                        else '{line,doc,params}' end,
                                                task_types ->> (p.value ->> 'type')),
                                         e'\n' order by p.place, p.path)) as checksum
              from unnest(p_nodes) p
             group by p.place[1]) w;
end;
$$;

-- wf._store_task_types(p_task_types, p_checksums)
--
-- Stores the task types that are not known yet. A name and a checksum identify a task type.
--
-- Returns  an object from their names to their numbers
-- Locks    the new rows of task_type, by name
-- Raises   nothing
-- Called   by _store_trees
create or replace function wf._store_task_types(p_task_types jsonb, p_checksums jsonb) returns jsonb
language plpgsql as $$
begin
    insert into wf.task_type (name, checksum, machine, wait, spec)
    select t.key, p_checksums ->> t.key,
           case when t.value ->> 'wait' in ('child', 'instance') then 'child' else t.value ->> 'machine' end,
           t.value ->> 'wait', t.value
      from jsonb_each(p_task_types) t
     order by t.key
        on conflict do nothing;

    insert into wf.task_request (type_id, request, transport, args, passes, clauses, delay, backoff, max_delay,
                                 attempts)
    select t.id, r.key, r.value ->> 'transport',
           wf._fold(wf._hide_secrets(r.value -> 'args', wf._secret_params(t.spec))),
           r.value -> 'args' = (select coalesce(jsonb_object_agg(p ->> 'name', jsonb_build_array('var', p -> 'name')),
                                                '{}')
                                  from jsonb_array_elements(t.spec -> 'params') p),
           (select jsonb_object_agg(c.key, wf._fold(c.value))
              from jsonb_each(r.value - '{transport,args,every}'::text[] || e.read) c),
           coalesce((e.fixed ->> 'delay')::interval, '5 s'),
           coalesce((e.fixed ->> 'backoff')::numeric, 1),
           coalesce((e.fixed ->> 'max_delay')::interval, (e.fixed ->> 'delay')::interval, '5 s'),
           coalesce((e.fixed ->> 'attempts')::int, 3)
      from wf.task_type t
     cross join lateral jsonb_each(t.spec -> 'requests') r
     cross join lateral (
           select coalesce(jsonb_object_agg(c.key, f -> 'value') filter (where f is not null), '{}') as fixed,
                  case when bool_or(f is null)
                       then jsonb_build_object('every', jsonb_object_agg(c.key, c.value) filter (where f is null))
                       else '{}' end as read
             from jsonb_each(jsonb_build_object('max_delay', r.value #> '{every,delay}') || (r.value -> 'every')) c
            cross join lateral wf._constant(c.value) f
           ) e
     where (t.name, t.checksum) in (select c.key, c.value from jsonb_each_text(p_checksums) c)
        on conflict do nothing;

    return (select coalesce(jsonb_object_agg(t.name, t.id), '{}')
              from wf.task_type t
              join jsonb_each_text(p_checksums) c on c.key = t.name and c.value = t.checksum);
end;
$$;

-- wf._store_versions(p_source, p_spec, p_checksums)
--
-- Gives each workflow of a file that differs from its present version a new one.
--
-- Returns  an object from the names of these workflows to the numbers of their versions
-- Locks    the rows of workflow, by name: a later install of the same name waits, then
--          compares
-- Raises   nothing
-- Called   by wf.install
create or replace function wf._store_versions(p_source text, p_spec jsonb, p_checksums jsonb) returns jsonb
language plpgsql as $$
declare
    v_versions jsonb;
begin
    insert into wf.workflow (name)
    select c.key from jsonb_each_text(p_checksums) c order by c.key
        on conflict do nothing;
    perform from wf.workflow w where p_checksums ? w.name order by w.name for no key update;

    with stored as (
        insert into wf.version (workflow_id, number, checksum, source, spec, params, installed_at, installed_by, tags,
                                sql_role, start_if, key)
        select w.id, (select coalesce(max(o.number), 0) + 1 from wf.version o where o.workflow_id = w.id),
               p_checksums ->> w.name, p_source,
               jsonb_build_object('workflow', s, 'task_types', p_spec -> 'task_types'), s -> 'params',
               wf.now(), wf._actor(), s #> '{policies,tags}',
               (select g.role
                  from wf.sql_grant g
                  join pg_roles r on r.rolname = g.role
                 where g.workflow = w.name and pg_has_role(session_user, r.oid, 'member')),
               s #> '{policies,start_if}', s #> '{policies,key}'
          from jsonb_array_elements(p_spec -> 'workflows') s
          join wf.workflow w on w.name = s ->> 'name'
         where not exists (select from wf.version v where v.id = w.version_id and v.checksum = p_checksums ->> w.name)
        returning id, workflow_id
    ),
    used as (
        update wf.workflow w
           set version_id = s.id
          from stored s
         where w.id = s.workflow_id
        returning w.name, s.id
    )
    select jsonb_object_agg(u.name, u.id) into v_versions from used u;
    return coalesce(v_versions, '{}');
end;
$$;

-- wf._store_trees(p_nodes, p_task_types, p_checksums, p_versions)
--
-- Stores the trees of new versions, and the task types that they use.
--
-- Returns  nothing
-- Locks    as _store_task_types, then as _store_nodes
-- Raises   nothing
-- Called   by wf.install and _recompile
create or replace function wf._store_trees(p_nodes wf.part[], p_task_types jsonb, p_checksums jsonb, p_versions jsonb)
returns void
language plpgsql as $$
declare
    j record;
begin
    j := wf._join_calls(p_nodes, p_task_types, p_checksums);
    perform wf._store_nodes(j.p_nodes, p_versions, wf._store_task_types(j.p_task_types, j.p_checksums));
end;
$$;

-- wf._audit_install(p_spec, p_versions)
--
-- Writes down which workflows were installed, in which version, and the names of the
-- secrets that they use. p_versions has the workflows that have a new version.
--
-- Returns  nothing
-- Locks    nothing; only inserts
-- Raises   nothing
-- Called   by wf.install
create or replace function wf._audit_install(p_spec jsonb, p_versions jsonb) returns void
language sql as $$
    select wf._audit('install', jsonb_strip_nulls(jsonb_build_object(
               'installed', jsonb_object_agg(w.name, jsonb_build_object('version', v.number, 'checksum', v.checksum))
                                filter (where p_versions ? w.name),
               'unchanged', jsonb_agg(w.name order by w.name) filter (where not p_versions ? w.name),
               'secrets', (select jsonb_agg(distinct s.name)
                             from jsonb_each_text(p_versions) e
                             join wf.node n on n.version_id = e.value::bigint
                            cross join lateral (
                                  select jsonb_path_query(n.secrets, '$.*[*].secret')
                                   union all
                                  select jsonb_path_query(n.secrets, '$.*[*].text[*] ? (@ != null)')
                                  ) s (name)))))
      from wf.workflow w
      join wf.version v on v.id = w.version_id
     where w.name in (select s ->> 'name' from jsonb_array_elements(p_spec -> 'workflows') s);
$$;

-- wf._refuse_author(p_workflows)
--
-- Returns  nothing, if this session's login is a member of the roles that these workflows have granted
-- Locks    nothing
-- Raises   WF008
-- Called   by install, with the workflows that get a new version
create or replace function wf._refuse_author(p_workflows text[]) returns void
language plpgsql stable as $$
declare
    v_grant wf.sql_grant;
begin
    select g.* into v_grant
      from wf.sql_grant g
      left join pg_roles r on r.rolname = g.role
     where g.workflow = any (p_workflows)
       and pg_has_role(session_user, r.oid, 'member') is not true
     order by g.workflow limit 1;
    if found then
        raise exception using errcode = 'WF008',
            message = format('login %s may not install workflow %s, whose SQL tasks run as role %s',
                             quote_ident(session_user), v_grant.workflow, quote_ident(v_grant.role)),
            hint = format('Whoever writes its statements acts as that role: have a member of %s install it, or give it '
                          'another name.', quote_ident(v_grant.role));
    end if;
end;
$$;

-- wf.install(p_source, p_spec)
--
-- Stores the workflows of a compiled file. A workflow that is the same as before,
-- except for lines and comments, keeps its version. Any other gets a new version,
-- which start uses from the commit on. Running instances keep their versions.
--
-- Returns  for each workflow, in the order of the file: its name, the number of its version, installed or unchanged
-- Locks    the gate; workflow rows by name, then new rows of task_type, lane and concurrency_group by name
-- Raises   WF002 without a source, WF005 if the tree is not what docs/spec.md describes, WF008 as _refuse_author, and
--          as the trigger that sets the schedules of new versions
-- Called   by authors: wf-console install
create or replace function wf.install(p_source text, p_spec jsonb)
returns table (workflow text, version int, answer text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set jit = off set work_mem = '32MB' as $$
declare
    v_nodes wf.part[];
    v_sums record;
    v_versions jsonb;
begin
    perform wf._gate(false);
    if p_source is null then
        raise exception using errcode = 'WF002',
            message = 'the source is missing',
            hint = 'Give the text of the .wf file; it may be empty.';
    end if;
    v_nodes := wf._check_spec(p_spec);
    select c.* into v_sums from wf._checksums(p_spec, v_nodes) c;
    v_versions := wf._store_versions(p_source, p_spec, v_sums.workflows);
    if v_versions <> '{}' then
        perform wf._refuse_author(array(select jsonb_object_keys(v_versions)));
        perform wf._store_trees(v_nodes, p_spec -> 'task_types', v_sums.task_types, v_versions);
    end if;
    perform wf._audit_install(p_spec, v_versions);
    return query
        select w.name, v.number, case when v_versions ? w.name then 'installed' else 'unchanged' end
          from jsonb_array_elements(p_spec -> 'workflows') with ordinality s
          join wf.workflow w on w.name = s.value ->> 'name'
          join wf.version v on v.id = w.version_id
         order by s.ordinality;
end;
$$;
comment on function wf.install(text, jsonb) is
    'Stores the workflows of a compiled file (docs/spec.md) with its source. A workflow that is unchanged keeps its '
    'version. Returns workflow, version, answer (installed or unchanged); raises WF005 for a tree that docs/spec.md '
    'does not describe; WF008 for a new version of a workflow with a SQL role, if the login is not a member of that '
    'role; and as schedule_set for a policy schedule.';

-- wf._recompile()
--
-- Makes the compiled form of every version anew. The nodes and the requests of
-- task types follow from the stored tree, and a new release of code/ may compile a
-- tree differently. The numbers of nodes and task types stay.
--
-- Returns  nothing
-- Locks    all rows of node and task_request; only upgrade.sql calls it, which has the workspace to itself
create or replace function wf._recompile() returns void
language plpgsql set search_path = pg_catalog, pg_temp set jit = off as $$
declare
    v record;
    v_spec jsonb;
    v_nodes wf.part[];
begin
    delete from wf.task_request;
    delete from wf.edge;
    delete from wf.node;
    for v in
        select o.id, o.spec, w.name from wf.version o join wf.workflow w on w.id = o.workflow_id order by o.id
    loop
        v_spec := jsonb_build_object('workflows', jsonb_build_array(v.spec -> 'workflow'),
                                     'task_types', v.spec -> 'task_types');
        v_nodes := wf._spec_nodes(v_spec);
        perform wf._store_trees(v_nodes, v.spec -> 'task_types',
                                (select c.task_types from wf._checksums(v_spec, v_nodes) c),
                                jsonb_build_object(v.name, v.id));
    end loop;
end;
$$;

-- wf._unknown_xid()
--
-- Returns  the value of removed_xid until that is known: greater than every transaction
-- Locks    nothing
-- Raises   nothing
-- Called   by remove and _forget_versions
create or replace function wf._unknown_xid() returns xid8
language sql immutable
begin atomic
    select '18446744073709551615'::xid8;
end;

-- wf.remove(p_workflow)
--
-- Takes a workflow out of use: start refuses it until it is installed again.
-- Versions that no instance uses are deleted later (_forget_versions), when every
-- start that has not seen the removal is over. So a start and a removal do not
-- wait for each other.
--
-- Returns  nothing
-- Locks    the gate; the workflow row, then its versions
-- Raises   WF002 without a name, WF003 if there is no such workflow
-- Called   by authors: wf-console remove
create or replace function wf.remove(p_workflow text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    v_id bigint;
begin
    perform wf._gate(false);
    if p_workflow is null then
        raise exception using errcode = 'WF002',
            message = 'the name of the workflow is missing',
            hint = 'wf-console workflows lists them.';
    end if;
    select w.id into v_id from wf.workflow w where w.name = p_workflow and w.version_id is not null for no key update;
    if v_id is null then
        raise exception using errcode = 'WF003',
            message = format('there is no workflow %s', left(p_workflow, 100)),
            hint = 'wf-console workflows lists them.';
    end if;
    update wf.workflow w set version_id = null where w.id = v_id;
    update wf.version v set removed_xid = wf._unknown_xid() where v.workflow_id = v_id and v.removed_xid is null;
    perform wf._audit('remove', jsonb_build_object('workflow', p_workflow));
end;
$$;
comment on function wf.remove(text) is
    'Takes a workflow out of use: start refuses it from then on. Its instances go on; versions without instances are '
    'deleted within minutes, once every transaction that was under way has ended.';
