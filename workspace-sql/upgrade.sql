-- Brings the workspace in the database that psql is connected to up to date,
-- while instances run and drivers work:
--
--     psql -d database -f workspace-sql/upgrade.sql
--
-- One transaction: if it fails, everything is as before. A call that came meanwhile
-- is told to try again (wf._gate), so that no procedure runs half on old functions
-- and half on new ones.

\ir script/begin.sql
\ir script/own.sql
\ir script/knock.sql

-- state
\ir script/clear.sql
\set fresh false
\ir migrations/all.sql

-- behaviour
\ir code/all.sql
\ir script/cleared.sql
select wf._recompile() \gset

-- rights
\ir grants.sql

select wf.schema_version() as version \gset
select wf._audit('workspace upgrade', jsonb_build_object('schema_version', :version)) \gset
\ir script/disown.sql
\ir script/trust.sql
commit;
\echo workspace up to date, schema version :version
