-- The driver takes one request: told, and kept for the report.
select kind, attempt, request, needs_ack, transport, task_type, args, instance_id as i, process_id as p, token as t from wf.poll(:driver, 1) where kind operator(pg_catalog.<>) 'work'::pg_catalog.text limit 1 \gset
\echo :kind :attempt :request :transport :task_type :args :i :p
\set is '{' :i '}' \set ps '{' :p '}' \set ts '{' :t '}'
