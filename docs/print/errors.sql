-- Prints docs/errors.md from an installed workspace: psql -XqAtf docs/print/errors.sql
\set ON_ERROR_STOP on
set client_encoding = 'UTF8';

select E'# Errors\n\n'
    || E'This page is printed from `wf.error_kind_v` and `wf.error`. It has two lists: the [kinds](#kinds-may-i-retry) of errors with which a task can fail, and the [SQLSTATEs](#sqlstates) that procedures raise when a command or a statement is refused.\n\n'
    || E'## Kinds: may I retry?\n\n'
    || E'A failed task has an error with a kind, which `explain`, `stuck` and `show` print before the message. What a SQL task has done is rolled back whenever it fails, whatever its kind.\n\n'
    || E'| kind | what it means | has something happened outside? | a policy `retry` tries it again | may I retry it? |\n|---|---|---|---|---|\n'
    || string_agg(format('| `%s` | %s | %s | %s | %s |', k.kind, replace(k.meaning, '|', '\|'),
                         case k.happened when 'unknown' then '**unknown**' else k.happened end,
                         case when k.kind = 'lost' then 'if the task is idempotent' when k.kind in ('aborted', 'several', 'skipped') then '–'
                              when k.retried then 'yes' else 'no' end,
                         replace(k.may_retry, '|', '\|')), E'\n' order by k.kind collate "C")
    || E'\n\nThe fourth column is for a policy that names no kinds (`on`); one that names some tries these and no others, and `engine` never. '
    || E'A kind that is not in this list was made by a workflow: with `wf.Fail(kind = …)`, or by a task type (`failure when … as {kind: …}`). Ask its author.\n'
  from wf.error_kind_v k;

select E'## SQLSTATEs\n\n'
    || E'The procedures of the workspace raise these; each comes with a message, a hint and often a detail. Everything else is PostgreSQL''s own.\n\n'
    || E'| SQLSTATE | name | what happened | what to do |\n|---|---|---|---|\n'
    || string_agg(format('| `%s` | %s | %s | %s |', e.code, e.name, replace(e.meaning, '|', '\|'), replace(e.remedy, '|', '\|')), E'\n' order by e.code collate "C")
  from wf.error e;
