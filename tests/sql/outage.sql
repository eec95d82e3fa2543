-- outage.sql - what comes due while no driver is there: all of it is done when one
-- comes, and nothing before its time.
begin;
\ir helper/play.sql
select no_plan();

select play_install('tried', jsonb_build_array(play_forall('e', (select jsonb_agg(k) from generate_series(1, 150) k),
    play_task('t.Do', 'a', '{}', '{"retry": {"attempts": 2, "delay": "PT1M", "jitter": 0.5}}'))));
select play_install('slept', jsonb_build_array(play_task('t.Sleep', 'a', '{"duration": "PT1M"}'), play_task('t.Do', 'b')));
select play_install('waited', jsonb_build_array(play_task('t.Do', 'a', '{}', '{"timeout": {"wait": "PT1M"}}')));

select play_driver() as driver \gset
select wf.start('tried') as i \gset
select play_take(:driver, 1000), play_fail_all(:driver, :i);
select wf.start('slept') as j \gset
select wf.start('waited') as k \gset
select is((select count(*) from wf.timer where instance_id = :i and kind = 'retry'), 150::bigint, '150 tasks wait to be tried again');
select is((select min(t.due_at - p.at) >= '60 s' and max(t.due_at - p.at) <= '90 s' and count(distinct t.due_at) > 100
             from wf.timer t join wf.process p on p.instance_id = t.instance_id and p.id = t.process_id where t.instance_id = :i), true,
          'at different times, after a minute to a minute and a half');

-- an hour later
select wf.leave(:driver);
select play_later('1 hour');
select is((select count(*) from wf.timer where due_at <= wf.now()), 151::bigint, 'without a driver nothing goes on');
select play_driver('other') as driver \gset
select play_later('2 s'); -- drivers look at limits once a second
select play_take(:driver, 0);
select results_eq(format('select state, error ->> ''kind'' from wf.process where id = %s', play_id(:k, 'a')), $$values ('FAILED', 'timeout')$$, 'the first poll of the next driver notices that a task has waited for too long');
select play_take(:driver, 0), play_take(:driver, 0);
select is_empty('select * from wf.timer', 'the driver''s polls fire all timers, a hundred at a time');
select is(play_state(:j, 'a'), 'END', 'the sleep has ended');
select play_on(:driver);
select is((select count(*) from wf.event e where e.instance_id = :i and e.event = 'start' and e.attempt = 2), 150::bigint, 'each task begins its second attempt');
select is((select count(*) from wf.event e join wf.process p on p.instance_id = e.instance_id and p.id = e.process_id and p.bind = 'a'
            where e.instance_id = :i and e.event = 'start'), 300::bigint, 'no task begins a third attempt');
select results_eq(format('select id, state, result from wf.instance where id in (%s, %s) order by id', :i, :j),
    format($$values (%s::bigint, 'END', 'success'), (%s, 'END', 'success')$$, :i, :j), 'both end');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

select * from finish();
rollback;
