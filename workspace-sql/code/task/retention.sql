-- Purge: instances that have ended are deleted, with all that belongs to them. Only its own
-- rows refer to an ended instance, and its idempotency key, which stays. A purge goes
-- through the instances by number, that is in the order in which they were started. So it
-- needs no index on their end, which would cost every instance time.

-- wf._purge_portion(p_instance)
--
-- Deletes some rows that belong to a large instance that has ended: at most 1,000
-- rows of each table.
--
-- Returns  nothing
-- Locks    the rows that it deletes; the caller has locked the instance
-- Called   by _purge
create or replace function wf._purge_portion(p_instance bigint) returns void
language plpgsql as $$
declare
    c_most constant int := 1000;
begin
    delete from wf.output_chunk x
     where x.ctid = any (array(select y.ctid from wf.output_chunk y where y.instance_id = p_instance limit c_most));
    delete from wf.loss x
     where x.ctid = any (array(select y.ctid from wf.loss y where y.instance_id = p_instance limit c_most));
    delete from wf.binding x
     where x.ctid = any (array(select y.ctid from wf.binding y where y.instance_id = p_instance limit c_most));
    delete from wf.binding_past x
     where x.ctid = any (array(select y.ctid from wf.binding_past y where y.instance_id = p_instance limit c_most));
    delete from wf.undo_note x
     where x.ctid = any (array(select y.ctid from wf.undo_note y where y.instance_id = p_instance limit c_most));
    delete from wf.signal x
     where x.ctid = any (array(select y.ctid from wf.signal y where y.instance_id = p_instance limit c_most));
    delete from wf.input x
     where x.ctid = any (array(select y.ctid from wf.input y where y.instance_id = p_instance limit c_most));
    delete from wf.event x
     where x.ctid = any (array(select y.ctid from wf.event y where y.instance_id = p_instance limit c_most));
    delete from wf.process x
     where x.ctid = any (array(select y.ctid from wf.process y where y.instance_id = p_instance limit c_most));
end;
$$;

-- wf._purge(p_instance)
--
-- Purges instances that have ended. Of an instance with more than 1,000 processes, moves,
-- names or former values it deletes a portion. The rest becomes work of kind purge, which
-- goes on by itself.
--
-- Returns  the instances that are deleted: not those that are under way, that somebody
--          holds, or of which rows are left
-- Locks    instances by id (skipping locked ones), then all that belongs to them
-- Called   by wf.purge, _purge_old and _do_work
create or replace function wf._purge(p_instance bigint[]) returns bigint[]
language plpgsql as $$
declare
    c_most constant int := 1000;
    v_held bigint[];
    v_gone bigint[];
