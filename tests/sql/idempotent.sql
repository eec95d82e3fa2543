-- idempotent.sql - a task type says of which arguments its tasks may be repeated
-- after a lost driver; what a task itself says wins.
begin;
\ir helper/play.sql
select no_plan();

insert into play_type (name, spec)
select 't.' || t.name, jsonb_build_object('name', 't.' || t.name, 'machine', t.machine, 'params', jsonb_build_array(jsonb_build_object('name', 'method', 'type', 'string')),
    'policies', jsonb_build_object('idempotent', '["call", "matches", ["var", "method"], "^(GET|PUT)$"]'::jsonb),
    'requests', t.requests || jsonb_build_object('start', '{"transport": "builtin", "args": {"op": "noop"}}'::jsonb))
  from (values ('Send', 'sync', '{}'::jsonb),
               ('Serve', 'async', '{"poll": {"transport": "builtin", "args": {"op": "noop"}, "success": true}}')) t (name, machine, requests);
select play_install('all', jsonb_build_array(play_par(
    play_task('t.Send', 'get', '{"method": "GET"}'),
    play_task('t.Send', 'post', '{"method": "POST"}'),
    play_task('t.Send', 'joined', '{"method": ["text", "P", "UT"]}'),
    play_task('t.Send', 'given', '{"method": ["var", "m"]}'),
    play_task('t.Send', 'never', '{"method": "GET"}', '{"idempotent": false}'),
    play_task('t.Send', 'always', '{"method": ["var", "m"]}', '{"idempotent": true}'),
    play_task('t.Serve', 'serve', '{"method": ["var", "m"]}'),
    play_task('t.Serve', 'serve_post', '{"method": "POST"}'))), '[{"name": "m", "type": "string"}]');

select results_eq($$select n.bind, n.idempotent, n.policy from wf.node n where n.bind is not null order by n.id$$, $$values
    ('get', true, null::jsonb),
    ('post', false, null),
    ('joined', true, null),
    ('given', false, '["object", {}, ["idempotent"], ["call", "matches", ["var", "m"], "^(GET|PUT)$"]]'),
    ('never', false, null),
    ('always', true, null),
    ('serve', false, '["object", {}, ["idempotent"], ["call", "matches", ["var", "m"], "^(GET|PUT)$"]]'),
    ('serve_post', false, null)$$, 'install settles what it can');

-- lost(METHOD): what becomes of each task when its driver is lost.
create function lost(p_method text) returns table (name text, state text, kind text)
language plpgsql as $$
declare
    v_instance bigint := wf.start('all', jsonb_build_object('m', p_method));
begin
    perform play_take(play_driver('lost'));
    perform play_report(play_id(v_instance, n), 'ack') from unnest('{serve,serve_post}'::text[]) n;
    perform play_later('31 s'), wf.tick();
    return query select p.bind, p.state, p.error ->> 'kind' from wf.process p where p.instance_id = v_instance and p.bind is not null order by p.id;
end;
$$;
select results_eq($$select * from lost('GET')$$, $$values
    ('get', 'INIT', null),
    ('post', 'FAILED', 'lost'),
    ('joined', 'INIT', null),
    ('given', 'INIT', null),
    ('never', 'FAILED', 'lost'),
    ('always', 'INIT', null),
    ('serve', 'INIT', null),
    ('serve_post', 'FAILED', 'lost')$$, 'idempotent of a type counts for the arguments that a task has');
select results_eq($$select * from lost('POST') where name in ('given', 'always', 'serve')$$, $$values
    ('given', 'FAILED', 'lost'),
    ('always', 'INIT', null),
    ('serve', 'FAILED', 'lost')$$, 'with other arguments it says otherwise');

-- what cannot be said
update play_type set spec = jsonb_set(spec, '{policies,idempotent}', '["var", "method"]') where name = 't.Send';
select play_install('odd', jsonb_build_array(play_task('t.Send', 'x', '{"method": ["var", "m"]}')), '[{"name": "m", "type": {"optional": "json"}}]');
select wf.start('odd', '{"m": "yes"}') as i \gset
select is((select p.state || ': ' || (p.error ->> 'kind') || ': ' || (p.error ->> 'message') from wf.process p where p.instance_id = :i and p.bind = 'x'),
    'FAILED: input: idempotent is true or false, not yes', 'a task of which its type says anything else fails before it begins');
select wf.start('odd', '{"m": null}') as i \gset
select is(play_state(:i, 'x'), 'INIT', 'null counts as false');
select is_empty('select * from wf.fsck()', 'the workspace is sound');

select * from finish();
rollback;
