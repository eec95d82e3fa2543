-- fairness.sql - a large forall does not stand before everybody else, nor before
-- what needs another transport.
begin;
\ir helper/play.sql
select no_plan();

select play_install('wide', jsonb_build_array(jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'i', 'in', '["range", 1, 10000]'::jsonb, 'body', play_task('t.Do', 'w'))));
select play_install('deep', jsonb_build_array(jsonb_build_object('kind', 'forall', 'line', 1, 'name', 'i', 'in', '["range", 1, 10000]'::jsonb,
                                                                 'body', play_seq(play_task('t.Do', 'w'), play_task('t.Do', 'x')))));
select play_install('one', jsonb_build_array(play_task('t.Do', 'a'), play_task('t.Do', 'b')));
select play_install('far', jsonb_build_array(play_task('t.Far', 'a'), play_task('t.Far', 'b')));
select play_install('mixed', jsonb_build_array(play_task('t.Do', 'a'), play_task('t.Far', 'b')));
select play_driver() as driver \gset
select set_config('wf.now', '2030-01-01 00:00:00+00', true);

-- work(DRIVER, ROUNDS): ten requests each 0.2 s.
create function work(p_driver bigint, p_rounds int) returns void language plpgsql as $$
begin
    for i in 1 .. p_rounds loop
        perform play_take(p_driver, 10);
        perform wf.outcome(p_driver, array_agg(l.instance_id), array_agg(l.process_id), array_agg(l.token), array_agg('response'::text), array_agg('{}'::bytea))
           from wf.lease l;
        perform play_later('0.2 s'), wf.heartbeat(p_driver);
    end loop;
end;
$$;

-- turns(WORKFLOW): a large instance is at work when another one starts. How
-- many requests are handed out before the first and the last of the newcomer's.
create function turns(p_workflow text, p_newcomer text, out first bigint, out last bigint) language plpgsql as $$
declare
    v_driver bigint := play_driver('fake', '{builtin,ssh}');
    v_large bigint := wf.start(p_workflow);
    v_new bigint;
    v_from bigint;
begin
    perform work(v_driver, 100);
    v_new := wf.start(p_newcomer);
    v_from := (select max(r.k) from play_request r);
    perform work(v_driver, 60);
    select min(r.k) - v_from - 1, max(r.k) - v_from - 1 into first, last from play_request r where r.instance_id = v_new;
    perform wf.abort(jsonb_build_object('instance', v_large));
    perform wf.leave(v_driver);
end;
$$;

select concat_ws(e'\n', cmp_ok(t.first, '<', 100::bigint, format('10,000 elements: the newcomer''s first task waits for %s of them', t.first)),
       cmp_ok(t.last, '<', 300::bigint, format('its last for %s', t.last)))
  from turns('wide', 'one') t;
select concat_ws(e'\n', cmp_ok(t.first, '<', 100::bigint, format('10,000 elements of two tasks: the newcomer''s first task waits for %s', t.first)),
       cmp_ok(t.last, '<', 300::bigint, format('its last for %s', t.last)))
  from turns('deep', 'one') t;
select concat_ws(e'\n', cmp_ok(t.first, '<', 100::bigint, format('a newcomer of another transport: its first task waits for %s', t.first)),
       cmp_ok(t.last, '<', 300::bigint, format('its last for %s', t.last)))
  from turns('wide', 'far') t;
select concat_ws(e'\n', cmp_ok(t.first, '<', 100::bigint, format('a newcomer of both transports: its first task waits for %s', t.first)),
       cmp_ok(t.last, '<', 300::bigint, format('its last for %s', t.last)))
  from turns('deep', 'mixed') t;

-- at once
select play_driver() as driver \gset
select wf.start('wide') as i \gset
select set_config('wf.now', (wf.now() + interval '1 s')::text, true);
select wf.start('one') as j \gset
select max(k) as k from play_request \gset
select play_take(:driver, 11);
select is((select count(*) from play_request r where r.instance_id = :j), 0::bigint, 'whoever comes a second later goes behind those of one second');
select play_take(:driver, 1);
select is((select count(*) from play_request r where r.instance_id = :j), 1::bigint, 'a newcomer goes before the rest of the large instance');
select results_eq(format('select p.index from play_request r join wf.process p on p.instance_id = r.instance_id and p.id = r.process_id where r.k > %s and r.instance_id = %s order by r.k limit 4', :k, :i),
                  array[0, 1, 2, 3], 'elements go by their index');

-- each session takes numbers of processes in advance, so what began later may
-- have a smaller number than what is around it
select is(wf._turn(wf.now(), wf._place(null, '{2000,1990}', null)) >= wf._turn(wf.now(), null), true, 'no element is before its turn');
select is(array(select wf._place(null, array[k, 1900], null) from generate_series(1890::bigint, 1902) k),
    '{10,9,8,7,6,5,4,3,2,1,0,1023,1022}', 'elements are told apart all the same');

select * from finish();
rollback;
