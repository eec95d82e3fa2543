-- install.sql - wf.install and wf.remove: what is stored, what is refused, versions.
begin;
select no_plan();

-- one file with a node of each kind
create temp table base as select '{
  "format": 1, "file": "base.wf",
  "task_types": {
    "lb.Log": {"name": "lb.Log", "doc": "writes a line", "params": [{"name": "message", "type": "string"}], "machine": "sync", "policies": {"idempotent": true},
      "requests": {"start": {"transport": "builtin", "args": {"op": "log", "message": ["var", "message"]}}}},
    "http.Get": {"name": "http.Get", "params": [{"name": "url", "type": "string"}], "returns": "json", "machine": "sync",
      "requests": {"start": {"transport": "http", "args": {"url": ["var", "url"]}, "output": ["get", ["var", "response"], "body"]}}},
    "job.Run": {"name": "job.Run", "params": [{"name": "pool", "type": "string"}, {"name": "pause", "type": "duration"}], "machine": "async",
      "policies": {"group": {"name": ["text", "pool-", ["var", "pool"]], "max": 3}},
      "requests": {
        "start": {"transport": "ssh", "args": {"host": "h", "command": ["list", "run", ["var", "pool"]]}, "handle": {"id": ["get", ["var", "response"], "stdout"]}},
        "poll": {"transport": "http", "args": {"url": ["get", ["var", "handle"], "id"]}, "every": {"delay": ["var", "pause"], "backoff": 2, "max_delay": "PT1M", "attempts": 5}, "success": true},
        "cancel": {"transport": "ssh", "args": {"host": "h"}, "every": {"delay": "PT2S"}}}},
    "wf.Sleep": {"name": "wf.Sleep", "params": [{"name": "duration", "type": "duration"}], "machine": "wait", "wait": "sleep"}
  },
  "workflows": [{"name": "base", "line": 1, "doc": "all kinds", "params": [{"name": "pool", "type": "string", "default": "a", "doc": "of hosts"}],
    "policies": {"title": "Base"},
    "steps": [
      {"kind": "task", "line": 2, "type": "lb.Log", "args": {"message": "begin"}, "policies": {"priority": 7, "title": "first"}},
      {"kind": "par", "line": 3, "branches": [
        {"kind": "task", "line": 4, "type": "http.Get", "args": {"url": "http://localhost/"}, "as": "page"},
        {"kind": "seq", "line": 5, "steps": [
          {"kind": "task", "line": 6, "type": "wf.Sleep", "args": {"duration": "PT1S"}},
          {"kind": "task", "line": 7, "type": "job.Run", "args": {"pool": ["var", "pool"], "pause": "PT3S"}, "as": "job", "reads": {"pool": 0},
           "policies": {"queue": ["var", "pool"]}}]}]},
      {"kind": "forall", "line": 8, "name": "row", "index": "i", "in": ["var", "page"], "max": 4, "reads": {"page": 0},
       "body": {"kind": "seq", "line": 8, "steps": [
          {"kind": "let", "line": 9, "as": "twice", "type": {"optional": "number"}, "value": ["mul", ["var", "row"], 2], "reads": {"row": 1}},
          {"kind": "if", "line": 10, "condition": ["gt", ["var", "twice"], 2], "reads": {"twice": 1},
           "then": {"kind": "let", "line": 11, "as": "big", "value": true},
           "else": {"kind": "let", "line": 12, "as": "big", "value": false}}]},
       "collect": [{"as": "bigs", "value": ["var", "big"]}], "collect_reads": {"big": 1}},
      {"kind": "call", "line": 13, "workflow": "inner", "args": {"list": ["var", "bigs"], "n": 1}, "as": "sum", "reads": {"bigs": 0},
       "params": [{"name": "list", "type": {"list": "bool"}}, {"name": "n", "type": "int"}], "returns": {"list": "int"},
       "steps": [
          {"kind": "forall", "line": 20, "name": "x", "in": ["range", 1, 3], "body":
            {"kind": "task", "line": 21, "type": "lb.Log", "args": {"message": ["text", ["var", "x"], ["var", "n"], ["instance", "id"]]}, "reads": {"x": 1, "n": 0}}},
          {"kind": "return", "line": 22, "value": ["list", 1, ["add", 1, 1]]}]},
      {"kind": "return", "line": 14, "value": ["var", "sum"], "reads": {"sum": 0}}]}]}'::jsonb as spec;