begin
    v_held := array(select i.id from wf.instance i
                     where i.id = any (p_instance) and i.state in ('END', 'ABORTED')
                     order by i.id for update skip locked);
    v_gone := array(select u.id from unnest(v_held) u (id)
                     where (select count(*)
                              from (select from wf.process p where p.instance_id = u.id limit c_most + 1) x) <= c_most
                       and (select count(*)
                              from (select from wf.event e where e.instance_id = u.id limit c_most + 1) x) <= c_most
                       and (select count(*)
                              from (select from wf.undo_note t where t.instance_id = u.id limit c_most + 1) x)
                           <= c_most
                       and (select count(*)
                              from (select from wf.signal s where s.instance_id = u.id limit c_most + 1) x) <= c_most
                       and (select count(*)
                              from (select from wf.input n where n.instance_id = u.id limit c_most + 1) x) <= c_most
                       and (select count(*)
                              from (select from wf.binding b where b.instance_id = u.id limit c_most + 1) x) <= c_most
                       and (select count(*)
                              from (select from wf.binding_past b where b.instance_id = u.id limit c_most + 1) x)
                           <= c_most);
    delete from wf.event e where e.instance_id = any (v_gone);
    delete from wf.output_chunk c where c.instance_id = any (v_gone);
    delete from wf.loss o where o.instance_id = any (v_gone);
    delete from wf.work w where w.instance_id = any (v_gone);
    delete from wf.extent x where x.instance_id = any (v_gone);
    delete from wf.undo_note t where t.instance_id = any (v_gone);
    delete from wf.signal s where s.instance_id = any (v_gone);
    delete from wf.callback c where c.instance_id = any (v_gone);
    delete from wf.end_listener e where e.instance_id = any (v_gone);
    delete from wf.input n where n.instance_id = any (v_gone);
    delete from wf.binding b where b.instance_id = any (v_gone);
    delete from wf.binding_past b where b.instance_id = any (v_gone);
    delete from wf.process p where p.instance_id = any (v_gone);
    delete from wf.instance i where i.id = any (v_gone);
    if cardinality(v_gone) < cardinality(v_held) then
        perform wf._purge_portion(u.id) from unnest(v_held) u (id) where u.id <> all (v_gone);
        -- the caller that does such work just now deletes its row
        insert into wf.work (kind, instance_id, item_id, due_at)
        select 'purge', u.id, 0, wf.now()
          from unnest(v_held) u (id)
         where u.id <> all (v_gone)
           and (select count(*) < 2 from wf.work w where w.instance_id = u.id and w.kind = 'purge');
    end if;
    return v_gone;
end;
$$;

-- wf._purge_open(p_target, p_reason, p_now)
--
-- Finds or inserts the row that tells of a purge. It takes a row of the last day if the same
-- person gave the same words, else a new row. The row also says how far transactions and
-- instances had come.
--
-- Returns  its id
-- Locks    the row
-- Raises   nothing
-- Called   by wf.purge and _purge_old
create or replace function wf._purge_open(p_target jsonb, p_reason text, p_now timestamptz) returns bigint
language plpgsql as $$
declare
    v_id bigint;
begin
    select p.id into v_id
      from wf.purge p
     where p.at > p_now - interval '1 day'
       and (p.actor, p.target) is not distinct from (wf._actor(), p_target)
       and (p.client, p.reason) is not distinct from (inet_client_addr(), p_reason)
     order by p.id desc limit 1 for no key update;
    if v_id is null then
        insert into wf.purge (at, last_at, actor, client, reason, target, xid, instance_id)
        values (p_now, p_now, wf._actor(), inet_client_addr(), p_reason, p_target,
                pg_snapshot_xmin(pg_current_snapshot()), (select s.last_value from wf.instance_id_seq s))
        returning id into v_id;
    end if;
    return v_id;
end;
$$;

-- wf._forget_signatures(p_limit, p_now)
--
-- Deletes the signatures of transactions that the history no longer names,
-- oldest first. It finds them without an index on event, since a transaction changes only
-- instances that were there before it ended. The row of a former purge says which
-- transactions had ended by then, and which instances there were. If only a few of those
-- instances are left, it looks up the transactions that their events name; all other
-- signatures from before may go. It keeps at least a day, so that a driver whose connection
-- was cut finds its marks.
--
-- Returns  nothing
-- Locks    rows of txn; the row of that purge
-- Raises   nothing
-- Called   by wf.purge and _purge_old, after the instances have gone
create or replace function wf._forget_signatures(p_limit int, p_now timestamptz) returns void
language plpgsql as $$
declare
    c_instances constant int := 200;
    c_events constant int := 2000;
    v wf.purge;
    v_younger bigint := (select i.id from wf.instance i order by i.id offset c_instances limit 1);
    v_named xid8[];
