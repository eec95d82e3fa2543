-- What keeps a process from running: one function for each place where a process may
-- be. Each of them gives the reasons of the processes that it finds in its place.
-- The head of explain.sql says how these functions are written, and why.

do $$
begin
    if to_regtype('wf.reason') is null then
        create type wf.reason as (process_id bigint, reason text, detail text, since timestamptz);
        comment on type wf.reason is 'Why a process is not running.';
    end if;
end;
$$;

-- wf._unfit(p_lane)
--
-- Returns  the first five registered drivers, each with the reason why it does not serve
--          a lane that no driver serves; null without drivers
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_ready
create or replace function wf._unfit(p_lane wf.lane) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
    select string_agg(d.name || case when d.state <> 'live' then ' is ' || d.state
                                     when x.lacks <> '' then ' lacks ' || x.lacks
                                     else ' is silent since ' || wf._say_time(d.seen_at) end,
                      '; ' order by d.place) filter (where d.place <= 5)
           || case when count(*) > 5 then '; …' else '' end
      from (select n.*, s.seen_at, row_number() over (order by n.name, n.id) as place
              from wf.driver n
              join wf.sign_of_life s on s.driver_id = n.id
             where n.state in ('live', 'draining')) d
     cross join lateral (
           select array_to_string(array(select 'queue ' || p_lane.queue
                                         where cardinality(d.queues) > 0 and p_lane.queue <> all (d.queues))
                                  || array(select n from unnest(p_lane.needs) n where n <> all (d.transports))
                                  || array(select r from unnest(p_lane.requires) r where r <> all (d.capabilities)),
                                  ', ') as lacks) x;
$$;

-- wf._say_stuck(p_state)
--
-- Returns  that nothing can move a process on
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_stuck and wf._explain_children
create or replace function wf._say_stuck(p_state text) returns text language sql immutable
begin atomic
    select p_state || ': nothing can move it on; wf-console fsck tells more';
end;

-- wf._say_places(p_group)
--
-- Returns  how many places of a group are taken and, if it is full, by whom
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_parked
create or replace function wf._say_places(p_group bigint) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select format('group %s has %s of %s places taken', g.name, c.places, coalesce(g.max::text, 'any number of'))
           || case when c.places >= g.max and c.places > 0
                   then ': held by ' || array_to_string(array(
                            select (select format('%s of instance %s (%s, since %s)', s.process_id, s.instance_id,
                                                  wf._label_of(s.instance_id, s.process_id),
                                                  wf._say_time(p.at))
                                      from wf.process p
                                     where p.instance_id = s.instance_id and p.id = s.process_id)
                              from wf.slot s
                             where s.group_id = p_group
                             order by s.process_id
                             limit 5), ', ') || case when c.places > 5 then ' …' else '' end
                   when g.max = 0 then '' else '; it gets one with the next poll' end
      from wf.concurrency_group g, (select count(*) as places from wf.slot s where s.group_id = p_group) c
     where g.id = p_group;
end;

