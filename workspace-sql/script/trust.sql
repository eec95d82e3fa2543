-- A superuser who installs the workspace leaves the function wf._restored_file. It returns
-- the setting wf.restored of the server's configuration files, for wf._look_around. A session
-- can set wf.restored, too, so only the files can be trusted. The files may hold passwords,
-- so the owner of the workspace may not read them. Therefore the superuser owns the
-- function, and it returns this one setting only.

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
