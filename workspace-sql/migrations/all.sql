-- What has changed in schema/ since the first light, which was version 1: a line
-- for each change, in order. The number that the last file's name begins with is
-- the version of the schema, for the scripts and for both programs.
--
-- A migration changes tables and their rows. It runs as the owner, in the
-- transaction of upgrade.sql, when the workspace has neither functions, triggers
-- nor views. It must leave behind what schema/ makes: tests/e2e/upgrade.t compares.

\set migration 002_engine_event.sql \ir apply.sql
\set migration 003_trace.sql \ir apply.sql
\set migration 004_setting.sql \ir apply.sql
\set migration 005_upgraded.sql \ir apply.sql
\set migration 006_capabilities.sql \ir apply.sql
\set migration 007_suspended.sql \ir apply.sql
\set migration 008_secret.sql \ir apply.sql
\set migration 009_output.sql \ir apply.sql
\set migration 010_home.sql \ir apply.sql
\set migration 011_error.sql \ir apply.sql
\set migration 012_purge.sql \ir apply.sql
\set migration 013_lane.sql \ir apply.sql
\set migration 014_successor.sql \ir apply.sql
\set migration 015_steps.sql \ir apply.sql
\set migration 016_tree.sql \ir apply.sql
\set migration 017_fillfactor.sql \ir apply.sql
\set migration 019_loss.sql \ir apply.sql
\set migration 020_picks.sql \ir apply.sql

select set_config('wf.files', :'version', true) \gset
do $$
declare
    v_installed text := (select s.value from wf.setting s where s.name = 'schema_version');
begin
    if v_installed::int > current_setting('wf.files')::int then
        raise exception 'the workspace has schema version %, these files have %', v_installed, current_setting('wf.files')
            using errcode = 'WF011', hint = 'Use the files of the newer release.';
    end if;
end;
$$;
