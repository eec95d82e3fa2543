-- The sender of signals, its ledger, and a view of what became of each signal.

create sequence chaos.knock_number;
create table chaos.knock (number bigint primary key, target jsonb not null, name text not null);
comment on table chaos.knock is 'The ledger of signals: written in the transaction that sends one.';

create table chaos.turned_away (code text not null, count bigint not null default 1);

-- chaos.knock(): sends a signal to an instance, which may have ended or be about to, to one
-- that does not exist, or to the topic; of a name that somebody waits for, or not.
create function chaos.knock() returns void language plpgsql as $$
declare
    v_number bigint := nextval('chaos.knock_number');
    v_last bigint := (select coalesce(max(i.id), 1) from wf.instance i);
    v_target jsonb := case when random() < 0.25 then '{"topic": "door"}'
                           when random() < 0.02 then to_jsonb(v_last + 1000000)
                           else to_jsonb(greatest(1, v_last - floor(random() * 60)::bigint)) end;
    v_name text := case when random() < 0.9 then 'go' else 'stay' end;
begin
    perform wf.signal(v_target, v_name, to_jsonb(v_number));
    insert into chaos.knock (number, target, name) values (v_number, v_target, v_name);
exception when sqlstate 'WF003' or sqlstate 'WF004' then
    insert into chaos.turned_away (code) values (sqlstate);
end;
$$;

-- chaos.open_all(): sends what is missing to whoever still waits.
create function chaos.open_all() returns void language sql as $$
    insert into chaos.knock (number, target, name)
    select k.number, k.target, 'go'
      from (select nextval('chaos.knock_number') as number,
                   case when t.topic is null then to_jsonb(t.instance_id) else jsonb_build_object('topic', t.topic) end as target
              from wf.timer t where t.kind = 'signal' offset 0) k
     cross join lateral wf.signal(k.target, 'go', to_jsonb(k.number))
$$;

-- A signal that was taken, or is still kept.
create view chaos.heard as
select (p.output ->> 'payload')::bigint as number, 'taken' as how, p.instance_id
  from wf.process p where p.kind = 'wait' and p.output ? 'payload'
 union all
select (s.payload #>> '{}')::bigint, 'kept', s.instance_id from wf.signal s;

create view chaos.knock_violation as
select 'sent, and neither taken nor kept' as what, k.number
  from chaos.knock k where not exists (select from chaos.heard h where h.number = k.number)
 union all
select 'taken twice, or taken and kept', h.number from chaos.heard h group by h.number having count(*) > 1
 union all
select 'taken, and never sent', h.number
  from chaos.heard h where not exists (select from chaos.knock k where k.number = h.number)
 union all
select 'kept, and somebody waits for it', s.id
  from wf.signal s join wf.timer t on t.kind = 'signal' and t.name = s.name
                                  and (t.instance_id = s.instance_id and t.topic is null or t.topic = s.topic)
 union all
select 'an instance took one that was sent to another', k.number
  from chaos.knock k join chaos.heard h on h.number = k.number
 where jsonb_typeof(k.target) = 'number' and to_jsonb(h.instance_id) <> k.target;
