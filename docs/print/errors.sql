-- Prints docs/errors.md from an installed workspace: psql -XqAtf docs/print/errors.sql
\set ON_ERROR_STOP on
set client_encoding = 'UTF8';

select E'# Errors\n\n'
    || E'Printed from `wf.error`. These are the SQLSTATEs that the procedures of the workspace raise; each comes with a message, a hint and often a detail. Everything else is PostgreSQL''s own.\n\n'
    || E'| SQLSTATE | name | what happened | what to do |\n|---|---|---|---|\n'
    || string_agg(format('| `%s` | %s | %s | %s |', e.code, e.name, replace(e.meaning, '|', '\|'), replace(e.remedy, '|', '\|')), E'\n' order by e.code collate "C")
  from wf.error e;
