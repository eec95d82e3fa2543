-- Prints docs/sql-api.md from an installed workspace: psql -XqAtf docs/print/sql-api.sql
\set ON_ERROR_STOP on
set client_encoding = 'UTF8';

with api as (
    select p.oid, p.proname as name, obj_description(p.oid, 'pg_proc') as about,
           -- as people write it: defaults without their casts, short names of types
           replace(replace(regexp_replace(format(E'%swf.%s(%s)%s', case p.prokind when 'p' then 'call ' end, p.proname, regexp_replace(pg_get_function_arguments(p.oid), '\mIN ', '', 'g'), E'\n    returns ' || pg_get_function_result(p.oid)),
                                          ' DEFAULT (''[^'']*''|[^:,)]+)(::[a-z ]+(\[\])?)?', ' default \1', 'g'),
                           'timestamp with time zone', 'timestamptz'), 'returns TABLE(', 'returns table (') as signature,
           (select string_agg(g.rolname, ', ' order by g.rolname collate "C")
              from aclexplode(p.proacl) a
              join pg_roles g on g.oid = a.grantee
             where a.privilege_type = 'EXECUTE' and a.grantee <> p.proowner) as callers
      from pg_proc p
     where p.pronamespace = 'wf'::regnamespace
       and p.proname not like '\_%'
       and p.prorettype <> 'trigger'::regtype
), relation as (
    select c.oid, c.relname as name, c.relkind as kind, obj_description(c.oid, 'pg_class') as about,
           (select string_agg(g.rolname, ', ' order by g.rolname collate "C")
              from aclexplode(c.relacl) a
              join pg_roles g on g.oid = a.grantee
             where a.privilege_type = 'SELECT' and a.grantee <> c.relowner) as readers,
           (select string_agg(format('| %s | %s | %s |', t.attname, format_type(t.atttypid, t.atttypmod), replace(col_description(c.oid, t.attnum), '|', '\|')), E'\n' order by t.attnum)
              from pg_attribute t
             where t.attrelid = c.oid and t.attnum > 0 and not t.attisdropped) as columns
      from pg_class c
     where c.relnamespace = 'wf'::regnamespace
       and c.relkind in ('r', 'v')
)
select E'# The SQL interface\n\n'
    || E'Printed from the comments in an installed workspace. Programs call these functions and read these views; they never touch a table.\n\n'
    || E'## Targets\n\nThe verbs of operators (retry, ignore, resolve, raise, cancel, abort, halt, suspend, resume) take a target: an object whose keys hold together.\n\n'
    || E'| key | value | meaning |\n|---|---|---|\n'
    || E'| `instance` | id or list of ids | these instances |\n'
    || E'| `process` | id or list of ids | these processes; for abort, halt, suspend and resume the roots of instances |\n'
    || E'| `root` | id or list of ids | these processes and everything in them |\n'
    || E'| `state` | state or list of states | what is in one of them |\n'
    || E'| `failed` | `true` | what is FAILED; for abort, halt, suspend and resume instances in which something is |\n'
    || E'| `workflow` | name | instances of this workflow that have not ended |\n'
    || E'| `tag` | text | instances with this tag that have not ended |\n'
    || E'| `older_than` | interval | instances that were started longer ago and have not ended |\n'
    || E'| `latest` | `true` | of the instances that the other keys allow only the latest one |\n'
    || E'| `global` | `true` | the same, as lb-workflow says it |\n'
    || E'| `among` | an int8multirange, as `"{[17,20),[42,43)}"` | nothing but these: processes; instances for abort, halt, suspend and resume |\n\n'
    || E'Without an id and without `latest` a target means the whole workspace: `{"failed": true}` is whatever has failed, in any instance. A target that names nothing is refused. '
    || E'What an id names is answered in any case, done or refused, and so is the latest instance; of everything else only what can make the move is a target. '
    || E'If nothing matches at all, WF003 is raised.\n\n'
    || E'Whoever asks a person first calls `wf.preview`, which locks nothing, and gives the verb the numbers that it answered as `among`: then nothing is touched that the person was not asked about.\n\n'
    || E'## Functions\n\n'
    || (select string_agg(format(E'### wf.%s\n```sql\n%s\n```\n%s\n\nMay be called by: %s.', a.name, a.signature, a.about, coalesce(a.callers, 'nobody but the owner')), E'\n\n' order by a.name collate "C", a.signature collate "C") from api a)
    || E'\n\n## Views\n\n'
    || (select string_agg(format(E'### wf.%s\n%s\n\nMay be read by: %s.\n\n| column | type | meaning |\n|---|---|---|\n%s', r.name, r.about, coalesce(r.readers, 'nobody but the owner'), r.columns), E'\n\n' order by r.name collate "C") from relation r where r.kind = 'v')
    || E'\n\n## Tables\n\nFor people who read the source or mend a workspace; nobody has rights on them.\n\n'
    || (select string_agg(format(E'### wf.%s\n%s\n\n| column | type | meaning |\n|---|---|---|\n%s', r.name, r.about, r.columns), E'\n\n' order by r.name collate "C") from relation r where r.kind = 'r');
