-- Requests whose drivers die, one after the other. A task that only shared a driver with
-- such a request is lost once; a task that kills drivers is lost each time. After loss_limit
-- (a setting) losses in a row, no other driver gets the task. Until then it is taken back
-- after longer and longer random delays, so that tasks which shared its driver part from it.
-- Only losses are written here: a request that goes well costs nothing.

-- wf._count_losses(p_instance, p_process, p_request, p_token, p_sure, p_now)
--
-- Counts requests that were lost with their driver, each once. Two lost starts are in a
-- row if no retry lies between them. Two other requests are in a row if no sign of the task
-- came between them. The delays of a simulation (p_sure) are not random.
--
-- Returns  nothing
-- Locks    the rows of loss
-- Raises   nothing
-- Called   by _take_back; its caller holds the instances
create or replace function wf._count_losses(
    p_instance bigint[], p_process bigint[], p_request text[], p_token uuid[], p_sure boolean, p_now timestamptz)
returns void
language plpgsql as $$
declare
    v_limit bigint := wf._setting_number('loss_limit');
begin
    insert into wf.loss (instance_id, process_id, attempt, request, token, losses, due_at)
    select u.i, u.j, p.attempt, u.request, u.token, n.losses,
           p_now + case when n.losses > 1 and n.losses < v_limit
                        then (1 << least(n.losses, 5)) * case when p_sure then 1 else random() end
                        else 0 end * interval '1 second'
      from unnest(p_instance, p_process, p_request, p_token) u (i, j, request, token)
     cross join lateral (select x.attempt, x.event
                           from wf.process x
                          where x.instance_id = u.i and x.id = u.j
                         offset 0) p
      left join lateral (select x.attempt, x.request, x.token, x.losses
                           from wf.loss x
                          where x.instance_id = u.i and x.process_id = u.j
                         offset 0) o on true
     cross join lateral (select case when (o.attempt, o.request) = (p.attempt, u.request)
                                          and (u.request = 'start' or p.event = 'lost') then o.losses + 1
                                     else 1 end as losses) n
     where o.token is distinct from u.token
        on conflict (instance_id, process_id) do update
       set attempt = excluded.attempt, request = excluded.request, token = excluded.token, losses = excluded.losses,
           due_at = excluded.due_at;
end;
$$;

-- wf._withheld_until(p_lease, p_now)
--
-- Returns  until when a lost request is not taken back; null if it may be taken back now,
--          also because the task is to stop, or because the clock was set back
-- Locks    nothing
-- Raises   nothing
-- Called   by _lose, _take_back, _part_work, explain and the simulator
create or replace function wf._withheld_until(p_lease wf.lease, p_now timestamptz) returns timestamptz
language sql stable
begin atomic
    select o.due_at
      from wf.loss o
      join wf.process p on p.instance_id = o.instance_id and p.id = o.process_id
     where o.instance_id = p_lease.instance_id and o.process_id = p_lease.process_id and o.token = p_lease.token
       and o.due_at > p_now and o.due_at <= p_now + interval '64 seconds'
       and p.event not in ('cancel', 'abort');
end;
