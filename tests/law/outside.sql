-- outside.sql - what people and systems outside do while a workflow is played: they send
-- signals, answer forms, call back with tokens, set and pause schedules; and the work that
-- is left by that. play.sql loads it.

-- law.work_off(): does all work that is due. What it does of one kind about children, answers and
-- callbacks, and of schedules, it does together: what is done when decides what can still run when an instance ends late.
create function law.work_off() returns void
language plpgsql as $$
declare
    v_kind text;
begin
    loop
        select w.kind into v_kind from wf.work w where w.due_at <= wf.now() and not w.aside order by w.due_at, w.id limit 1;
        exit when not found;
        perform wf.work();
        if law.tells_work() and v_kind in ('child', 'abort', 'halt', 'input', 'signal', 'schedule', 'successor') then
            perform law.note('work', null, null, jsonb_build_object('kind', v_kind));
        end if;
        perform law.see_late();
    end loop;
    if law.tells_work() then
        perform law.note('work', null, null, null);
    end if;
end;
$$;

-- law.send(instance, name): sends a signal, which is taken at once if it is waited for.
create function law.send(p_instance bigint, p_name text) returns void
language plpgsql as $$
begin
    perform law.work_off();
    if exists (select from wf.instance i where i.id = p_instance and i.state not in ('END', 'ABORTED')) then
        perform wf.signal(to_jsonb(p_instance), p_name);
        perform law.note('signal', p_instance, null, jsonb_build_object('name', p_name));
        perform law.work_off();
    end if;
end;
$$;

-- law.tells_work(): whether work brings what tasks wait for, or starts instances: then it is noted when it is done.
create function law.tells_work() returns boolean
language sql as $$ select exists (select from wf.task_type t where t.wait in ('child', 'instance', 'input', 'callback')) or exists (select from wf.schedule); $$;

-- law.value_of(spec, fair): a value of a field of a form; one that is not fair may be none.
create function law.value_of(p_spec jsonb, p_fair boolean) returns jsonb
language plpgsql as $$
begin
    if not p_fair and random() < 0.2 then
        return law.value();
    end if;
    return case p_spec ->> 'type' when 'boolean' then to_jsonb(random() < 0.5)
                                  when 'string' then coalesce(p_spec -> 'enum' -> 0, case when not p_fair and random() < 0.1 then '"long"'::jsonb else '"t"' end)
                                  when 'array' then jsonb_build_array(law.pick(3), case when p_fair or random() < 0.9 then '2'::jsonb else '"x"' end)
                                  when 'number' then case when p_fair or random() < 0.7 then '1.5'::jsonb else to_jsonb(law.pick(6)) end
                                  else case when p_fair or random() < 0.7 then '3'::jsonb else to_jsonb(law.pick(9) - 1) end end;
end;
$$;

-- law.fill_in(input, fair): an answer to the form of an input; one that is not fair may be wrong.
create function law.fill_in(p_input wf.input, p_fair boolean) returns jsonb
language plpgsql as $$
declare
    f record;
    v_answer jsonb := '{}';
begin
    if not p_fair and random() < 0.05 then
        return law.value();
    end if;
    for f in select x.key, x.value from jsonb_each(p_input.form -> 'properties') x order by x.key loop
        if p_fair or random() < 0.8 then
            v_answer := v_answer || jsonb_build_object(f.key, law.value_of(f.value, p_fair));
        end if;
    end loop;
    return v_answer || case when not p_fair and random() < 0.05 then '{"zz": 1}' else '{}' end::jsonb;
end;
$$;

-- law.reply(input, fair): answers a form. n: the how-manieth it is that this task has asked.
create function law.reply(p_input bigint, p_fair boolean) returns void
language plpgsql as $$
declare
    v_input constant wf.input := (select x from wf.input x where x.id = p_input);
    v_payload constant jsonb := law.fill_in(v_input, p_fair);
    v_note jsonb := jsonb_build_object(
        'payload', v_payload, 'open', (select v.open from wf.input_v v where v.input_id = p_input),
        'fits', wf.answer_check(p_input, v_payload) is null,
        'n', (select count(*) from wf.input x where x.instance_id = v_input.instance_id and x.process_id = v_input.process_id and x.id <= p_input));
begin
    begin
        v_note := v_note || jsonb_build_object('output', wf.answer(p_input, v_payload), 'answer', 'done');
    exception when sqlstate 'WF002' or sqlstate 'WF004' then
        v_note := v_note || jsonb_build_object('answer', sqlstate);
    end;
    perform law.note('answer', v_input.instance_id, v_input.process_id, v_note);
end;
$$;

