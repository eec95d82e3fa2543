-- Runs the file :migration if the schema is older than what its name begins
-- with; a :fresh one has it already. From then on that is its version.

select substr(:'migration', 1, 3)::int as version,
       substr(:'migration', 1, 3)::int > s.value::int and not :fresh as pending
  from wf.setting s where s.name = 'schema_version' \gset
\if :pending
    \ir :migration
\endif
update wf.setting set value = greatest(value::int, :version)::text where name = 'schema_version';
