-- One line for each place in the code that asks who somebody is: what it is changed
-- to, so that it no longer asks, and the acts that must then end in another way.
set client_min_messages = warning;
create table probe.mutant (
    k        int generated always as identity,
    function regproc,
    found    text,    -- in the text of the function
    changed  text,    -- what stands there instead
    acts     text     -- a regular expression
);
insert into probe.mutant (function, found, changed, acts) values
    ('wf._start', 'wf._check_workflow_grant(p_workflow, p_starter.login)', 'true', '^start payroll$'),
    ('wf._start_children', 'perform wf._check_workflow_grant(v_workflow, p_starter[1].login);', '', '^have one start payroll'),
    ('wf._start', 'wf._hold_quota(p_priority, p_starter.login, v.quotas)', 'null', '^start open with'),
    ('wf._start', 'perform wf._spend_quota(v_quotas, v.version_id, array[v_id], p_starter.login);', '',
     '^start open twice'),
    ('wf.start_many', 'perform wf._check_workflow_grant(p_workflow);', '', '^start two of payroll'),
    ('wf._start_all', 'wf._hold_quota(p_priority, v_login, v_found.quotas)', 'null', '^start two of open'),
    ('wf._start_all', 'perform wf._spend_quota(v_quotas, v_found.version_id, v_id, v_login) where v_quotas is not null;', '', '^start two of open'),
    ('wf._check_workflow_grant', 'not wf._may_start(p_workflow, p_login)', 'false', '^start two of payroll$'),
    ('wf._may_start', 'p_workflow = any (g.workflows)', 'true', '^start payroll$'),
    ('wf._may_start', 'wf._is_member(g.role, p_login)', 'true', '^start payroll$'),
    ('wf._may_start', 'wf._is_member(''wf_owner'', p_login)', 'true', '^start payroll$'),
    ('wf.start', 'row(session_user', 'row(''owner''', '^start payroll$'),
    ('wf._start', 'to_regrole(quote_ident(p_starter.login))', '''owner''::regrole', '^have one start payroll'),
    ('wf.start_many', 'row(session_user', 'row(''owner''', '^have one of many start payroll'),
    ('wf._starter_of', 'wf._starter_login(i.login, i.started_by)', '''owner''::text', '^have one start payroll'),
    ('wf._may_see', 'wf._may_start(p_workflow, p_login)', 'true', '^have one wait for payroll'),
    ('wf._may_see', 'wf._is_member(r.role, _may_see.p_login)', 'true', '^have one wait for payroll'),
    ('wf.callback_token', 'perform wf._signalled(to_jsonb(p_instance));', '', '^make a token for a callback of payroll$'),
    ('wf._find_input', 'perform wf._check_answer(v_input);', '', '^answer an input of payroll$'),
    ('wf._check_answer', 'wf._is_member(''wf_operator'')', 'true', '^answer an input of payroll$'),
    ('wf._check_answer', 'wf._is_member(''wf_admin'')', 'true', '^answer an input of payroll$'),
    ('wf._check_answer', 'p_input.role is null and p_input.assignee is null', 'false', '^answer an input of payroll$'),
    ('wf._check_answer', 'coalesce(p_input.assignee = session_user, false)', 'true', '^answer an input of eve$'),
    ('wf._check_answer', 'coalesce(wf._is_member(p_input.role), false)', 'true', '^answer an input of payers$'),
    ('wf._check_seen', 'wf._may_see(session_user, w.name)', 'true', '^see the result of payroll$'),
    ('wf.result', 'perform wf._check_seen(p_instance);', '', '^see the result of payroll$'),
    ('wf.notify_end', 'perform wf._check_seen(p_instance);', '', '^be notified of the end of payroll$'),
    ('wf._set_schedule', 'perform wf._check_workflow_grant(p_workflow);', '', '^start payroll at times$'),
    ('wf._set_schedule', 'perform wf._hold_quota(v.priority, session_user, true);', '', '^start open at times, with'),
    ('wf._set_schedule', 'v.login := wf._login();', 'v.login := ''nobody''::regrole;', '^set a schedule that'),
    ('wf._start_group', 'perform wf._check_workflow_grant(v_workflow, v_login);', '', '^have a schedule start payroll$'),
    ('wf._signalled', 'perform wf._check_signal(v_instance.name);', '', '^send a signal to payroll$'),
    ('wf._signalled', 'perform wf._check_signal(p_to ->> ''workflow'');', '', '^send a signal to payroll by'),
    ('wf._check_signal', 'wf._is_member(''wf_operator'')', 'true', '^send a signal to payroll$'),
    ('wf._check_signal', 'wf._is_member(''wf_admin'')', 'true', '^send a signal to payroll$'),
    ('wf._check_signal', 'perform wf._check_workflow_grant(p_workflow);', '', '^send a signal to payroll$'),
    ('wf._is_member', 'COALESCE(pg_has_role(', 'true or COALESCE(pg_has_role(', '^start payroll$'),
    ('wf._hold_quota', 'wf._is_member(''wf_owner'', p_login)', 'true', '^start open with'),
    ('wf._hold_quota', 'q.priority < p_priority and wf._is_member(q.role, p_login)', 'false', '^start open with'),
    ('wf._hold_quota', 'is not null and wf._is_member(q.role, p_login)', 'is not null', '^start two of open'),
    ('wf._spend_quota', 'v_quota.started + v_count > v_quota.per_minute', 'false', '^start two of open'),
    ('wf._spend_quota', E'end if;\n        if v_running + v_count > v_quota.running', E'end if;\n        if false', '^start two of open'),
    ('wf._quota_processes', 'wf._is_member(', 'true or wf._is_member(', '^start open$'),
    ('wf._spend_quota', 'v_most > v_processes', 'false', '^start open$'),
    ('wf.install', 'perform wf._refuse_author(array(select jsonb_object_keys(v_versions)));', '', '^install payroll$'),
    ('wf._refuse_author', 'pg_has_role(session_user, r.oid, ''member'') is not true', 'false', '^install payroll$'),
    ('wf.sql_begin', 'perform wf._refuse_sql_login(v_workflow, v_role);', '', '^begin'),
    ('wf._refuse_sql_login', 'p_role <> session_user', 'false', '^begin the SQL task of payroll'),
    ('wf._refuse_sql_login', 'g.role = session_user', 'false', '^begin the SQL task of open'),
    ('wf.sql_outcome', 'perform wf._refuse_role_change();', '', 'changes its role'),
    ('wf.register', 'perform wf._refuse_ungranted(''queues'', p_queues, v_may.queues_only, v_may.queues);', '', '^register for'),
    ('wf.register', 'perform wf._refuse_ungranted(''capabilities'', p_capabilities, v_may.capabilities_only, v_may.capabilities);', '', '^register with gpu'),
    ('wf._refuse_ungranted', '(a.name = any (p_names)) <> p_only', 'false', '^register for'),
    ('wf._allowance', 'COALESCE(pg_has_role(', 'true or COALESCE(pg_has_role(', '^register for'),
    ('wf.register', 'perform wf._heed_marks(p_name, p_marks);', '', '^register with a mark'),
    ('wf._heed_marks', 'not wf._is_sealed(v_mark)', 'false', '^register with a mark'),
    ('wf.register', 'perform wf._refuse_foreign(p_previous);', '', '^register as'),
    ('wf.register', 'and d.login = v_login', '', '^register as two, with'),
    ('wf.register', ':= wf._login()', ':= ''two''::regrole::oid', '^register, and poll'),
    ('wf._refuse_foreign', 'v_login <> wf._login()', 'false', '^leave'),
    ('wf.leave', 'perform wf._refuse_foreign(p_driver);', '', '^leave'),
    ('wf.drain', 'perform wf._refuse_foreign(p_driver);', '', '^drain'),
    ('wf.drain', 'pg_has_role(session_user, ''wf_operator'', ''member'')', 'false', '^drain'),
    ('wf.drain', 'pg_has_role(session_user, ''wf_admin'', ''member'')', 'false', '^drain'),
    ('wf._greet', 'and d.login = wf._login()', '', '^(heartbeat|count)'),
    ('wf._greet', 'perform wf._refuse_driver(p_driver);', '', '^(heartbeat|count)'),
    ('wf._refuse_driver', 'perform wf._refuse_foreign(p_driver);', '', '^poll as'),
    ('wf.poll', 'and v_driver.login = wf._login()', '', '^poll as'),
    ('wf.poll', 'perform wf._refuse_driver(p_driver);', '', '^poll as'),
    ('wf.outcome', 'and d.login = wf._login()', '', '^report .* as one'),
    ('wf.outcome', 'perform wf._refuse_driver(p_driver);', '', '^report .* as one'),
    ('wf._apply_reports', 'if f.others then', 'if false then', '^report .* as two'),
    ('wf._own_tokens', 'd.login <> wf._login()', 'false', '^report .* as two'),
    ('wf.output_add', E'and d.login = wf._login()\n                              where', 'where', '^print'),
    ('wf.output_add', E'and d.login = wf._login()\n                          where', 'where', '^print'),
    ('wf._login', '(SESSION_USER)::text', '''two''::text', '^poll as');

-- Those that no act can tell from the code as it is, and why.
create table probe.exempt (function regproc, why text);
insert into probe.exempt values
    ('wf.now', 'asks only where the setting test_clock is on; tests/sql/audit.sql'),
    ('wf.heartbeat', 'without its own question _greet still refuses: the question only saves a look'),
    ('wf._store_versions', 'wf.install refuses a login that is no member, whatever this has written'),
    ('wf.quota_set', 'asks for the logins that have started what is under way, not for the session''s');

-- probe.left_alone(FUNCTION): whether it asks at a place that is in no mutant.
create function probe.left_alone(p_function oid) returns boolean language plpgsql as $$
declare
    v_text text := regexp_replace(pg_get_functiondef(p_function), '^CREATE OR REPLACE FUNCTION [^(]*', '');
    v_found text;
begin
    for v_found in select m.found from probe.mutant m where m.function = p_function order by length(m.found) desc loop
        v_text := replace(v_text, v_found, '');
    end loop;
    return v_text ~* ('_refuse_(foreign|driver|ungranted|sql_login|role_change|author)\(|_check_workflow_grant\('
                      || '|_hold_quota\(|_spend_quota\(|_heed_marks\(|_login\(\)|_is_member\(|pg_has_role\(');
end;
$$;

-- probe.mutate(K): makes it. probe.mend(K): takes it back.
alter table probe.mutant add former text;
create function probe.mutate(p_k int) returns void language plpgsql as $$
declare
    m probe.mutant;
    v_text text;
begin
    select x.* into m from probe.mutant x where x.k = p_k;
    v_text := pg_get_functiondef(m.function);
    if strpos(v_text, m.found) = 0 then
        raise exception 'mutant %: % has no %', p_k, m.function, m.found using detail = v_text;
    end if;
    update probe.mutant x set former = v_text where x.k = p_k;
    execute replace(v_text, m.found, m.changed);
end;
$$;
create function probe.mend(p_k int) returns void language plpgsql as $$
begin
    execute (select x.former from probe.mutant x where x.k = p_k);
end;
$$;
create table probe.seen (k int, cells bigint);
