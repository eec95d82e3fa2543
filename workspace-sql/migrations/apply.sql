-- Runs the file :migration unless the schema already has the version that its
-- name begins with, and sets that version.

select substr(:'migration', 1, 3)::int > value::int as pending from wf.setting where name = 'schema_version' \gset
\if :pending
    \ir :migration
    update wf.setting set value = substr(:'migration', 1, 3)::int::text where name = 'schema_version';
\endif
