-- clear.sql does not drop a function or view that an object outside the workspace uses.
-- The files of code/ must have replaced it by now. If they have not, this block raises an
-- error.

do $$
declare
    v_left record;
begin
    for v_left in
        select l.kind, l.name, string_agg(pg_describe_object(d.classid, d.objid, d.objsubid), ', ') as users
          from unnest(current_setting('wf.left')::text[]) f
         cross join lateral (
               select split_part(f, ' ', 1), substring(f from ' (.*) '), substring(f from '[^ ]+$')
               ) l (kind, name, ctid)
         cross join lateral (
               select p.oid, 'pg_proc'::regclass, p.ctid::text
                 from pg_proc p
                where l.kind = 'routine' and p.oid = to_regprocedure(l.name)
                union all
               select r.ev_class, 'pg_class', r.ctid::text
                 from pg_rewrite r
                where l.kind = 'view' and r.ev_class = to_regclass(l.name)
                union all
               select c.oid, 'pg_class', c.ctid::text
                 from pg_class c
                where l.kind = 'type' and c.oid = to_regclass(l.name)
               ) o (oid, class, ctid)
          join pg_depend d on d.refclassid = o.class and d.refobjid = o.oid and d.deptype = 'n'
         where o.ctid = l.ctid
         group by l.kind, l.name
    loop
        raise exception 'there is no % % any more', v_left.kind, v_left.name
            using errcode = 'WF004', detail = format('It is used by %s.', v_left.users),
                  hint = 'Drop what uses it, and upgrade again.';
    end loop;
end;
$$;
