-- The rights of the roles. Nobody has a right on a table: programs and people work through
-- these functions, and read through the views.

grant usage on schema wf to wf_admin, wf_operator, wf_author, wf_app, wf_viewer, wf_driver;

do $$
declare
    v_grant record;
begin
    for v_grant in
        select g.function, to_regproc('wf.' || quote_ident(g.function)) as procedure, r.role
          from (values
               ('schema_version',   'driver app author operator viewer admin'),
               ('greet',            'driver app author operator viewer admin'),
               ('now',              'driver app author operator viewer admin'),
               -- drivers
               ('register',         'driver'),
               ('poll',             'driver'),
               ('outcome',          'driver'),
               ('work',             'driver operator admin'),
               ('output_add',       'driver'),
               ('heartbeat',        'driver'),
               ('counters_set',     'driver'),
               ('drain',            'driver operator admin'),
               ('leave',            'driver'),
               -- the role that a SQL task runs as is a member of wf_app
               ('sql_begin',        'driver app'),
               ('sql_too_large',    'driver app'),
               ('sql_outcome',      'driver app'),
               ('token_status',     'driver app'),
               -- definitions and instances
               ('install',          'author'),
               ('remove',           'author'),
               ('simulate',         'author'),
               ('start',            'app author'),
               ('start_many',       'app author'),
               ('signal',           'app author operator admin'),
               ('callback_token',   'app author operator admin'),
               ('callback',         'app author operator admin'),
               ('callback_progress', 'app author operator admin'),
               ('result',           'app author operator viewer admin'),
               ('wait',             'app author operator viewer admin'),
               ('notify_end',       'app author operator viewer admin'),
               ('answer',           'app author operator admin'),
               ('answer_check',     'app author operator admin'),
               ('input_fields',     'app author operator admin'),
               ('group_set',        'author operator admin'),
               ('schedule_set',     'author operator admin'),
               ('schedule_remove',  'author operator admin'),
               ('schedule_pause',   'author operator admin'),
               ('schedule_resume',  'author operator admin'),
               ('schedule_fire',    'author operator admin'),
               ('schedule_backfill', 'author operator admin'),
               -- verbs of operators
               ('retry',            'operator admin'),
               ('ignore',           'operator admin'),
               ('resolve',          'operator admin'),
               ('raise',            'operator admin'),
               ('cancel',           'operator admin'),
               ('abort',            'operator admin'),
               ('halt',             'operator admin'),
               ('suspend',          'operator admin'),
               ('resume',           'operator admin'),
               ('preview',          'operator admin'),
               ('tick',             'operator admin'),
               ('engine_pause',     'operator admin'),
               ('engine_resume',    'operator admin'),
               -- administrators
               ('setting_set',      'admin'),
               ('driver_grant_set', 'admin'),
               ('driver_grant_remove', 'admin'),
               ('sql_grant_set',    'admin'),
               ('sql_grant_remove', 'admin'),
               ('workflow_grant_set', 'admin'),
               ('workflow_grant_remove', 'admin'),
               ('quota_set',        'admin'),
               ('quota_remove',     'admin'),
               ('function_set',     'admin'),
               ('function_remove',  'admin'),
               ('purge',            'admin'),
               ('audit_list',       'admin'),
               -- the views
               ('changes',          'author operator viewer admin'),
               ('list',             'author operator viewer admin'),
               ('progress',         'author operator viewer admin'),
               ('has_only_failures', 'author operator viewer admin'),
               ('waits_for_operator', 'author operator viewer admin'),
               ('schedule_next',    'author operator viewer admin'),
               ('gantt',            'author operator viewer admin'),
               ('tree',             'author operator viewer admin'),
               ('explain',          'author operator viewer admin'),
               ('graph',            'author operator viewer admin'),
               ('stuck',            'author operator viewer admin'),
               ('fsck',             'author operator viewer admin')
               ) g (function, roles)
         cross join lateral string_to_table(g.roles, ' ') r (role)
    loop
        if v_grant.procedure is null then
            raise exception 'grants.sql names a function wf.% that does not exist', v_grant.function;
        end if;
        execute format('grant execute on routine %s to %I', v_grant.procedure::regprocedure, 'wf_' || v_grant.role);
    end loop;

    for v_grant in
        select c.relname as view from pg_class c where c.relnamespace = 'wf'::regnamespace and c.relkind = 'v'
           and c.relname not like '\_%'
    loop
        execute format('grant select on wf.%I to wf_author, wf_operator, wf_viewer, wf_admin', v_grant.view);
    end loop;
end;
$$;
