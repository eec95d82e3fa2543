-- The rows of the instances after :before, :copies more times, with numbers of
-- their own; and the tasks that have ended of instance :giant, :larger more times.
-- No trigger has a say: they are as the engine has left them.
set session_replication_role = replica;
alter table wf.process set (fillfactor = 35);
alter table wf.instance set (fillfactor = 60);
select set_config('bench.before', :'before', false), set_config('bench.copies', :'copies', false),
       set_config('bench.giant', :'giant', false), set_config('bench.larger', :'larger', false);

do $$
declare
    v_before bigint := current_setting('bench.before');
    v_copies int := current_setting('bench.copies');
    v_instances bigint; -- from one copy to the next
    v_processes bigint;
    v_moves bigint;
    v_table text;
    v_key text;
    v_columns text;
    v_values text;
begin
    select max(i.id) - v_before into v_instances from wf.instance i where i.id > v_before;
    select max(p.id) - min(p.id) + 1 into v_processes from wf.process p where p.instance_id > v_before;
    select max(e.seq) - min(e.seq) + 1 into v_moves from wf.event e where e.instance_id > v_before;
    foreach v_table in array array['instance', 'process', 'event', 'binding'] loop
        v_key := case v_table when 'instance' then 'id' else 'instance_id' end;
        select string_agg(quote_ident(a.attname), ', ' order by a.attnum),
               string_agg(case when a.attname = v_key then format('x.%I + k * %s', a.attname, v_instances)
                               when a.attname in ('id', 'parent_id', 'process_id', 'scope_id') then format('x.%I + k * %s', a.attname, v_processes)
                               when a.attname = 'scopes' then format('array(select s + k * %s from unnest(x.scopes) s)', v_processes)
                               when a.attname = 'seq' then format('x.seq + k * %s', v_moves)
                               else format('x.%I', a.attname) end, ', ' order by a.attnum)
          into v_columns, v_values
          from pg_attribute a
         where a.attrelid = format('wf.%I', v_table)::regclass and a.attnum > 0 and not a.attisdropped;
        execute format('insert into wf.%I (%s) overriding system value'
                       ' select %s from generate_series(1, %s) k, lateral (select * from wf.%I y where y.%I > %s offset 0) x',
                       v_table, v_columns, v_values, v_copies, v_table, v_key, v_before);
    end loop;
    perform setval('wf.process_id', (select max(p.id) from wf.process p) + 1),
            setval(pg_get_serial_sequence('wf.instance', 'id'), (select max(i.id) from wf.instance i)),
            setval(pg_get_serial_sequence('wf.event', 'seq'), (select max(e.seq) from wf.event e));
end;
$$;

do $$
declare
    v_giant bigint := current_setting('bench.giant');
    v_from bigint; -- numbers from one copy to the next
    v_columns text;
    v_values text;
begin
    select max(p.id) - min(p.id) + 1 into v_from from wf.process p where p.instance_id = v_giant;
    select string_agg(quote_ident(a.attname), ', ' order by a.attnum),
           string_agg(case a.attname when 'id' then format('%s + k * %s + x.id', (select max(p.id) from wf.process p), v_from)
                                     when 'index' then format('x.index + k * %s', v_from)
                                     else format('x.%I', a.attname) end, ', ' order by a.attnum)
      into v_columns, v_values
      from pg_attribute a
     where a.attrelid = 'wf.process'::regclass and a.attnum > 0 and not a.attisdropped;
    execute format('insert into wf.process (%s) select %s from generate_series(1, %s) k, wf.process x'
                   ' where x.instance_id = %s and x.state = ''END'' and x.index is not null',
                   v_columns, v_values, current_setting('bench.larger'), v_giant);
    perform setval('wf.process_id', (select max(p.id) from wf.process p) + 1);
end;
$$;

alter table wf.process set (fillfactor = 30);
alter table wf.instance set (fillfactor = 50);
