-- The columns of a view mean what the columns of its table mean.

-- wf._inherit_comments(p_view, p_source)
--
-- Gives each column of a view the comment of the column of the same name in
-- p_source, the table or view that the view shows. A column with another meaning
-- gets a comment of its own after that.
--
-- Returns  nothing
-- Locks    the view
-- Raises   nothing
-- Called   where a view is created
create or replace function wf._inherit_comments(p_view name, p_source name) returns void
language plpgsql as $$
declare
    c record;
begin
    for c in
        select v.attname as name, col_description(s.attrelid, s.attnum) as meaning
          from pg_attribute v
          join pg_attribute s on s.attname = v.attname and s.attnum > 0
         where v.attrelid = format('wf.%I', p_view)::regclass and v.attnum > 0
           and s.attrelid = format('wf.%I', p_source)::regclass
    loop
        execute format('comment on column wf.%I.%I is %L', p_view, c.name, c.meaning);
    end loop;
end;
$$;
