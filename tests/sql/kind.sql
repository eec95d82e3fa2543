-- kind.sql - wf.error_kind_v has each kind of error that the engine makes, and what it says of them is so.
begin;
select no_plan();

create temporary view routine as
select p.proname, coalesce(p.prosrc, '') || coalesce(pg_get_function_sqlbody(p.oid), '') as body
  from pg_catalog.pg_proc p
 where p.pronamespace = 'wf'::regnamespace;

-- kinds in wf._refuse('KIND', …) and in 'kind', 'KIND'; a word before them may be a case
create temporary view made as
select r.proname, k[1] as kind
  from routine r
 cross join lateral regexp_matches(r.body, '_refuse\(''([a-z]+)''', 'g') k
 union
select r.proname, k[1]
  from routine r
 cross join lateral regexp_matches(r.body, '''kind''(?:::text)?, ''([a-z]+)''', 'g') k
 where k[1] <> 'message'; -- the name of the member after it

select cmp_ok((select count(distinct kind) from made), '>', 12::bigint, 'the functions of the engine are searched for kinds');
select is_empty($$select proname, kind from made where kind not in (select k.kind from wf.error_kind_v k)$$,
    'each kind that a function of the engine makes is a row');
select is_empty($$select kind, retried from wf.error_kind_v where retried <> wf._accepts_retry(null, kind, false)$$,
    'retried says what a policy retry does that names no kinds');
select is_empty($$select kind from wf.error_kind_v where happened not in ('no', 'yes', 'unknown')
    or made_by not in ('driver', 'engine', 'operator', 'workflow')$$, 'happened and made_by have words of their lists');
select is_empty($$select kind from wf.error_kind_v where meaning ~ '\.$' or may_retry !~ '\.$'$$,
    'a meaning is a clause, advice is sentences');
select * from finish();
rollback;
