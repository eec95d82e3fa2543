-- A superuser who installs leaves a function that says whether a backup was restored
-- (wf._restored). Sessions may set the same name, so that only the server's files can be
-- believed; and these hold passwords, so that the owner of the workspace may not read
-- them. The function is the superuser's, and answers with this one setting.

\if :lent
\else
    create or replace function wf._restored_file() returns text
    language sql stable security definer set search_path = pg_catalog, pg_temp
    begin atomic
        select nullif(f.setting, '')
          from pg_catalog.pg_show_all_file_settings() f
         where lower(f.name) = 'wf.restored'
         order by f.seqno desc limit 1;
    end;
    revoke all on function wf._restored_file() from public;
    grant execute on function wf._restored_file() to wf_owner;
    -- what an earlier version granted
    revoke execute on function pg_catalog.pg_show_all_file_settings() from wf_owner;
\endif