-- law.make_token(instance, name): a token for a callback.
create function law.make_token(p_instance bigint, p_name text) returns bigint
language plpgsql as $$
declare
    v_k bigint;
    v_answer text := 'done';
begin
    perform law.work_off();
    begin
        insert into law.token (token) values (wf.callback_token(p_instance, p_name)) returning k into v_k;
    exception when sqlstate 'WF004' then
        v_answer := sqlstate;
    end;
    perform law.note('token', p_instance, null, jsonb_build_object('k', v_k, 'name', p_name, 'answer', v_answer));
    return v_k;
end;
$$;

-- law.call_back(k, progress): with a token that was made, or (null) with none; or says how far it is.
create function law.call_back(p_k bigint, p_progress boolean default false) returns void
language plpgsql as $$
declare
    v_token constant text := coalesce((select t.token from law.token t where t.k = p_k), 'none');
    v_payload constant jsonb := law.one('1', '{"k": 2}', 'null', '"a"');
    v_answer text := 'done';
begin
    begin
        if p_progress then
            perform wf.callback_progress(v_token, v_payload);
        else
            v_answer := wf.callback(v_token, v_payload);
        end if;
    exception when sqlstate 'WF003' or sqlstate 'WF004' then
        v_answer := sqlstate;
    end;
    perform law.note(case when p_progress then 'progress' else 'callback' end, null, null,
                     jsonb_build_object('k', p_k, 'payload', v_payload, 'answer', v_answer, 'sender', wf._actor()));
end;
$$;

-- law.act_outside(): somebody answers a form, or calls back, or tries to.
create function law.act_outside() returns void
language plpgsql as $$
declare
    v_dice numeric := random();
    v_input constant bigint := (select v.input_id from (select z.input_id, z.open from wf.input_v z order by z.input_id) v order by v.open::int + 1.5 * random() desc limit 1);
    v_instance constant bigint := (select x.id from (select z.id from wf.instance z order by z.id) x order by random() limit 1);
    v_k constant bigint := (select x.k from (select z.k from law.token z order by z.k desc limit 4) x order by random() limit 1);
begin
    if v_input is not null and random() < 0.5 then
        perform law.reply(v_input, v_dice < 0.4);
        if v_dice > 0.8 then
            perform law.reply(v_input, true);
        end if;
    elsif v_k is null or v_dice < 0.35 then
        perform law.make_token(v_instance, law.one('x', 'x', 'z'));
    elsif v_dice < 0.8 then
        perform law.call_back(v_k);
    elsif v_dice < 0.85 then
        perform law.call_back(null);
    else
        perform law.call_back(v_k, true);
    end if;
    if random() < 0.6 then
        perform law.work_off();
    end if;
end;
$$;

-- law.end_wait(): somebody outside does what that one waits for.
create function law.end_wait() returns void
language plpgsql as $$
declare
    v constant wf.timer := (select t from wf.timer t where t.kind in ('signal', 'input') order by t.process_id limit 1);
begin
    if v.kind = 'input' then
        perform law.reply((select max(n.id) from wf.input n where n.instance_id = v.instance_id and n.process_id = v.process_id), true);
        perform law.work_off();
    elsif starts_with(v.name, 'callback ') then
        perform law.call_back(law.make_token(v.instance_id, substr(v.name, 10)));
        perform law.work_off();
    else
        perform law.send(v.instance_id, v.name);
    end if;
end;
$$;

-- law.set_schedule(start): a schedule instead of a start.
create function law.set_schedule(p_start jsonb, p_priority int) returns void
language plpgsql as $$
declare
    v_next timestamptz;
begin
    v_next := wf.schedule_set(p_start ->> 'schedule', p_start ->> 'workflow', p_every => make_interval(secs => (p_start ->> 'every')::int),
                              p_params => p_start -> 'params', p_catchup => (p_start ->> 'catchup')::int, p_overlap => p_start ->> 'overlap',
                              p_count => (p_start ->> 'count')::int, p_priority => p_priority);
    perform law.note('schedule', null, null, p_start || jsonb_build_object('priority', p_priority, 'next', extract(epoch from v_next)));
end;
$$;

-- law.hold_schedule(name, whether): pauses or resumes it.
create function law.hold_schedule(p_name text, p_pause boolean) returns void
language plpgsql as $$
declare
    v_answer text;
begin
    v_answer := case when p_pause then (select x.answer from wf.schedule_pause(p_name) x) else (select x.answer from wf.schedule_resume(p_name) x) end;
    perform law.note(case when p_pause then 'hold' else 'go on' end, null, null, jsonb_build_object('schedule', p_name, 'answer', v_answer));
end;
$$;