create function pg_temp.spec() returns jsonb language sql as 'select spec from base';
create function pg_temp.node(p_line int, p_kind text default null) returns wf.node language sql as $$
    select n from wf.node n join wf.workflow w on w.version_id = n.version_id
     where w.name = 'base' and n.line = p_line and n.kind = coalesce(p_kind, n.kind)
$$;

-- what is stored
select results_eq('select * from wf.install(''source'', pg_temp.spec())', $$values ('base', 1, 'installed')$$, 'install answers with the version');
select results_eq(
    $$select n.id, n.parent_id, n.ordinal, n.kind, n.label, n.next_id, n.children, n.bind
        from wf.node n join wf.workflow w on w.version_id = n.version_id where w.name = 'base' order by n.id$$,
    $$values (1, null::int, 1, 'call', 'base', null::int, 5, null::text),
             (2, 1, 1, 'sync', 'lb.Log', 3, 0, null),
             (3, 1, 2, 'par', 'par', 8, 2, null),
             (4, 3, 1, 'sync', 'http.Get as page', null, 0, 'page'),
             (5, 3, 2, 'seq', 'seq', null, 2, null),
             (6, 5, 1, 'wait', 'wf.Sleep', 7, 0, null),
             (7, 5, 2, 'async', 'job.Run as job', null, 0, 'job'),
             (8, 1, 3, 'forall', 'forall row', 14, 1, null),
             (9, 8, 1, 'seq', 'seq', null, 2, null),
             (10, 9, 1, 'let', 'let twice', 11, 0, 'twice'),
             (11, 9, 2, 'if', 'if', null, 2, null),
             (12, 11, 1, 'let', 'let big', null, 0, 'big'),
             (13, 11, 2, 'let', 'let big', null, 0, 'big'),
             (14, 1, 4, 'call', 'call inner as sum', 18, 2, 'sum'),
             (15, 14, 1, 'forall', 'forall x', 17, 1, null),
             (16, 15, 1, 'sync', 'lb.Log', null, 0, null),
             (17, 14, 2, 'return', 'return', null, 0, null),
             (18, 1, 5, 'return', 'return', null, 0, null)$$,
    'nodes are numbered depth first and know what comes next');
