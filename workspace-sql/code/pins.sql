-- The settings that the procedures and triggers of the engine carry: its plans must not depend
-- on the caller's settings, nor on what a churning table looked like when it was
-- analysed last. Functions that only these call run under them and carry the path
-- alone: each setting costs half a microsecond a call.
\set inner 'set search_path = pg_catalog, pg_temp'
\set engine :inner ' set plan_cache_mode = force_generic_plan set jit = off'
\set engine :engine ' set enable_seqscan = off set enable_bitmapscan = off'
\set engine :engine ' set enable_hashjoin = off set enable_mergejoin = off'
\set engine :engine ' set enable_indexscan = on set enable_tidscan = on'
\set engine :engine ' set enable_nestloop = on set enable_sort = on'
