-- Tells what this transaction has done. A caller that then rolls back has seen what an
-- action would do; this is the console's --dry-run.

-- wf.changes(p_instance)
--
-- Lists the moves that this transaction has made so far, in their order. Then it lists the
-- processes that the transaction has begun and that have not moved since. A transaction
-- that moves an instance locks it first, so the new processes are this transaction's own.
--
-- Returns  one row for each move and each new process
-- Locks    nothing
-- Raises   nothing
-- Called   by operators, between an action and their rollback
create or replace function wf.changes(p_instance bigint[])
returns table (instance_id bigint, process_id bigint, label text, was text, event text, state text)
language sql stable security definer :look as $$
    with change as (
        select e.instance_id, e.process_id, e.was, e.event, e.state, e.seq
          from wf.event e
         where e.instance_id = any (p_instance)
           and e.xid = pg_current_xact_id_if_assigned()
         union all
        select p.instance_id, p.id, '', p.event, p.state, null
          from wf.process p
         where p.instance_id = any (p_instance)
           and p.was = '' and p.xmin = pg_current_xact_id_if_assigned()::xid
    )
    select c.instance_id, c.process_id,
           coalesce((select l.label
                       from wf.label_v l
                      where l.instance_id = c.instance_id and l.process_id = c.process_id), w.name),
           c.was, c.event, c.state
      from change c
      join wf.instance i on i.id = c.instance_id
      join wf.workflow w on w.id = i.workflow_id
     order by c.instance_id, c.seq nulls last, c.process_id;
$$;
comment on function wf.changes(bigint[]) is
    'What this transaction has done so far to these instances: its moves in their order, then the processes that have '
    'begun (was is empty). Call it before a rollback, to see what an action would do.';
