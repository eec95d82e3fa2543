-- Lanes that nothing uses any more.

-- wf._forget_lanes()
--
-- Removes lanes that only expressions have named and that hold nothing any more, since a
-- poll looks at each lane that its driver serves. A lane that is found unused is marked
-- first. A transaction that uses it from then on tells the next poll (_lane). When the lane
-- is removed, every transaction that used it before has ended, so its use can be seen.
--
-- Returns  nothing
-- Locks    rows of lane (skipping locked ones)
-- Called   by upkeep, once a minute for each driver, and tick
create or replace function wf._forget_lanes() returns void
language plpgsql as $$
declare
    -- taken before anything is looked at: a transaction that ends later does not count as ended
    v_horizon constant xid8 := pg_snapshot_xmin(pg_current_snapshot());
    v_lanes bigint[] := array(select l.id from wf.lane l where not l.fixed order by l.id for update skip locked);
    v_unused bigint[];
begin
    if cardinality(v_lanes) = 0 then
        return;
    end if;
    v_unused := array(
        select u.id from unnest(v_lanes) u (id)
        except (
        select r.lane_id from wf.ready r
        union
        select k.lane_id from wf.parked k
        union
        select p.lane_id
          from (select x.instance_id, x.process_id from wf.lease x
                union
                select x.instance_id, x.process_id from wf.failed x
                union
                select x.instance_id, x.process_id from wf.timer x
                 where x.kind not in ('sleep', 'signal', 'child', 'input')) x
         cross join lateral (select p.lane_id
                               from wf.process p
                              where p.instance_id = x.instance_id and p.id = x.process_id
                             offset 0) p));
    delete from wf.lane l where l.id = any (v_unused) and l.unused_xid < v_horizon;
    update wf.lane l set unused_xid = case when l.id = any (v_unused) then pg_current_xact_id() end
     where l.id = any (v_lanes) and (l.id = any (v_unused)) <> (l.unused_xid is not null);
end;
$$;
