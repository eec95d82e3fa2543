-- The label of a process, for places where one line stands for it: its title, or else its
-- name, and the index of the element or round that it is in. Each element of a forall and
-- each round of a loop opens a scope, so the innermost scope with an index has that index.
-- The tree shows the index at the element or round only: the lines above a process show it.

create or replace view wf.label_v with (security_barrier = true) as
select p.instance_id,
       p.id as process_id,
       coalesce(p.policy ->> 'title', n.title, n.label) || coalesce(' [' || s.index || ']', '') as label
  from wf.process p
 cross join lateral (select x.title, x.label
                       from wf.node x
                      where x.version_id = p.version_id and x.id = p.node_id
                     offset 0) n
  left join lateral (select x.index
                       from unnest(p.scopes) with ordinality o (id, k)
                      cross join lateral (select y.index from wf.process y
                                           where y.instance_id = p.instance_id and y.id = o.id offset 0) x
                      where x.index is not null
                      order by o.k desc limit 1) s on true;
comment on view wf.label_v is 'The labels of processes, for places where one line stands for a process.';
comment on column wf.label_v.instance_id is 'the instance';
comment on column wf.label_v.process_id is 'the process';
comment on column wf.label_v.label is
    'its title, or else its name; then the index of the element of a forall, or round of a loop, that it is or is in';

-- wf._label_of(p_instance, p_process)
--
-- Gives the same label as the view. It is for statements that need one label, or seldom one:
-- in a session that has just connected, to plan the view takes a tenth of the time of a
-- whole answer. An inner scope has a larger id than the scopes around it.
--
-- Returns  the label of a process
-- Locks    nothing
-- Raises   nothing
-- Called   by wf.tree, wf.explain and _say_places
create or replace function wf._label_of(p_instance bigint, p_process bigint) returns text
language sql stable
begin atomic
    select coalesce(p.policy ->> 'title',
                    (select coalesce(n.title, n.label) from wf.node n
                      where n.version_id = p.version_id and n.id = p.node_id))
           || coalesce(' [' || (select x.index
                                  from unnest(p.scopes) o (id)
                                 cross join lateral (select y.index from wf.process y
                                                      where y.instance_id = p_instance and y.id = o.id offset 0) x
                                 where x.index is not null
                                 order by o.id desc limit 1) || ']', '')
      from wf.process p
     where p.instance_id = p_instance and p.id = p_process;
end;