-- wf._explain_suspended(p_instance, p_process)
--
-- Returns  the reasons of tasks that a suspended instance holds
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_parked
create or replace function wf._explain_suspended(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array_agg(row(k.process_id, 'suspended', wf._say_who('its instance was suspended', s.actor, s.reason),
                         s.at)::wf.reason)
      from wf.suspended s, unnest(p_process) u (id),
           lateral (select x.process_id, x.reason from wf.parked x
                     where x.instance_id = p_instance and x.process_id = u.id offset 0) k
     where s.instance_id = p_instance and k.reason = 'suspended';
end;

-- wf._say_rate(p_rate, p_rank, p_turn, p_instance, p_process)
--
-- Returns  how many tasks a rate lets begin, how many are in line before one that waits, and when the next one goes
-- Locks    nothing
-- Raises   nothing
-- Called   by _explain_rates
create or replace function wf._say_rate(p_rate bigint, p_rank smallint, p_turn bigint, p_instance bigint,
                                        p_process bigint) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select case when r.id is null then 'its rate is new; wf.work grants it a place'
                else format('rate %s lets %s begin in %s; %s', r.name, r.max, r.per,
                            case b.count when 0 then 'it goes next' when 1000 then 'more than 1000 go before it'
                                         else format('%s before it', b.count || case b.count when 1 then ' goes'
                                                                                             else ' go' end) end)
                     || coalesce(to_char((select min(s.free_at) from wf.rate_spent s
                                           where s.rate_id = p_rate and s.free_at > wf.now()),
                                         '", the next at "YYYY-MM-DD HH24:MI:SS.MSOF'), '') end
      from (select count(*) from (select from wf.parked k
                                   where k.rate_id = p_rate and k.reason = 'rate'
                                     and (k.rank, k.turn, k.instance_id, k.process_id)
                                         < (p_rank, p_turn, p_instance, p_process)
                                   order by k.rank, k.turn, k.instance_id, k.process_id
                                   limit 1000) x) b
      left join wf.rate r on r.id = p_rate;
end;

-- wf._explain_rates(p_instance, p_process)
--
-- Returns  the reasons of tasks that wait until their rate lets them begin
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_parked
create or replace function wf._explain_rates(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array_agg(row(k.process_id, 'rate',
                         wf._say_rate(k.rate_id, k.rank, k.turn, p_instance, k.process_id), k.parked_at)::wf.reason)
      from unnest(p_process) u (id),
           lateral (select x.process_id, x.rate_id, x.rank, x.turn, x.parked_at from wf.parked x
                     where x.instance_id = p_instance and x.process_id = u.id and x.reason = 'rate' offset 0) k;
end;

-- wf._explain_parked(p_instance, p_process)
--
-- Returns  the reasons of tasks that wait for their group or their rate, or are suspended
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_place
create or replace function wf._explain_parked(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array_agg(row(k.process_id, 'group',
                         coalesce(wf._say_places(k.group_id), 'its group is new; it gets a place with the next poll'),
                         k.parked_at)::wf.reason) filter (where k.group_id is not null)
           || case when bool_or(k.reason = 'suspended') then wf._explain_suspended(p_instance, p_process) end
           || case when bool_or(k.reason = 'rate') then wf._explain_rates(p_instance, p_process) end
      from unnest(p_process) u (id),
           lateral (select x.process_id, x.reason, x.group_id, x.parked_at from wf.parked x
                     where x.instance_id = p_instance and x.process_id = u.id offset 0) k;
end;

-- wf._explain_retry(p_instance, p_process)
--
-- Returns  the reasons of processes that wait for their next attempt
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_place
create or replace function wf._explain_retry(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array_agg(row(p.id, 'retry',
               format('waits for its next %s, the %s%s, at %s, after %s error: %s',
                      case p.machine when 'composite' then 'round' else 'attempt' end,
                      wf._say_nth(p.attempt - p.retry_from + 1), ' of ' || nullif(v.attempts, '-1'),
                      wf._say_time(t.due_at), p.error ->> 'kind', p.error ->> 'message'),
               p.at)::wf.reason)
      from unnest(p_process) u (id),
           lateral (select x.due_at from wf.timer x
                     where x.instance_id = p_instance and x.process_id = u.id and x.kind = 'retry' offset 0) t,
           lateral (select x.id, x.version_id, x.node_id, x.attempt, x.retry_from, x.error, x.policy, x.at, x.machine
                      from wf.process x where x.instance_id = p_instance and x.id = u.id offset 0) p,
           lateral (select coalesce(x.retry ->> 'attempts', p.policy #>> '{retry,attempts}') as attempts
                      from wf.node x where x.version_id = p.version_id and x.id = p.node_id offset 0) v
     where isfinite(t.due_at);
end;

-- wf._say_line(p_version, p_node, p_error)
--
-- Returns  the line of the expression that failed; null if the error has no such cause, or names the line itself
-- Locks    nothing
-- Raises   nothing
-- Called   by _explain_failed and wf.stuck
create or replace function wf._say_line(p_version bigint, p_node int, p_error jsonb) returns text
language sql stable
begin atomic
    select format(' (line %s)', n.line) from wf.node n
     where n.version_id = p_version and n.id = p_node
       and p_error ->> 'kind' = 'input' and p_error #> '{detail,line}' is null;
end;

-- wf._explain_failed(p_instance, p_process)
--
-- Returns  the reasons of processes that wait for an operator
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_place
create or replace function wf._explain_failed(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array_agg(row(p.id, 'failed',
                         format('%s: %s%s; waits for retry, ignore, resolve or raise%s',
                                p.error ->> 'kind', p.error ->> 'message',
                                wf._say_line(p.version_id, p.node_id, p.error),
                                case when f.late then '; if nothing else can run, its instance ends' end),
                         p.at)::wf.reason)
      from unnest(p_process) u (id),
           lateral (select x.id, x.version_id, x.node_id, x.error, x.at from wf.process x
                     where x.instance_id = p_instance and x.id = u.id offset 0) p,
           lateral (select x.late from wf.failed x
                     where x.instance_id = p_instance and x.process_id = p.id offset 0) f;
end;

-- wf._say_skipped(p_instance, p_process)
--
-- Returns  by whom a process was skipped with all that reads it, and why
-- Locks    nothing
-- Raises   nothing
-- Called   by _explain_ended
create or replace function wf._say_skipped(p_instance bigint, p_process bigint) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select wf._say_who(',', coalesce(x.login || ' as ' || nullif(e.role, x.login), x.login, x.actor), e.reason)
      from wf.event e
      join wf.txn x on x.xid = e.xid
     where e.instance_id = p_instance and e.process_id = p_process and e.event = 'skip'
     order by e.seq desc
     limit 1;
end;

-- wf._explain_ended(p_instance, p_process)
--
-- Returns  how these processes ended
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_place
create or replace function wf._explain_ended(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array_agg(row(p.id, 'ended',
                         p.state || coalesce(': ' || (p.error ->> 'kind') || ': ' || (p.error ->> 'message'), '')
                             || case when p.error ->> 'kind' = 'skipped'
                                     then coalesce(wf._say_skipped(p_instance,
                                                               (p.error #>> '{detail,process}')::bigint), '')
                                     else '' end,
                         p.at)::wf.reason)
      from unnest(p_process) u (id),
           lateral (select x.id, x.state, x.error, x.at from wf.process x
                     where x.instance_id = p_instance and x.id = u.id offset 0) p;
end;

-- wf._say_steps(p_instance, p_process)
--
-- Returns  which steps of a dag have not begun, and which steps they come after; null if all have begun
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_children
create or replace function wf._say_steps(p_instance bigint, p_process bigint) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select format('; %s to come: ', max(s.count))
           || string_agg(s.label || ' after ' || s.before, ', ' order by s.node_id)
           || case when max(s.count) > 5 then ' …' else '' end
      from (select d.node_id, d.count, coalesce(n.title, n.label) as label,
                   (select string_agg(coalesce(b.title, b.label), ' and ' order by b.id)
                      from wf.edge e
                      join wf.dag_step x on x.instance_id = p_instance and x.process_id = p_process
                                        and x.node_id = e.after_id
                      join wf.node b on b.version_id = e.version_id and b.id = e.after_id
                     where e.version_id = p.version_id and e.node_id = d.node_id) as before
              from wf.process p
             cross join lateral (select x.node_id, count(*) over () as count
                                   from wf.dag_step x
                                  where x.instance_id = p_instance and x.process_id = p_process
                                    and x.awaits is not null
                                  order by x.node_id
                                  limit 5) d
              join wf.node n on n.version_id = p.version_id and n.id = d.node_id
             where p.instance_id = p_instance and p.id = p_process) s;
end;

-- wf._explain_children(p_instance, p_process)
--
-- Composites wait for the processes in them that have not ended. The next step has no row
-- yet; it is named behind the process before it. A composite without such processes is
-- stuck.
--
-- Returns  one reason for each of these composites
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_place
create or replace function wf._explain_children(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array(
        select row(q.id, case when count(c.id) > 0 or q.begins then 'children' else 'stuck' end,
                   case when count(c.id) > 0 then format('waits for %s: ', count(c.id))
                        when q.begins then 'what comes next is about to begin' else wf._say_stuck(q.state) end
                       || coalesce(string_agg(format('%s %s (%s%s)', c.id,
                                                     (select l.label from wf.label_v l
                                                       where l.instance_id = p_instance and l.process_id = c.id),
                                                     c.state,
                                                     ', then ' || (select coalesce(n.title, n.label) from wf.node n
                                                                    where n.version_id = c.version_id
                                                                      and n.id = c.next_id)),
                                              ', ' order by c.rank) filter (where c.rank <= 5), '')
                       || case when count(c.id) > 5 then ' …' else '' end
                       || case when q.reserved is not null then format('; at most %s more rounds', q.todo)
                               when q.todo > 0 then format('; %s more to come', q.todo) else '' end
                       || case when q.waits then wf._say_steps(p_instance, q.id) else '' end,
                   q.at)::wf.reason
          from (select y.id, y.state, y.todo, y.at, y.reserved,
                       exists (select from wf.pending z
                                where z.instance_id = p_instance and z.parent_id = y.id and z.later) as begins,
                       exists (select from wf.dag_step z
                                where z.instance_id = p_instance and z.process_id = y.id and z.awaits is not null)
                       as waits
                  from unnest(p_process) u (id),
                       lateral (select x.id, x.state, x.todo, x.at, x.reserved from wf.process x
                                 where x.instance_id = p_instance and x.id = u.id offset 0) y) q
          left join (select x.parent_id, x.id, x.state, x.version_id, x.next_id,
                            row_number() over (partition by x.parent_id order by x.id) as rank
                       from unnest(wf._under_way(p_instance)) v (id),
                            lateral (select y.parent_id, y.id, y.state, y.version_id, y.next_id from wf.process y
                                      where y.instance_id = p_instance and y.id = v.id offset 0) x
                      where x.parent_id in (select u.id from unnest(p_process) u (id))) c on c.parent_id = q.id
         group by q.id, q.state, q.todo, q.at, q.reserved, q.begins, q.waits);
end;

-- wf._alive_below(p_instance, p_process)
--
-- Returns  of the first 1,000 processes of an instance that are in a place, those that are p_process or below it
-- Locks    nothing
-- Raises   nothing
-- Called   by _explain_teardown
create or replace function wf._alive_below(p_instance bigint, p_process bigint) returns setof bigint
language sql stable rows 10 set search_path = pg_catalog, pg_temp
begin atomic
    with recursive up (leaf, id) as (
        select a, a from wf._alive(p_instance, 0) a
         union all
        select u.leaf, x.parent_id
          from up u
         cross join lateral (select p.parent_id from wf.process p
                              where p.instance_id = p_instance and p.id = u.id offset 0) x
         where u.id <> p_process and x.parent_id is not null)
    select u.leaf from up u where u.id = p_process;
end;

-- wf._say_undo(p_instance, p_process)
--
-- Returns  how many undos are to come in a process that is torn down; an empty text if none
-- Locks    nothing
-- Raises   nothing
-- Called   by _explain_teardown
create or replace function wf._say_undo(p_instance bigint, p_process bigint) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select case when count(*) > 0 then format('; %s more to undo', count(*)) else '' end
      from wf._to_undo(p_instance, p_process, wf._winner(p_instance, p_process));
end;

-- wf._explain_teardown(p_instance, p_process)
--
-- Explains why processes are torn down, and which processes the teardown waits for. A task
-- that has not been told yet is not handed out.
--
-- Returns  the reasons of a process that is torn down, or of a queued task that is part
--          of the teardown
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_place and wf._explain_rest
create or replace function wf._explain_teardown(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array(
        select row(u.id, 'teardown',
                   case when t.root_id <> u.id
                        then format('it is torn down with process %s, and does not begin', t.root_id)
                        else 'it is torn down, since '
                             || (select format(f.why,
                                               (select n.line
                                                  from wf.process p
                                                  join wf.node n on n.version_id = p.version_id and n.id = d.node_id
                                                 where p.instance_id = p_instance and p.id = u.id),
                                               format('process %s (%s: %s)', d.error ->> 'process',
                                                      d.error ->> 'kind', d.error ->> 'message'))
                                   from wf._follows() f where f.follows = d.follows)
                             || coalesce('; it waits for ' || s.processes, '')
                             || case when d.undo then wf._say_undo(p_instance, u.id) else '' end
                             || case when d.next_id is not null then '; it goes on in portions' else '' end
                             || coalesce('; the next portion raised an error: '
                                         || (select w.error ->> 'message' from wf.work w
                                              where w.kind = 'teardown' and w.instance_id = p_instance
                                                and w.item_id = u.id and w.error is not null
                                              limit 1), '')
                   end,
                   d.at)::wf.reason
          from unnest(p_process) u (id)
         cross join lateral wf._torn(array[p_instance], array[u.id]) t
          join wf.teardown d on d.instance_id = p_instance and d.process_id = t.root_id
         cross join lateral (
               select string_agg(format('%s %s (%s)', p.id,
                                        (select l.label from wf.label_v l
                                          where l.instance_id = p_instance and l.process_id = p.id),
                                        p.state),
                                 ', ' order by a.id) filter (where a.k <= 5)
                      || case when count(*) > 5 then ' …' else '' end as processes
                 from (select x.id, row_number() over (order by x.id) as k
                         from wf._alive_below(p_instance, u.id) x (id)) a
                 join wf.process p on p.instance_id = p_instance and p.id = a.id) s
          left join lateral (select x.request from wf.ready x
                              where x.instance_id = p_instance and x.process_id = u.id offset 0) r on true
         -- composites, and tasks that are in the queue but are not handed out
         where t.root_id = u.id and r.request is null or r.request not in ('cancel', 'cleanup'));
end;

-- wf._explain_request(p_instance, p_process)
--
-- Returns  the reasons of processes that are with a driver
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_place
create or replace function wf._explain_request(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array_agg(row(l.process_id, 'request',
               format('its %s request is with driver %s', l.request, coalesce(d.name, '(unknown)'))
                   || case when d.state in ('live', 'draining') then ''
                           else format(', which is %s: it is taken back', coalesce(d.state, 'gone'))
                                || coalesce(format(' at %s, for it was lost before',
                                                   wf._say_time(wf._withheld_until(l.row, wf._now()))), '') end
                   || case when d.state in ('live', 'draining') and d.seen_at < wf._now() - interval '5 s'
                           then ', silent since ' || wf._say_time(d.seen_at) else '' end,
               l.at)::wf.reason)
      from unnest(p_process) u (id)
     cross join lateral (select x as row, x.process_id, x.request, x.driver_id, x.at from wf.lease x
                          where x.instance_id = p_instance and x.process_id = u.id offset 0) l
      left join (select x.id, x.name, x.state, y.seen_at
                   from wf.driver x join wf.sign_of_life y on y.driver_id = x.id) d on d.id = l.driver_id;
end;

-- Each function that tells of one kind of wait has a search_path, as in explain.sql: it is
-- planned only if a process waits for that.

-- wf._say_signal(p_instance, p_topic, p_name)
--
-- Returns  which signal a process of an instance waits for, and how it is sent
-- Locks    nothing
-- Raises   nothing
-- Called   by _explain_wait
create or replace function wf._say_signal(p_instance bigint, p_topic text, p_name text) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select case when starts_with(p_name, 'callback ')
                then format('waits for the %s; %s', p_name,
                            coalesce((select format('its token was made at %s by %s%s',
                                                    wf._say_time(c.made_at), c.made_by,
                                                    ', and says at '
                                                    || wf._say_time(c.progressed_at) || ': '
                                                    || left(c.progress::text, 200))
                                        from wf.callback c
                                       where c.instance_id = p_instance and wf._callback_name(c.name) = p_name
                                         and c.used_at is null),
                                     format('nobody has made a token for it: wf-console callback token %s %s does',
                                            p_instance, wf._say_word(substr(p_name, length('callback ') + 1)))))
                else format('waits for the signal %s%s; wf-console signal %s %s sends it', p_name,
                            ' of the topic ' || p_topic, coalesce('topic ' || wf._say_word(p_topic), p_instance::text),
                            wf._say_word(p_name)) end;
end;

-- wf._say_inside(p_instance)
--
-- Returns  what an instance itself waits for: the process in it that most needs somebody; null if none waits
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._say_child
create or replace function wf._say_inside(p_instance bigint) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select format(', in which %s%s since %s', l.label,
                  case when x.reason = 'failed' then ' has failed'
                       when t.kind = 'signal'
                       then format(' waits for the signal %s%s', t.name, ' of the topic ' || t.topic)
                       when t.awaits_id is not null then format(' waits for instance %s', t.awaits_id)
                       else format(' waits: %s', x.reason) end,
                  wf._say_time(x.since))
      from (select v.process_id, v.reason, v.since
              from wf._place_v v
             where v.instance_id = p_instance
               and v.reason in ('failed', 'set aside', 'signal', 'child', 'time', 'retry')
             order by array_position('{failed,set aside,signal,child,time,retry}', v.reason), v.process_id
             limit 1) x
      left join wf.timer t on t.instance_id = p_instance and t.process_id = x.process_id
      left join wf.label_v l on l.instance_id = p_instance and l.process_id = x.process_id;
end;

-- wf._say_child(p_instance, p_process, p_awaited)
--
-- Returns  which instance a process waits for, and what that instance does; or why it has not been started
-- Locks    nothing
-- Raises   nothing
-- Called   by _explain_wait
create or replace function wf._say_child(p_instance bigint, p_process bigint, p_awaited bigint) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select case when p_awaited is null
                then coalesce((select wf._say_who('its instance was suspended', s.actor, s.reason)
                                 from wf.suspended s where s.instance_id = p_instance),
                              'the instance that it waits for is about to be started or found')
                else coalesce((select format('waits for instance %s of workflow %s, %s since %s%s; wf-console explain '
                                             '%1$s says more', i.id, w.name, i.state,
                                             wf._say_time(i.at), wf._say_inside(i.id))
                                 from wf.instance i join wf.workflow w on w.id = i.workflow_id where i.id = p_awaited),
                              format('waits for instance %s, which was purged', p_awaited)) end;
end;

-- wf._say_input(p_instance, p_process)
--
-- Returns  whose answer a process of an instance waits for, since when and until when, and how it is given
-- Locks    nothing
-- Raises   nothing
-- Called   by _explain_wait
create or replace function wf._say_input(p_instance bigint, p_process bigint) returns text
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select format('waits since %s%s until %s answers: %s; wf-console answer %s does it',
                  wf._say_time(n.asked_at),
                  (select ' and at most until ' || wf._say_time(min(l.due_at))
                     from wf.time_limit l
                    where l.instance_id = p_instance and l.process_id = p_process and isfinite(l.due_at)),
                  coalesce(nullif(concat_ws(' or ', n.assignee, 'a member of ' || n.role), ''),
                           'whoever may signal the instance'), n.title, n.id)
      from wf.input n
     where n.instance_id = p_instance and n.process_id = p_process
     order by n.id desc
     limit 1;
end;

-- wf._explain_wait(p_instance, p_process, p_kind)
--
-- Returns  the reason of a process that waits for a signal, a callback, an answer or an instance
-- Locks    nothing
-- Raises   nothing
-- Called   by _explain_time
create or replace function wf._explain_wait(p_instance bigint, p_process bigint, p_kind text) returns wf.reason
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select row(t.process_id,
               case when t.kind = 'child' and t.awaits_id is null
                         and exists (select from wf.suspended s where s.instance_id = p_instance) then 'suspended'
                    when t.kind = 'signal' and starts_with(t.name, 'callback ') then 'callback'
                    else t.kind end,
               case t.kind when 'signal' then wf._say_signal(p_instance, t.topic, t.name)
                           when 'input' then wf._say_input(p_instance, t.process_id)
                           when 'child' then wf._say_child(p_instance, t.process_id, t.awaits_id) end,
               (select p.at from wf.process p where p.instance_id = p_instance and p.id = p_process))::wf.reason
      from wf.timer t
     where t.instance_id = p_instance and t.process_id = p_process and t.kind = p_kind;
end;

-- wf._explain_time(p_instance, p_process)
--
-- Returns  the reasons of processes that are due at a time, or wait for something to come
-- Locks    nothing
-- Raises   nothing
-- Called   by _explain_place
create or replace function wf._explain_time(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array_agg(case when t.kind in ('signal', 'input', 'child')
                          then wf._explain_wait(p_instance, t.process_id, t.kind)
                          else row(t.process_id, 'time',
                                   case t.kind when 'sleep' then 'waits until '
                                               else format('its next %s request is due at ', t.kind) end
                                       || wf._say_time(t.due_at)
                                       || case when t.failures > 0 then format(', after %s failures', t.failures)
                                               else '' end,
                                   (select p.at from wf.process p
                                     where p.instance_id = p_instance and p.id = t.process_id))::wf.reason end)
      from unnest(p_process) u (id),
           lateral (select x.process_id, x.kind, x.due_at, x.failures from wf.timer x
                     where x.instance_id = p_instance and x.process_id = u.id offset 0) t
     where (isfinite(t.due_at) or t.kind in ('signal', 'input', 'child')) and t.kind <> 'retry';
end;

-- wf._explain_work(p_instance, p_process)
--
-- Returns  the reasons of processes that raised an error when they were to be moved on
-- Called   by wf._explain_rest
create or replace function wf._explain_work(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array_agg(row(w.item_id, case when w.aside then 'set aside' else 'time' end,
               format('%s could not be carried out: %s',
                      case w.kind when 'timer' then 'what is due' when 'limit' then 'its end by a timeout'
                                  when 'child' then 'the start or the end of the instance that it waits for'
                                  else 'taking its request back' end,
                      w.error ->> 'message')
                   || case when w.aside
                           then format('; after %s tries an operator decides: retry, cancel or abort', w.tries)
                           else '; it is tried again at ' || wf._say_time(w.due_at) end,
               (select p.at from wf.process p where p.instance_id = p_instance and p.id = w.item_id))::wf.reason)
      from unnest(p_process) u (id),
           lateral (select x.* from wf.work x
                     where x.instance_id = p_instance and x.item_id = u.id
                       and (x.kind in ('timer', 'limit', 'loss') or x.kind = 'child' and x.error is not null)
                    offset 0) w;
end;

-- wf._explain_ready(p_instance, p_process)
--
-- Explains why no driver takes requests that are ready: no driver serves their lane,
-- or the engine is paused.
--
-- Returns  the reasons of these processes
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_rest
create or replace function wf._explain_ready(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array(
        select row(r.process_id, 'driver',
                   'no live driver serves ' || wf._lane_text(l)
                       || coalesce('; ' || wf._unfit(l), ''),
                   wf._ready_since(p_instance, r.process_id, r.turn))::wf.reason
          from unnest(p_process) u (id),
               lateral (select x.process_id, x.lane_id, x.turn from wf.ready x
                         where x.instance_id = p_instance and x.process_id = u.id offset 0) r,
               wf._find_lane(r.lane_id) l
         where not exists (select from wf._drivers_at_work() d where wf._serves(d, l))
         union all
        select row(r.process_id, 'paused', wf._say_who('the engine was paused', e.actor, e.reason), e.since)::wf.reason
          from unnest(p_process) u (id),
               lateral (select x.process_id from wf.ready x
                         where x.instance_id = p_instance and x.process_id = u.id offset 0) r,
               wf.engine_v e
         where e.state = 'PAUSED');
end;

-- wf._explain_stuck(p_instance, p_process)
--
-- Returns  the reasons of tasks that are in no place, so that nothing can move them on; wf.fsck finds them, too
-- Locks    nothing
-- Raises   nothing
-- Called   by wf._explain_rest
create or replace function wf._explain_stuck(p_instance bigint, p_process bigint[]) returns wf.reason[]
language sql stable set search_path = pg_catalog, pg_temp
begin atomic
    select array_agg(row(p.id, 'stuck', wf._say_stuck(p.state), p.at)::wf.reason)
      from unnest(p_process) u (id),
           lateral (select x.id, x.machine, x.state, x.at from wf.process x
                     where x.instance_id = p_instance and x.id = u.id offset 0) p
     where p.machine <> 'composite' and p.state not in ('END', 'RAISED', 'ABORTED')
       and not exists (select from wf._place_v x where x.instance_id = p_instance and x.process_id = p.id offset 0);
end;
