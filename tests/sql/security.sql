-- security.sql - what the catalogs say about the schema's safety (helper/weakness.sql).
begin;
\ir helper/weakness.sql
select plan(1);

select is_empty('select chk, obj from finding order by chk, obj', 'the catalogs show no weakness');
select finish();
rollback;
