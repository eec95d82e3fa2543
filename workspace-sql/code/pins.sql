-- The settings that the procedures of the engine carry: its plans must not depend
-- on the caller's settings, nor on what a churning table looked like when it was
-- analysed last. What these procedures call, and the triggers of what they write, runs
-- under the same settings. So a function that only the owner may execute carries none,
-- not even the path: each call of one that does costs 10,000 instructions.
\set engine 'set search_path = pg_catalog, pg_temp'
\set engine :engine ' set plan_cache_mode = force_generic_plan set jit = off'
\set engine :engine ' set enable_seqscan = off set enable_bitmapscan = off'
\set engine :engine ' set enable_hashjoin = off set enable_mergejoin = off'
\set engine :engine ' set enable_indexscan = on set enable_tidscan = on'
\set engine :engine ' set enable_nestloop = on set enable_sort = on'