select is((select (v.number, v.source, v.installed_by, v.params)::text from wf.version v join wf.workflow w on w.version_id = v.id where w.name = 'base'),
          (1, 'source', current_user, pg_temp.spec() #> '{workflows,0,params}')::text, 'a version keeps source, author and parameters');
select is((pg_temp.node(2)).input, '{"message": "begin"}', 'constant arguments are values');
select is((pg_temp.node(2)).request, '{"op": "log", "message": "begin"}', 'a request of constant arguments is made by install');
select is((pg_temp.node(4)).request, '{"url": "http://localhost/"}', 'a request that passes its arguments on is the arguments');
select ok((pg_temp.node(2)).input_fixed and (pg_temp.node(17 + 5)).input_fixed, 'constants are marked');
select is((pg_temp.node(22)).input, '[1, 2]', 'constant expressions are evaluated');
select ok(not (pg_temp.node(21)).input_fixed and (pg_temp.node(21)).request is null, 'arguments that read names are left to the instance');
select is((pg_temp.node(21)).reads, '{"n": 0, "x": 1, "instance": 0}', 'reads tells that the instance is read, too');
select is((pg_temp.node(20)).input ->> 0, 'range', 'a forall counts through a range by itself');
select is(wf._evaluate((pg_temp.node(7)).input, '{"pool": "b"}'), '{"value": {"pool": "b", "pause": "PT3S"}}', 'arguments evaluate to what the tree says');
select is(wf._evaluate((pg_temp.node(7)).policy, '{"pool": "b"}'), '{"value": {"group": "pool-b", "queue": "b"}}',
          'policies of the type read the arguments of the task');
select is((pg_temp.node(7)).group_max, 3, 'a constant of a policy is evaluated by install');
select is((pg_temp.node(2)).rank, -7::smallint, 'rank is minus the priority');
select is((pg_temp.node(2)).title, 'first', 'a constant title');
select is((pg_temp.node(1)).title, 'Base', 'a workflow has a title');
select ok((pg_temp.node(2)).idempotent and not (pg_temp.node(4)).idempotent, 'idempotent is inherited from the task type');
select is((select l.needs from wf.lane l where l.id = (pg_temp.node(7)).lane_id), '{http,ssh}', 'a lane needs the transports of all requests');
select is((pg_temp.node(6)).lane_id, null, 'a waiting task needs no lane');
select is((pg_temp.node(6)).transport, null, 'a waiting task needs no transport');
select is((pg_temp.node(4)).transport, 'http', 'the transport of a start request');
select ok((pg_temp.node(2)).plain and not (pg_temp.node(4)).plain, 'plain: any response will do');
select results_eq($$select wf._picks(c::jsonb) from unnest(array[
        '{"output": ["object", {}, ["a", "b"], ["get", ["var", "response"], "a"], ["get", ["var", "response"], "b"]]}',
        '{"output": ["object", {}, ["a"], ["get", ["var", "response"], "a"]], "success": true}',
        '{"output": ["object", {"b": 1}, ["a"], ["get", ["var", "response"], "a"]]}',
        '{"output": ["object", {}, ["a", "b"], ["get", ["var", "response"], "a"], ["get", ["var", "response"], "a"]]}',
        '{"output": ["object", {}, ["a"], ["get", ["var", "url"], "a"]]}',
        '{"output": ["get", ["var", "response"], "a"]}', '{"success": true}', '{"output": ["const", {}]}', '{"output": 1}', null]) c$$,
    $$values ('{a,b}'::text[]), (null), (null), (null), (null), (null), (null), (null), (null), (null)$$, 'an output that only picks fields of the response');
select is((pg_temp.node(8, 'forall')).item, 'row', 'an element that is read');
select is((pg_temp.node(8, 'forall')).item_index, null, 'an index that is not read');
select is((pg_temp.node(8, 'forall')).collect_reads, '{"big": 1}', 'collect_reads has the names that collect reads');
select results_eq(
    $$select r.request, r.transport, r.passes, r.delay, r.backoff, r.max_delay, r.attempts
        from wf.task_request r join wf.task_type t on t.id = r.type_id
       where t.id in ((pg_temp.node(2)).type_id, (pg_temp.node(4)).type_id, (pg_temp.node(7)).type_id) order by t.name, r.request$$,
    $$values ('start', 'http', true, '5 s'::interval, 1::numeric, '5 s'::interval, 3),
             ('cancel', 'ssh', false, '2 s', 1, '2 s', 3),
             ('poll', 'http', false, '5 s', 2, '1 min', 5),
             ('start', 'ssh', false, '5 s', 1, '5 s', 3),
             ('start', 'builtin', false, '5 s', 1, '5 s', 3)$$, 'requests');
select is((select wf._evaluate(r.clauses -> 'every', '{"pause": "PT9S"}') from wf.task_request r where r.type_id = (pg_temp.node(7)).type_id and r.request = 'poll'),
          '{"value": {"delay": "PT9S"}}', 'a delay that reads a parameter is left to the task');

-- versions
select results_eq('select * from wf.install(''other'', pg_temp.spec())', $$values ('base', 1, 'unchanged')$$, 'the same tree makes no version');
select results_eq($$select * from wf.install('', jsonb_set(jsonb_set(jsonb_set(pg_temp.spec(), '{workflows,0,line}', '9'), '{workflows,0,doc}', '"x"'),
                                                           '{task_types,lb.Log,params,0,doc}', '"x"'))$$,
                  $$values ('base', 1, 'unchanged')$$, 'lines and comments make no version');
select results_eq($$select * from wf.install('', jsonb_set(pg_temp.spec(), '{workflows,0,steps,0,args,message}', '"Begin"'))$$,
                  $$values ('base', 2, 'installed')$$, 'another argument does');
select results_eq($$select * from wf.install('', jsonb_set(pg_temp.spec(), '{task_types,lb.Log,requests,start,args,op}', '"noop"'))$$,
                  $$values ('base', 3, 'installed')$$, 'another task type makes a version');
select results_eq('select * from wf.install('''', pg_temp.spec())', $$values ('base', 4, 'installed')$$, 'the former task type makes a version again');
select is((select count(*) from wf.task_type t where t.name = 'lb.Log'), 2::bigint, 'task types are stored once for each checksum');
select results_eq($$select * from wf.install('', jsonb_insert(pg_temp.spec(), '{workflows,0}', '{"name": "another", "line": 1, "params": [], "steps": []}'))$$,
                  $$values ('another', 1, 'installed'), ('base', 4, 'unchanged')$$, 'each workflow of a file has its own versions, in the order of the file');

-- what is refused: each row changes one place of the file; a null value removes it
select throws_ok(format('select * from wf.install('''', %L)', case when r.value is null then pg_temp.spec() #- r.path::text[] else jsonb_set(pg_temp.spec(), r.path::text[], r.value::jsonb) end),
                 'WF005', r.message, r.message)
  from (values
       ('{format}', '2', 'format: must be 1, the version of the format'),
       ('{file}', null, 'file: is missing'),
       ('{extra}', '1', 'extra: unknown key'),
       ('{workflows}', '[]', 'must not be empty'),
       ('{workflows}', '{}', 'workflows: must be a list'),
       ('{workflows,0}', '1', 'workflows[0]: must be an object'),
       ('{workflows,0,name}', '"Base"', 'workflows[0].name: must be names that begin with a small letter, joined by dots, at most 63 bytes'),
       ('{workflows,0,name}', to_jsonb(repeat('a', 64))::text, 'workflows[0].name: must be names that begin with a small letter, joined by dots, at most 63 bytes'),
       ('{workflows,0,name}', '"a\"; drop schema wf; --"', 'workflows[0].name: must be names that begin with a small letter, joined by dots, at most 63 bytes'),
       ('{workflows,0,policies,queue}', '"q"', 'workflows[0].policies.queue: unknown key'),
       ('{workflows,0,policies,title}', '["var", "page"]', 'workflows[0]: there is no parameter page'),
       ('{workflows,0,params,0,type}', '"text"', 'workflows[0].params[0].type: must be a type'),
       ('{workflows,0,params,0,type}', '{"list": "int", "optional": "int"}', 'workflows[0].params[0].type: a type has one key'),
       ('{workflows,0,params,0,type}', '{"object": {"a": {"list": "x"}}}', 'workflows[0].params[0].type.object.a.list: must be a type'),
       ('{workflows,0,params,0,default}', '["var", "x"]', 'workflows[0].params[0].default: a default reads no names, this one reads x'),
       ('{workflows,0,params,1}', '{"name": "pool", "type": "int"}', 'workflows[0].params: the name pool is bound twice'),
       ('{task_types,job.Run,params,2}', '{"name": "pool", "type": "int"}', 'task_types.job.Run.params: parameter pool is defined twice'),
       ('{workflows,0,steps,0,kind}', '"do"', 'workflows[0].steps[0].kind: is not a kind of node'),
       ('{workflows,0,steps,0,line}', '0', 'workflows[0].steps[0].line: must be a line number'),
       ('{workflows,0,steps,0,line}', '1.5', 'workflows[0].steps[0].line: must be a line number'),
       ('{workflows,0,steps,0,args}', null, 'workflows[0].steps[0].args: is missing'),
       ('{workflows,0,steps,0,args,message}', null, 'workflows[0].steps[0].args: lb.Log needs the parameter message'),
       ('{workflows,0,steps,0,args,level}', '1', 'workflows[0].steps[0].args: lb.Log has no parameter level'),
       ('{workflows,0,steps,0,args,message}', '["exec", "rm"]', 'workflows[0].steps[0].args.message: there is no operator "exec"'),
       ('{workflows,0,steps,0,args,message}', '["call", "pg_sleep", 1]', 'workflows[0].steps[0].args.message: there is no function "pg_sleep"'),
       ('{workflows,0,steps,0,args,message}', '["var", "pool"]', 'workflows[0].steps[0]: reads lacks pool'),
       ('{workflows,0,steps,0,type}', '"lb.Logg"', 'workflows[0].steps[0].type: task_types has no lb.Logg'),
       ('{workflows,0,steps,0,as}', '"9"', 'workflows[0].steps[0].as: must be a name of letters, digits and _, at most 63 bytes'),
       ('{workflows,0,steps,0,as}', '"instance"', 'workflows[0].steps[0]: ''instance'' is not a name'),
       ('{workflows,0,steps,0,as}', '"page"', 'workflows[0].steps[1].branches[0]: the name page is bound twice'),
       ('{workflows,0,steps,0,as}', '"pool"', 'workflows[0].steps[0]: the name pool is bound twice'),
       ('{workflows,0,steps,0,policies,priority}', '1001', 'workflows[0].steps[0].policies.priority: must be an int from -1000 to 1000'),
       ('{workflows,0,steps,0,policies,idempotent}', '"yes"', 'workflows[0].steps[0].policies.idempotent: must be true or false'),
       ('{workflows,0,steps,0,policies,idempotent}', '["eq", 1, 1]', 'workflows[0].steps[0].policies.idempotent: must be true or false'),
       ('{task_types,lb.Log,policies,idempotent}', '"yes"', 'task_types.lb.Log.policies.idempotent: must be true, false or an operator'),
       ('{task_types,lb.Log,policies,idempotent}', '["eq", 1]', 'task_types.lb.Log.policies.idempotent: operator eq in an array of 2'),
       ('{task_types,lb.Log,policies,idempotent}', '["var", "pool"]', 'task_types.lb.Log.policies: pool is not a parameter of lb.Log'),
       ('{task_types,lb.Log,policies,priority}', '1001', 'task_types.lb.Log.policies.priority: must be an int from -1000 to 1000'),
       ('{task_types,lb.Log,policies,requires}', '["list", "gpu", 1]', 'task_types.lb.Log.policies.requires: must be a list of strings or an object of scalars, at most 64 of 127 bytes each'),
       ('{task_types,lb.Log,policies,group}', '{"name": "g", "max": 0}', 'task_types.lb.Log.policies.group.max: must be an int of at least 1'),
       ('{workflows,0,steps,0,policies,group}', '{"max": 1}', 'workflows[0].steps[0].policies.group.name: is missing'),
       ('{workflows,0,steps,0,policies,group}', '{"name": "g", "max": 0}', 'workflows[0].steps[0].policies.group.max: must be an int of at least 1'),
       ('{workflows,0,steps,0,policies,queue}', '""', 'workflows[0].steps[0].policies.queue: must be a string of 1 to 63 bytes'),
       ('{workflows,0,steps,1,branches}', '[]', 'workflows[0].steps[1]: must not be empty'),
       ('{workflows,0,steps,1,reads}', '{}', 'workflows[0].steps[1].reads: unknown key'),
       ('{workflows,0,steps,1,branches,1,steps,1,reads,pool}', '1', 'workflows[0].steps[1].branches[1].steps[1].reads.pool: no scope at this depth binds pool'),
       ('{workflows,0,steps,1,branches,1,steps,1,reads,pool}', '-1', 'workflows[0].steps[1].branches[1].steps[1].reads.pool: must be the depth of a scope'),
       ('{workflows,0,steps,1,branches,1,steps,1,reads,other}', '0', 'workflows[0].steps[1].branches[1].steps[1].reads.other: no scope at this depth binds other'),
       ('{workflows,0,steps,1,branches,0}', '{"kind": "return", "line": 4}', 'workflows[0].steps[1].branches[0]: return cannot stand inside par, dag, race, forall, finally or undo'),
       ('{workflows,0,steps,2,max}', '0', 'workflows[0].steps[2].max: must be an int of at least 1, or a text such as "50%" or "all - 1"'),
       ('{workflows,0,steps,2,max}', '1.5', 'workflows[0].steps[2].max: must be an int of at least 1, or a text such as "50%" or "all - 1"'),
       ('{workflows,0,steps,2,index}', '"row"', 'workflows[0].steps[2]: the name row is bound twice'),
       ('{workflows,0,steps,2,reads,bigs}', '1', 'workflows[0].steps[2].reads.bigs: no scope at this depth binds bigs'),
       ('{workflows,0,steps,2,collect_reads}', null, 'workflows[0].steps[2]: collect_reads lacks big'),
       ('{workflows,0,steps,2,collect_reads,big}', '0', 'workflows[0].steps[2].collect_reads.big: no scope at this depth binds big'),
       ('{workflows,0,steps,2,body}', '[]', 'workflows[0].steps[2].body: must be an object'),
       ('{workflows,0,steps,2,body}', '{"kind": "call", "line": 8, "workflow": "w", "args": {}, "steps": []}', 'workflows[0].steps[2].body: a call cannot be the body of a forall'),
       ('{workflows,0,steps,2,body,steps,1,then,as}', '"twice"', 'workflows[0].steps[2].body.steps[1].then: the name twice is bound twice'),
       ('{workflows,0,steps,3,args,a-b}', '1', 'workflows[0].steps[3].args: ''a-b'' is not a name'),
       ('{workflows,0,steps,3,params,0,type}', null, 'workflows[0].steps[3].params[0].type: is missing'),
       ('{workflows,0,steps,3,params,0,default}', '1', 'workflows[0].steps[3].params[0].default: unknown key'),
       ('{workflows,0,steps,3,params,0,type,list}', '"text"', 'workflows[0].steps[3].params[0].type.list: must be a type'),
       ('{workflows,0,steps,3,returns}', '"text"', 'workflows[0].steps[3].returns: must be a type'),
       ('{workflows,0,steps,2,body,steps,0,type}', '"text"', 'workflows[0].steps[2].body.steps[0].type: must be a type'),
       ('{workflows,0,steps,3,steps,0,body,reads,x}', '0', 'workflows[0].steps[3].steps[0].body.reads.x: no scope at this depth binds x'),
       ('{workflows,0,steps,3,steps,0,body,args,message}', '["var", "pool"]', 'workflows[0].steps[3].steps[0].body: reads lacks pool'),
       ('{task_types,lb.Log,name}', '"lb.Lag"', 'task_types.lb.Log: holds the task type lb.Lag'),
       ('{task_types,lb.Log,machine}', '"wait"', 'task_types.lb.Log: is a wait type with requests'),
       ('{task_types,lb.Log,machine}', '"async"', 'task_types.lb.Log: is an async type without the request poll'),
       ('{task_types,lb.Log,machine}', '"magic"', 'task_types.lb.Log.machine: must be sync, async or wait'),
       ('{task_types,lb.Log,wait}', '"sleep"', 'task_types.lb.Log: has the clause wait but is not a wait type'),
       ('{task_types,lb.Log,requests}', null, 'task_types.lb.Log: has no request start'),
       ('{task_types,lb.Log,requests,cancel}', '{"transport": "builtin", "args": {}}', 'task_types.lb.Log: is a sync type with requests other than start'),
       ('{task_types,lb.Log,requests,start,transport}', '"pigeon"', 'task_types.lb.Log.requests.start.transport: must be one of builtin, exec, http, sql, ssh'),
       ('{task_types,lb.Log,requests,start,every}', '{}', 'task_types.lb.Log.requests.start.every: start is not repeated'),
       ('{task_types,lb.Log,requests,start,args,x}', '["var", "pool"]', 'task_types.lb.Log.requests.start.args: nothing is called pool here'),
       ('{task_types,lb.Log,requests,start,args,x}', '["var", "handle"]', 'task_types.lb.Log.requests.start.args: nothing is called handle here'),
       ('{task_types,lb.Log,requests,start,success}', '["var", "x"]', 'task_types.lb.Log.requests.start: nothing is called x here'),
       ('{task_types,lb.Log,policies,title}', '["var", "x"]', 'task_types.lb.Log.policies: x is not a parameter of lb.Log'),
       ('{task_types,lb.Log,params,0,name}', '"handle"', 'task_types.lb.Log.params: parameter handle has a reserved name'),
       ('{task_types,wf.Sleep,wait}', null, 'task_types.wf.Sleep: is a wait type without the clause wait'),
       ('{task_types,job.Run,requests,poll,every,delay}', '"5 minutes"', 'task_types.job.Run.requests.poll.every.delay: must be a duration'),
       ('{task_types,job.Run,requests,poll,every,attempts}', '0', 'task_types.job.Run.requests.poll.every.attempts: must be an int of at least 1'),
       ('{task_types,job.Run,requests,poll,every,delay}', '["var", "response"]', 'task_types.job.Run.requests.poll.every: nothing is called response here')
       ) r (path, value, message);

select throws_ok('select * from wf.install(null, pg_temp.spec())', 'WF002', 'the source is missing', 'a source is needed');
select throws_ok('select * from wf.install('''', null)', 'WF005', 'the compiled tree must be an object', 'a tree is needed');
select throws_ok('select * from wf.install('''', ''[]'')', 'WF005', 'the compiled tree must be an object', 'a tree is an object');
select throws_ok($$select * from wf.install('', jsonb_insert(pg_temp.spec(), '{workflows,0}', '{"name": "base", "line": 1, "params": [], "steps": []}'))$$,
                 'WF005', 'workflows[1].name: workflow base is defined twice', 'two workflows of one name');

-- limits
create function pg_temp.file(p_steps jsonb) returns jsonb language sql as $$
    select jsonb_build_object('format', 1, 'file', 'f', 'task_types', '{}'::jsonb, 'workflows', jsonb_build_array(
               jsonb_build_object('name', 'limits', 'line', 1, 'params', '[]'::jsonb, 'steps', p_steps)))
$$;
create function pg_temp.nested(p_levels int) returns jsonb language sql as $$
    select (repeat('[{"kind":"seq","line":1,"steps":', p_levels) || '[]' || repeat('}]', p_levels))::jsonb
$$;
select lives_ok('select * from wf.install('''', pg_temp.file(pg_temp.nested(99)))', '100 levels');
select throws_ok('select * from wf.install('''', pg_temp.file(pg_temp.nested(100)))', 'WF005', null, '101 levels');
select throws_ok('select * from wf.install('''', pg_temp.file(pg_temp.nested(900)))', 'WF005', null, '901 levels');
select throws_ok($$select * from wf.install('', pg_temp.file((select jsonb_agg('{"kind": "seq", "line": 1, "steps": []}'::jsonb) from generate_series(1, 10000))))$$,
                 'WF005', 'workflows[0]: has 10001 nodes', 'more than 10000 nodes');
select throws_ok($$select * from wf.install('', pg_temp.file(jsonb_build_array(repeat('x', 17000000))))$$,
                 'WF005', 'the compiled tree is larger than 16 MiB', 'more than 16 MiB');

-- an expression of 40 levels takes as long as its size says: what doubles with each level would never end
create function pg_temp.deep(p_form text) returns jsonb language sql as $$
    select format('[{"kind": "let", "line": 1, "as": "x", "value": %s}]', replace(repeat(split_part(p_form, 'E', 1), 40) || '0' || repeat(split_part(p_form, 'E', 2), 40), 'E', ''))::jsonb
$$;
set local statement_timeout = '30 s';
select lives_ok(format('select * from wf.install('''', pg_temp.file(pg_temp.deep(%L)))', f), '40 levels of ' || f)
  from unnest(array['["add", E, 1]', '["add", 1, E]', '["if", ["eq", E, 1], 1, 2]', '["text", "a", E]', '{"a": E}', '["list", E]', '["call", "lower", E]',
                    '["at", ["list", E], 0]', '["get", {"a": E}, "a"]', '["and", true, E]', '["coalesce", E, 1]', '["const", [1, E]]']) f;
reset statement_timeout;

-- the branches of an if bind the same name, what comes after both does not
select lives_ok($$select * from wf.install('', pg_temp.file('[{"kind": "if", "line": 1, "condition": true, "then": {"kind": "let", "line": 1, "as": "x", "value": 1}, "else": {"kind": "let", "line": 1, "as": "x", "value": 2}}]'))$$,
                'one name in two branches');
select throws_ok($$select * from wf.install('', pg_temp.file('[{"kind": "if", "line": 1, "condition": true, "then": {"kind": "let", "line": 1, "as": "x", "value": 1}, "else": {"kind": "let", "line": 1, "as": "x", "value": 2}},
                                                             {"kind": "let", "line": 1, "as": "x", "value": 3}]'))$$,
                 'WF005', 'workflows[0].steps[1]: the name x is bound twice', 'a name that both branches of an if bind is not bound again after it');

-- remove
select throws_ok('select wf.remove(''nothing'')', 'WF003', 'there is no workflow nothing', 'remove names an unknown workflow');
select throws_ok('select wf.remove(null)', 'WF002', 'the name of the workflow is missing', 'remove needs a name');
select ok(wf.start('base', '{"pool": "a"}') > 0, 'an instance');
select lives_ok('select wf.remove(''base'')', 'remove');
select throws_ok('select wf.start(''base'')', 'WF003', 'there is no workflow base', 'start refuses a removed workflow');
select throws_ok('select wf.remove(''base'')', 'WF003', 'there is no workflow base', 'a removed workflow is not removed twice');
select throws_ok('select wf.start(''base'', p_version => 4)', 'WF003', 'workflow base has no version 4', 'a version of a removed workflow is not started by its number');
-- numbers(): of its versions
create function numbers() returns int[] language sql as $$
    select array_agg(v.number order by v.number) from wf.version v join wf.workflow w on w.id = v.workflow_id where w.name = 'base';
$$;
select wf.tick(), wf.tick();
select is(numbers(), '{1,2,3,4}', 'versions stay while a transaction is under way that may have seen them: this one');
select ok(pg_current_xact_id() < all (select v.removed_xid from wf.version v where v.removed_xid is not null), 'a removed version has the transaction that removed it');
-- other tests have transactions under way that are older than this one
update wf.version v set removed_xid = pg_snapshot_xmin(pg_current_snapshot()) where v.removed_xid is not null;
select wf.tick();
select is(numbers(), '{4}', 'a version stays as long as an instance uses it');
select results_eq('select * from wf.install('''', pg_temp.spec())', $$values ('base', 5, 'installed')$$, 'a removed workflow can be installed again');

-- an upgrade compiles every version anew
create temp table compiled as
    select n.* from wf.node n;
create temp table requests as
    select q.* from wf.task_request q;
select lives_ok('select wf._recompile()', 'every version can be compiled anew');
select set_eq('select * from wf.node', 'select * from compiled', 'compiled anew, a version has the same nodes');
select set_eq('select * from wf.task_request', $$select * from requests r
    where exists (select from wf.node n where n.type_id = r.type_id)$$, 'compiled anew, a version has the same requests');

select * from finish();
rollback;
