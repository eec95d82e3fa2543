-- What the witnesses say, beside the workspace itself: filled by tests/chaos.

create schema chaos;

create table chaos.effect (
    method     text not null,
    what       text not null,
    process_id bigint not null,
    attempt    int not null,
    key        text not null
);
comment on table chaos.effect is 'The ledger of effects: a request that reached the service.';

create table chaos.mark (attempt text not null);
comment on table chaos.mark is 'The same of SQL tasks, which write it themselves: TRACE-PROCESS-ATTEMPT.';

create table chaos.started (instance_id bigint primary key);
comment on table chaos.started is 'The ledger of acknowledgements: an instance whose start was answered.';

create table chaos.answered (
    event       text not null,
    instance_id bigint not null,
    process_id  bigint not null,
    attempt     int not null,
    request     text not null
);
comment on table chaos.answered is 'The same: a report that a driver was answered to be done.';

create table chaos.excused (kind text not null);
comment on table chaos.excused is 'Kinds of errors that the campaign brings about.';

create table chaos.ghost (
    driver_id   bigint not null,
    instance_id bigint not null,
    process_id  bigint not null,
    token       uuid primary key,
    told        boolean not null default false
);
comment on table chaos.ghost is 'A request that a driver held when it was killed.';

create table chaos.refusal (answer text not null);
comment on table chaos.refusal is 'What a report in the name of a killed driver was answered.';

create table chaos.absence (
    down_at timestamptz not null,
    last_at timestamptz not null,
    up_at   timestamptz not null,
    killed  text not null
);
comment on table chaos.absence is 'From when to when the server was away, when it last went, and which driver was killed meanwhile.';

-- Each driver registers again when it has lost its connection: when it first did so
-- after the server had gone, in ms since the server was back; and how long the pause
-- before may be by then. If the server went once more before that, then at that time.
-- The pause grows from the first absence on after which the driver has not registered.
create view chaos.back as
select n.name, a.up_at, round(1000 * greatest(0, extract(epoch from b.at - a.up_at))) as ms,
       round(1000 * least(2 * extract(epoch from a.up_at - g.at), 12.5)) as pause_ms
  from (select x.*, lead(x.down_at) over (order by x.down_at) as next_at from chaos.absence x) a
 cross join (select distinct d.name from wf.driver d) n
 cross join lateral (select min(d.started_at) as at from wf.driver d where d.name = n.name and d.started_at > a.last_at) f
 cross join lateral (select coalesce(least(f.at, a.next_at), a.up_at + interval '10 min') as at) b
 cross join lateral (
    select min(x.down_at) as at
      from chaos.absence x
     where x.down_at >= (select coalesce(max(d.started_at), '-infinity')
                           from wf.driver d
                          where d.name = n.name and d.started_at < a.down_at)) g
 where n.name <> a.killed;

-- chaos.held(p_name): what the last incarnation of a driver holds.
create function chaos.held(p_name text) returns setof wf.lease
language sql stable as $$
    select l.*
      from wf.lease l
     where l.driver_id = (select max(d.id) from wf.driver d where d.name = p_name);
$$;

-- chaos.remember(p_name): the same, to be told of later. Returns how many requests
-- that is.
create function chaos.remember(p_name text) returns bigint
language sql as $$
    with held as (
        insert into chaos.ghost
        select h.driver_id, h.instance_id, h.process_id, h.token
          from chaos.held(p_name) h
            on conflict do nothing
        returning 1)
    select count(*) from held;
$$;

-- chaos.boo(DRIVER, INSTANCES, PROCESSES, TOKENS): reports that a driver's login makes; the answers.
create function chaos.boo(p_driver bigint, p_instance bigint[], p_process bigint[], p_token uuid[]) returns text[]
language plpgsql as $$
declare
    v_me constant text := session_user;
    v_answers text[];
begin
    perform set_config('session_authorization', d.login::regrole::text, true) from wf.driver d where d.id = p_driver;
    v_answers := array(
        select o.answer
          from wf.outcome(p_driver, p_instance, p_process, p_token,
                          array_fill('response'::text, array[cardinality(p_token)]),
                          array_fill(convert_to('{"status": 200, "headers": {}, "body": "boo"}', 'UTF8'),
                                     array[cardinality(p_token)])) o);
    perform set_config('session_authorization', v_me, true);
    return v_answers;
end;
$$;

-- chaos.haunt(): once what a killed driver held was taken back, a report in
-- its name comes in after all; another one when somebody else has it.
create function chaos.haunt() returns void
language sql as $$
    with due as (
        update chaos.ghost g set told = true
         where not exists (select from wf.lease l where l.token = g.token)
           and (not g.told or exists (select from wf.lease l where l.instance_id = g.instance_id and l.process_id = g.process_id))
        returning g.*),
    report as (
        select d.driver_id, array_agg(d.instance_id) as instances, array_agg(d.process_id) as processes,
               array_agg(d.token) as tokens
          from due d
         group by d.driver_id)
    insert into chaos.refusal
    select a.answer
      from report r
     cross join lateral unnest(chaos.boo(r.driver_id, r.instances, r.processes, r.tokens)) a (answer);
$$;
