-- Lanes: what a driver must serve to take a task.

-- wf._lane(p_queue, p_needs)
--
-- Returns  the number of the lane of a queue and a sorted list of transports; a new one is inserted
-- Locks    nothing, or the new row
-- Raises   nothing
-- Called   by wf.install and wherever a policy names a queue
create or replace function wf._lane(p_queue text, p_needs text[]) returns bigint
language plpgsql :engine as $$
declare
    v_id bigint;
begin
    select l.id into v_id from wf.lane l where l.queue = p_queue and l.needs = p_needs;
    if v_id is null then
        insert into wf.lane (queue, needs) values (p_queue, p_needs) on conflict do nothing;
        select l.id into v_id from wf.lane l where l.queue = p_queue and l.needs = p_needs;
    end if;
    return v_id;
end;
$$;
