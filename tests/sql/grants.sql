-- grants.sql - who may call and see what.
begin;
select no_plan();

create function pg_temp.callers(p_function text) returns text language sql as $$
    select string_agg(substr(r.rolname, 4), ' ' order by r.rolname)
      from pg_roles r, pg_proc p
     where r.rolname in ('wf_admin', 'wf_app', 'wf_author', 'wf_driver', 'wf_operator', 'wf_viewer')
       and p.pronamespace = 'wf'::regnamespace and p.proname = p_function
       and has_function_privilege(r.oid, p.oid, 'execute')
$$;

select is_empty($$select p.proname from pg_proc p
                   where p.pronamespace = 'wf'::regnamespace and p.proname not like '\_%' and pg_temp.callers(p.proname) is null$$,
                'every public function is somebody''s');
select is(pg_temp.callers(f), 'driver', f || ' is for drivers') from unnest('{register,poll,outcome,heartbeat,leave}'::text[]) f;
select is(pg_temp.callers('drain'), 'admin driver operator', 'drain is for drivers and operators');
select is(pg_temp.callers(f), 'app driver', f || ' is for drivers and the roles of SQL tasks') from unnest('{sql_begin,sql_outcome,token_status}'::text[]) f;
select is(pg_temp.callers(f), 'author', f || ' is for authors') from unnest('{install,remove}'::text[]) f;
select is(pg_temp.callers(f), 'app author', f || ' is for applications and authors') from unnest('{start,start_many}'::text[]) f;
select is(pg_temp.callers(f), 'admin operator', f || ' is for operators') from unnest('{retry,ignore,resolve,raise,cancel,abort,tick}'::text[]) f;
select is(pg_temp.callers(f), 'admin', f || ' is for admins') from unnest('{function_set,function_remove}'::text[]) f;
select is(pg_temp.callers(f), 'admin author operator viewer', f || ' is for whoever looks') from unnest('{changes,tree,graph,explain,stuck,fsck}'::text[]) f;

select is_empty($$select r.role, c.relname
                    from unnest('{wf_admin,wf_author,wf_operator,wf_viewer}'::text[]) r (role), pg_class c
                   where c.relnamespace = 'wf'::regnamespace and c.relkind = 'v' and not has_table_privilege(r.role, c.oid, 'select')$$,
                'whoever looks sees every view');
select is_empty($$select r.role, c.relname
                    from unnest('{wf_app,wf_driver}'::text[]) r (role), pg_class c
                   where c.relnamespace = 'wf'::regnamespace and c.relkind = 'v' and has_table_privilege(r.role, c.oid, 'select')$$,
                'applications and drivers see none');
select is_empty($$select r.role, c.relname, p.privilege
                    from unnest('{wf_admin,wf_app,wf_author,wf_driver,wf_operator,wf_viewer}'::text[]) r (role),
                         unnest('{select,insert,update,delete,truncate,references,trigger}'::text[]) p (privilege), pg_class c
                   where c.relnamespace = 'wf'::regnamespace and c.relkind in ('r', 'p') and has_table_privilege(r.role, c.oid, p.privilege)$$,
                'nobody has a right on a table');

select * from finish();
rollback;
