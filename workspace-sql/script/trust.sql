-- The owner of the workspace may read what the server's configuration files say, if a
-- superuser installs it: whether a backup was restored (wf._restored). Sessions may set
-- the same name, so that only the files can be believed.

\if :lent
\else
    grant execute on function pg_catalog.pg_show_all_file_settings() to wf_owner;
\endif
