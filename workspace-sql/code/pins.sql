-- The settings that the procedures of the engine carry. The plans of the engine must not
-- depend on the caller's settings, nor on the state that a churning table had when it was
-- last analysed. The functions that these procedures call run under the same settings, and
-- so do the triggers of the tables that they write. So a function that only the owner may
-- execute carries no settings, not even the search path: each call of a function with
-- settings costs 10,000 instructions.
\set engine 'set search_path = pg_catalog, pg_temp'
\set engine :engine ' set plan_cache_mode = force_generic_plan set jit = off'
\set engine :engine ' set enable_seqscan = off set enable_bitmapscan = off'
\set engine :engine ' set enable_hashjoin = off set enable_mergejoin = off'
\set engine :engine ' set enable_indexscan = on set enable_tidscan = on'
\set engine :engine ' set enable_nestloop = on set enable_sort = on'

-- The settings of functions that people call and that read one instance. A plan for the
-- average instance may read whole tables, because one large instance can have nearly all
-- of their rows.
\set look 'set search_path = pg_catalog, pg_temp set jit = off set enable_memoize = off'
\set look :look ' set enable_seqscan = off set enable_bitmapscan = off'
\set look :look ' set enable_hashjoin = off set enable_mergejoin = off'
