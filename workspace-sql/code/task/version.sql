-- Versions of removed workflows that nothing uses any more.

-- wf._forget_versions()
--
-- Deletes versions of removed workflows that no instance uses. A start that has
-- not seen the removal may be under way: its instance cannot be seen before it
-- commits, and it locks nothing. But it has had a transaction number since before
-- it looked the version up. So the first call after the removal has committed
-- writes down a number that is greater than all that were given out until then. A later
-- call deletes the version, when all transactions before that number have ended.
--
-- Returns  nothing
-- Locks    rows of version (skipping locked ones)
-- Raises   nothing
-- Called   by poll, once a minute for each driver, and tick
create or replace function wf._forget_versions() returns void
language plpgsql as $$
declare
    v_ids bigint[];
begin
    delete from wf.version v
     where v.id = any (array(select x.id from wf.version x
                              where x.removed_xid <= pg_snapshot_xmin(pg_current_snapshot())
                                and not exists (select from wf.instance i where i.version_id = x.id)
                              order by x.id for update skip locked));
    v_ids := array(select v.id
                     from wf.version v
                    where v.removed_xid = wf._unknown_xid()
                    order by v.id for no key update skip locked);
    if cardinality(v_ids) = 0 then
        return;
    end if;
    -- a snapshot knows of no number greater than those of transactions that have ended:
    -- therefore a subtransaction gets a number now, and ends
    begin
        update wf.version v set removed_xid = null where v.id = any (v_ids);
        raise exception using errcode = 'transaction_rollback';
    exception when transaction_rollback then
        null;
    end;
    update wf.version v set removed_xid = pg_snapshot_xmax(pg_current_snapshot()) where v.id = any (v_ids);
end;
$$;
