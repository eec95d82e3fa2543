-- How often each statement of each plpgsql function of the workspace was
-- executed in this database, with its place and the line on which it begins.
select p.oid::regprocedure, s.stmtid, s.lineno, s.exec_stmts + s.exec_stmts_err,
       s.stmtname, btrim((string_to_array(p.prosrc, e'\n'))[s.lineno])
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace and n.nspname = 'wf'
  join pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql',
       tap.plpgsql_profiler_function_statements_tb(p.oid) s;
