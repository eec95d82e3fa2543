-- What drivers count: requests, turns, connections. The counters are for people to read;
-- the engine decides nothing by them.

-- wf._are_counters(p_counters)
--
-- Returns  whether this is an object of at most 200 counters, each a short name with a
--          whole number that is not negative
-- Locks    nothing
-- Raises   nothing
-- Called   by counters_set
create or replace function wf._are_counters(p_counters jsonb) returns boolean
language sql immutable
begin atomic
    select case when jsonb_typeof(p_counters) = 'object' then
           (select count(*) <= 200
                   and bool_and(e.key ~ '^[a-z][a-z0-9_.]{0,62}$'
                                and case when jsonb_typeof(e.value) = 'number'
                                         then e.value::numeric between 0 and 9007199254740991
                                              and e.value::numeric = trunc(e.value::numeric)
                                         else false end) is not false
              from jsonb_each(p_counters) e)
           else false end;
end;

-- wf.counters_set(p_driver, p_counters)
--
-- Returns  nothing
-- Locks    the driver's row of driver_counter, then its row of sign_of_life
-- Raises   WF002, WF010, WF014
-- Called   by a driver at most every ten seconds, in a transaction of its own
create or replace function wf.counters_set(p_driver bigint, p_counters jsonb) returns void
language plpgsql security definer :engine as $$
begin
    perform wf._gate(false);
    if wf._are_counters(p_counters) is not true then
        raise exception using errcode = 'WF002',
            message = format('%s cannot be the counters of a driver',
                             coalesce(quote_literal(left(p_counters::text, 100)), 'null')),
            hint = 'Give an object of at most 200 counters, each a name of 1 to 63 of the characters a-z, 0-9, _ and . '
                   'with a whole number.';
    end if;
    insert into wf.driver_counter as c (driver_id, counted_at, counters) values (p_driver, wf.now(), p_counters)
        on conflict (driver_id) do update set counted_at = excluded.counted_at, counters = excluded.counters;
    -- refuses a driver that is another login's, or not at work
    perform wf._greet(p_driver, wf.now());
end;
$$;
comment on function wf.counters_set(bigint, jsonb) is
    'Writes the counters of a driver since it was started, in place of those that it wrote before. The call is also a '
    'sign of life. Returns nothing; raises WF002 if these are not counters, WF010 if the driver was given up, WF014 '
    'if another login registered it.';

create or replace view wf.driver_counter_v with (security_barrier = true) as
select c.driver_id,
       d.name,
       e.key as counter,
       e.value::numeric::bigint as value,
       c.counted_at
  from wf.driver_counter c
  join wf.driver d on d.id = c.driver_id
 cross join lateral jsonb_each(c.counters) e;
comment on view wf.driver_counter_v is
    'What the drivers have counted, a row for each counter; docs/driver.md says what each counter means.';
select wf._inherit_comments('driver_counter_v', 'driver_counter') \gset
comment on column wf.driver_counter_v.driver_id is 'number of this start of the driver';
comment on column wf.driver_counter_v.name is 'name of the driver';
comment on column wf.driver_counter_v.counter is 'name of the counter';
comment on column wf.driver_counter_v.value is 'how often that has happened since the program was started';
