-- psql -v only=REGEX: each login tries the acts whose names match. Prints the table.
\set ON_ERROR_STOP on
set client_min_messages = warning;
select current_user as printer \gset
truncate probe.cell;
\set try 'insert into probe.cell (act, answer) select a.act, probe.answer(a.statement) from probe.act a where a.act ~ :''only'';'
\connect - nobody
:try
\connect - app
:try
\connect - pay
:try
\connect - few
:try
\connect - slow
:try
\connect - low
:try
\connect - tiny
:try
\connect - ann
:try
\connect - eve
:try
\connect - viewer
:try
\connect - operator
:try
\connect - admin
:try
\connect - one
:try
\connect - two
:try
\connect - payroll_sql
:try
\connect - etl
:try
\connect - owner
:try
\connect - :printer
select rpad('', 40) || string_agg(rpad(l.name::text, 12), '' order by l.place) from probe.login l;
select rpad(c.act, 40) || string_agg(rpad(c.answer, 12), '' order by l.place)
  from probe.cell c join probe.login l on l.name = c.login
 group by c.act order by c.act collate "C";
