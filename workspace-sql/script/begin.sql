-- Begins a script that installs, upgrades or removes: one transaction, in which
-- nothing depends on the settings of whoever runs it.

\set ON_ERROR_STOP on
\set QUIET on
\set SHOW_CONTEXT never
begin;
set local client_min_messages = warning;
set local search_path = pg_catalog, pg_temp;
set local standard_conforming_strings = on;
select current_user as installer, not rolsuper as lent from pg_roles where rolname = current_user \gset
