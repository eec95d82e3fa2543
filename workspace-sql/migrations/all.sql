-- What has changed in schema/ since version 20, the oldest one that an upgrade
-- takes: a line for each change, in order. The number that the last file's name
-- begins with is the version of the schema, for the scripts and for both
-- programs.
--
-- A migration changes tables and their rows. It runs as the owner, in the
-- transaction of upgrade.sql, when the workspace has neither functions, triggers
-- nor views. It must leave behind what schema/ makes: tests/e2e/upgrade.t compares.
-- Rows that come with the engine (states, transitions, errors, operators,
-- functions, settings) and comments stand in code/, and need no migration.

do $$
declare
    v_installed text := (select s.value from wf.setting s where s.name = 'schema_version');
begin
    if v_installed::int < 20 then
        raise exception 'the workspace has schema version %, these files upgrade from version 20 on', v_installed
            using errcode = 'WF011',
                  hint = 'It was made before the first release: export what is in it, and install anew.';
    end if;
end;
$$;

\set migration 021_ground.sql \ir apply.sql
\set migration 022_lock.sql \ir apply.sql
\set migration 024_sign_of_life.sql \ir apply.sql
\set migration 027_work.sql \ir apply.sql
\set migration 030_form.sql \ir apply.sql
\set migration 031_retry.sql \ir apply.sql
\set migration 032_catch.sql \ir apply.sql
\set migration 033_alone.sql \ir apply.sql
\set migration 034_limit.sql \ir apply.sql
\set migration 035_past.sql \ir apply.sql
\set migration 036_ended.sql \ir apply.sql
\set migration 037_handles.sql \ir apply.sql
\set migration 038_given_up.sql \ir apply.sql
\set migration 044_loop.sql \ir apply.sql
\set migration 048_atomic.sql \ir apply.sql
\set migration 051_timeout.sql \ir apply.sql
\set migration 054_progress.sql \ir apply.sql
\set migration 055_dag.sql \ir apply.sql
\set migration 056_finally.sql \ir apply.sql
\set migration 059_skipped.sql \ir apply.sql
\set migration 060_rate.sql \ir apply.sql
\set migration 061_undo.sql \ir apply.sql
\set migration 062_limit_begun.sql \ir apply.sql
\set migration 063_tags.sql \ir apply.sql
\set migration 064_login.sql \ir apply.sql
\set migration 065_driver_grant.sql \ir apply.sql
\set migration 066_audit.sql \ir apply.sql
\set migration 070_sql_grant.sql \ir apply.sql
\set migration 071_quota.sql \ir apply.sql
\set migration 072_quota_processes.sql \ir apply.sql
\set migration 073_signal.sql \ir apply.sql
\set migration 074_child.sql \ir apply.sql
\set migration 076_input.sql \ir apply.sql
\set migration 079_schedule.sql \ir apply.sql
\set migration 080_end_listener.sql \ir apply.sql
\set migration 081_callback.sql \ir apply.sql
\set migration 082_start_if.sql \ir apply.sql
\set migration 083_key.sql \ir apply.sql
\set migration 084_driver_counter.sql \ir apply.sql
\set migration 085_transport.sql \ir apply.sql
\set migration 086_group_name.sql \ir apply.sql
\set migration 087_leftover.sql \ir apply.sql
\set migration 088_schedule_times.sql \ir apply.sql
\set migration 089_limit_begun.sql \ir apply.sql

select set_config('wf.files', :'version', true) \gset
do $$
declare
    v_installed text := (select s.value from wf.setting s where s.name = 'schema_version');
begin
    if v_installed::int > current_setting('wf.files')::int then
        raise exception 'the workspace has schema version %, these files have %',
            v_installed, current_setting('wf.files')
            using errcode = 'WF011', hint = 'Use the files of the newer release.';
    end if;
end;
$$;
