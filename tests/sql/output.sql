-- output.sql - streamed output: kept as it came, up to a cap.
begin;
\ir helper/play.sql
select no_plan();
select play_driver('fake', '{builtin}') as driver \gset

select play_install('two', jsonb_build_array(play_task('t.Do', null), play_task('t.Do', null)));
select wf.start('two') as i \gset
select play_take(:driver);
select process_id as j, token as t from play_request where instance_id = :i \gset

-- say(START, STREAM, BODY): a chunk with the token that there is
create function say(p_i bigint, p_j bigint, p_t uuid, p_start bigint, p_stream text, p_body text) returns text
language sql as $$
    select o.answer from wf.output_add(array[p_i], array[p_j], array[p_t], array[p_start], array[octet_length(p_body)::bigint], array[p_stream], array[p_body]) o;
$$;
create function kept() returns setof text
language sql as $$ select concat_ws(' ', o.attempt, o.start, o.size, o.stream, o.dropped, o.body) from wf.output_v o order by o.start; $$;

select is(say(:i, :j, :'t', 0, 'stdout', 'one'), 'done', 'a chunk is kept');
select is(say(:i, :j, :'t', 0, 'stdout', 'one'), 'done', 'again changes nothing');
select is(say(:i, :j, :'t', 5, 'stderr', 'é'), 'done', 'a chunk after a gap is kept');
select results_eq('select kept()', $$values ('1 0 3 stdout 0 one'), ('1 5 2 stderr 2 é')$$, 'the view tells how many bytes were dropped');
select is(say(:i, :j, gen_random_uuid(), 7, 'stdout', 'x'), 'stale', 'an unknown token is stale');
select is(count(*), 2::bigint, 'a chunk with an unknown token is not kept') from wf.output_v;
select is((select label from wf.output_v limit 1), 't.Do', 'the task is named');

select wf.setting_set('output_bytes', 1024);
select say(:i, :j, :'t', 7 + 500 * n, 'stdout', repeat(n::text, 500)) from generate_series(0, 9) n;
select results_eq('select start, dropped from wf.output_v order by start', $$values (3507::bigint, 3507::bigint), (4007::bigint, 0::bigint), (4507::bigint, 0::bigint)$$, 'of a long output the end is kept');
select throws_ok(format('select wf.output_add(array[%s], array[%s], array[]::uuid[], array[1], array[1], array[''stdout''], array[''x''])', :i, :j),
    'WF002', null, 'arrays have one length');

select wf.outcome(:driver, array[:i::bigint], array[:j::bigint], array[:'t'::uuid], array['response'], array[''::bytea]);
select is(say(:i, :j, :'t', 9000, 'stdout', 'late'), 'stale', 'a chunk after the end is stale');
select is(count(*), 3::bigint, 'a stale chunk leaves the others') from wf.output_v;

select * from finish();
rollback;