begin
    select p.* into v from wf.purge p
     where p.at < p_now - interval '1 day' and (v_younger is null or p.instance_id < v_younger)
     order by p.id desc limit 1;
    if not found then
        return;
    end if;
    v_named := array(select e.xid from wf.instance i
                      cross join lateral (select x.xid from wf.event x where x.instance_id = i.id offset 0) e
                      where i.id <= v.instance_id limit c_events + 1);
    if cardinality(v_named) > c_events then
        return;
    end if;
    delete from wf.txn t
     where t.xid = any (array(select x.xid from wf.txn x
                               where x.xid < v.xid and x.at < v.at
                                 and x.xid not in (select u.xid from unnest(v_named) u (xid))
                               order by x.xid limit p_limit for update skip locked));
    if found and not v.forgotten then
        update wf.purge p set forgotten = true where p.id = v.id;
    end if;
end;
$$;

-- wf._purge_old()
--
-- Purges at most 100 of the instances that ended more than keep_days ago, and looks at no
-- more than 1000 instances. It writes down where it stopped, and the next call goes on there.
-- When it reaches instances that are too young, it begins from the start an hour later. While
-- the engine is paused it does nothing, since the operator may want to look at everything. It
-- also waits for an hour when it has just been switched on, or when it has not run for so
-- long that the clock may be wrong: a purge cannot be undone.
--
-- Returns  nothing
-- Locks    the row of its purge (skipping it if locked: somebody else is at it), then as _purge and _forget_signatures
-- Raises   nothing
-- Called   by wf.work and tick
create or replace function wf._purge_old() returns void
language plpgsql as $$
declare
    c_gone constant int := 100;
    c_seen constant int := 1000;
    v_days constant bigint := wf._setting_number('keep_days');
    v_now constant timestamptz := wf.now();
    v_before constant timestamptz := v_now - v_days * interval '1 day';
    v wf.purge;
    v_ids bigint[];
    v_last bigint;
    v_error jsonb;
begin
    if v_days = 0 or (select e.event from wf.engine_event e order by e.id desc limit 1) = 'pause' then
        return;
    end if;
    select p.id into v.id from wf.purge p where p.next_at is not null order by p.id desc limit 1;
    if found then
        select p.* into v from wf.purge p
         where p.id = v.id and (p.next_at <= v_now or p.last_at > v_now) for no key update skip locked;
        if not found then
            return;
        end if;
    end if;
    if v.id is null or v.last_at < v_now - interval '8 days' then
        v.id := wf._purge_open(null, 'keep_days', v_now);
        update wf.purge p set last_at = v_now, next_id = 0, next_at = v_now + interval '1 hour' where p.id = v.id;
        return;
    end if;
    v_ids := array(select s.id
                     from (select i.id, i.ended_at
                             from wf.instance i
                            where i.id > v.next_id
                            order by i.id
                            limit c_seen) s
                    where s.ended_at < v_before and not wf._is_apart('purge', s.id, 0)
                    order by s.id limit c_gone);
    v_last := v_ids[c_gone];
    if v_last is null then
        select max(s.id) into v_last
          from (select i.id, i.started_at from wf.instance i where i.id > v.next_id order by i.id limit c_seen) s
        having count(*) = c_seen and min(s.started_at) < v_before;
    end if;
    v.next_id := coalesce(v_last, 0);
    v_error := wf._try_work('purge', v_ids, null, v_now);
    if v_error is not null then -- one by one, and the next batch goes on behind them
        perform wf._put_work('purge', v_ids, array_fill(0::bigint, array[cardinality(v_ids)]), v_now, v_error);
    end if;
    v.instances := (select count(*) from unnest(v_ids) u (id)
                     where not exists (select from wf.instance i where i.id = u.id));
    if v.at < v_now - interval '1 day' then
        v.id := wf._purge_open(null, 'keep_days', v_now);
    end if;
    update wf.purge p
       set last_at = v_now, instances = p.instances + v.instances, next_id = v.next_id,
           next_at = v_now + case v.next_id when 0 then interval '1 hour' else interval '0' end
     where p.id = v.id;
    perform wf._forget_signatures(10 * c_gone, v_now);
end;
$$;
