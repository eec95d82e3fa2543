-- weakness.sql - each check of security.sql finds what it is there for: one weakness
-- after the other is planted, found, and taken out again.
begin;
\ir helper/weakness.sql
select no_plan();

-- A view for each check: to plan and to ask all of them after each statement
-- would take minutes.
create function views() returns void
language plpgsql as $$
declare
    v_view text := rtrim(pg_get_viewdef('finding'::regclass), ';');
    v_with text := left(v_view, strpos(v_view, E'\n SELECT ''S01 ') - 1);
    v_check text;
begin
    foreach v_check in array regexp_split_to_array(substr(v_view, length(v_with) + 1), E'\nUNION ALL\n') loop
        execute format('create view check_%s (chk, obj) as %s %s',
                       (regexp_match(v_check, '''([A-Z][0-9]{2}b?) '))[1], v_with, v_check);
    end loop;
end;
$$;
select views();

-- finds(CHECK, STATEMENT): what the statement brings about is a finding of the check.
create table planted (chk text);
create function finds(p_check text, p_statement text) returns text
language plpgsql as $$
declare
    v_found boolean;
begin
    insert into planted values (p_check);
    begin
        execute p_statement;
        execute format('select exists (select from check_%s)', p_check) into v_found;
        raise exception using errcode = 'UNDO1';
    exception when sqlstate 'UNDO1' then
        return ok(v_found, format('check %s finds: %s', p_check, p_statement));
    end;
end;
$$;

select is_empty('select * from finding', 'before anything is planted there is no weakness');

-- ownership
select finds('S01', $$alter schema wf owner to postgres$$);
select finds('S02', $$alter function wf.tick() owner to postgres$$);
select finds('S03', $$alter table wf.setting owner to postgres$$);
select finds('S04', $$create type wf.planted as enum ()$$);
select finds('S05', $$alter role wf_owner login$$);
select finds('S06', $$grant pg_monitor to wf_owner$$);
select finds('S07', $$grant wf_owner to wf_viewer$$);
select finds('S08', $$alter role wf_driver createdb$$);
select finds('S09', $$grant pg_read_server_files to wf_driver$$);

-- SECURITY DEFINER and search_path
select finds('D01', $$create function wf.planted() returns int security definer language sql as 'select 1'$$);
select finds('D02', $$create function wf.planted() returns int language sql as 'select 1'$$);
select finds('D03', $$create function wf.planted() returns int set search_path = pg_catalog, wf language sql as 'select 1'$$);
select finds('D03b', $$create function wf.planted() returns int security definer set search_path = '' language sql as 'select 1'$$);
select finds('D04', $$create function wf.planted() returns int set search_path = pg_catalog, public, pg_temp language sql as 'select 1'$$);
select finds('D05', $$create function wf.planted() returns int set search_path = wf, pg_catalog, pg_temp language sql as 'select 1'$$);
select finds('D06', $$create function wf.planted(int, int) returns int language internal as 'int4pl'$$);
select finds('D07', $$create function wf.planted() returns int leakproof language sql as 'select 1'$$);
select finds('D08', $$create function wf.planted(p_x text) returns void security definer language plpgsql as 'begin execute ''select '' || p_x; end'$$);
select finds('D09', $$create function wf.planted(p_x text) returns void language plpgsql as 'begin execute format(''select %s'', p_x); end'$$);
select finds('D10', $$create function wf.planted() returns void security definer language plpgsql as 'begin set local role postgres; end'$$);
select finds('D11', $$create function wf.planted() returns name security definer language sql as 'select current_user'$$);
select finds('D12', $$create function wf.tick(int) returns int language sql as 'select 1'$$);

-- privileges
select finds('G01', $$grant execute on function wf.tick() to public$$);
select finds('G02', $$grant usage on schema wf to public$$);
select finds('G03', $$grant create on schema wf to wf_admin$$);
select finds('G04', $$grant insert on wf.setting to wf_admin$$);
select finds('G05', $$grant select on wf.instance_v to public$$);
select finds('G06', $$grant update (value) on wf.setting to wf_admin$$);
select finds('G07', $$grant select on wf.instance_v to wf_viewer with grant option$$);
select finds('G08', $$alter table wf.setting add column api_key text; grant select on wf.setting to wf_viewer$$);
select finds('G09', $$alter default privileges for role wf_owner grant execute on functions to public$$);
select finds('G10', $$grant create on schema public to public$$);
select finds('G11', $$grant set on parameter session_replication_role to wf_admin$$);

-- views, row security, triggers, rules
select finds('V01', $$create view wf.planted_v as select 1; grant select on wf.planted_v to wf_viewer$$);
select finds('V02', $$grant select on wf.setting to wf_viewer$$);
select finds('V03', $$alter table wf.setting enable row level security$$);
select finds('V04', $$alter table wf.process disable trigger user$$);
select finds('V05', $$create function public.planted() returns trigger language plpgsql as 'begin return new; end'; create trigger planted before insert on wf.setting for each row execute function public.planted()$$);
select finds('V06', $$create rule planted as on insert to wf.setting do also select 1$$);

-- durability and integrity
select finds('R01', $$create unlogged table wf.planted (a int primary key)$$);
select finds('R02', $$alter table wf.setting add constraint planted check (true) not valid$$);
select finds('R03', $$set local allow_system_table_mods = on; update pg_catalog.pg_index set indisvalid = false where indrelid = 'wf.setting'::regclass$$);
select finds('R04', $$create table wf.planted (a int)$$);
select finds('R05', $$create table wf.planted (a int primary key, b int references wf.planted)$$);
select finds('R06', $$alter table wf.setting add planted timestamp$$);
select finds('R07', $$create table wf.planted (a int generated always as identity primary key)$$);
select finds('R08', $$set local synchronous_commit = off$$);
select finds('R09', $$alter role wf_driver set synchronous_commit = off$$);

-- logins
select finds('L01', $$create role wf_driver_planted login connection limit 1 password 'md5d41d8cd98f00b204e9800998ecf8427e'$$);
select finds('L02', $$create role wf_driver_planted login$$);
-- the files of the server stay as they are: what they say is replaced
select finds('L03', $$
    set local allow_system_table_mods = on;
    create or replace view pg_catalog.pg_hba_file_rules as
    select 1 as line_number, 'host'::text as type, '{all}'::text[] as database, '{all}'::text[] as user_name,
           '0.0.0.0'::text as address, '0.0.0.0'::text as netmask, 'trust'::text as auth_method,
           null::text[] as options, null::text as error$$);

select is_empty($$
    select substr(relname, 7) from pg_class where relname ~ '^check_[a-z][0-9]{2}b?$' and relkind = 'v'
    except select lower(chk) from planted
$$, 'each check has found what was planted for it');
select cmp_ok((select count(distinct chk) from planted), '>', 50::bigint, 'there are as many checks as there were');
select is_empty('select * from finding', 'afterwards there is no weakness either');
select finish();
rollback;
