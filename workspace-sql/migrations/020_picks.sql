-- What only picks fields of a response is not evaluated.

alter table wf.node add column picks text[];
comment on column wf.node.picks is 'leaf: sync, and its output is these fields of any response, under their names';
update wf.node n
   set picks = k.picks
  from wf.task_request q
  join wf.task_type t on t.id = q.type_id
 cross join lateral (select array_agg(f.name) as picks
                       from jsonb_array_elements_text(case when q.clauses -> 'output' ->> 0 = 'object' then q.clauses -> 'output' -> 2 end) with ordinality f (name, k)
                     having bool_and(q.clauses -> 'output' -> 2 + f.k::int = jsonb_build_array('get', '["var", "response"]'::jsonb, f.name))) k
 where q.type_id = n.type_id and q.request = 'start' and t.machine = 'sync' and q.clauses - 'output' = '{}' and q.clauses -> 'output' -> 1 = '{}';
