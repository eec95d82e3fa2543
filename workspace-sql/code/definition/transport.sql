-- The transports, as rows: what the workspace has to know of each.
-- console/lang/transport_spec.c says which arguments a transport takes, because the
-- checker works without a workspace. tests/lang/run compares the tables of the
-- checker, of the driver and this one.

delete from wf.transport;

insert into wf.transport (name, secret_args, code_arg, code_type, streams, response, meaning) values
    ('builtin', '{}', null, null, false, '{}', 'what a driver does by itself: write to its log, read its environment'),
    ('exec', '{stdin,env}', null, null, true, '{"exit_code": 0, "stdout": "", "stderr": ""}',
     'programs on the host of the driver'),
    ('http', '{headers,body,form}', null, null, false, '{"status": 200, "url": "", "headers": {}, "body": null}',
     'requests over HTTP'),
    ('sql', '{}', 'statement', 'sql', false, '{"rows": [], "count": 0}', 'statements on a database'),
    ('ssh', '{stdin,env}', 'script', 'shell', true, '{"exit_code": 0, "stdout": "", "stderr": ""}',
     'commands on other hosts');

-- wf._streaming()
--
-- Returns  the transports whose output can be read while a request of theirs runs
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._spec_requests
create or replace function wf._streaming() returns text[]
language sql stable
begin atomic
    select array_agg(t.name order by t.name) from wf.transport t where t.streams;
end;
