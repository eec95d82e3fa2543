-- Streamed output: what a task's program writes, while it runs.

-- wf.output_add(p_instance, p_process, p_token, p_start, p_size, p_stream, p_body)
--
-- Keeps new output of requests under way that drivers of this login hold, in parallel
-- arrays. A chunk that is sent again changes nothing. Of a long output the oldest chunks
-- are deleted. While the caller's transaction is open nobody takes the requests back: so no
-- output comes to an instance that has ended meanwhile and was purged.
--
-- Returns  one row per chunk: its token and done, or stale if its lease is gone or another login's
-- Locks    the leases (for key share), the rows of wf.output_chunk; no instance
-- Raises   WF002 arrays of different lengths, WF006
-- Called   by drivers, before outcome in the same transaction
create or replace function wf.output_add(
    p_instance bigint[], p_process bigint[], p_token uuid[], p_start bigint[], p_size bigint[], p_stream text[],
    p_body text[])
returns table (token uuid, answer text)
language plpgsql security definer :engine as $$
declare
    v_cap bigint := wf._setting_number('output_bytes');
begin
    perform wf._gate(true);
    if exists (select
                 from unnest(array[cardinality(p_process), cardinality(p_token), cardinality(p_start),
                                   cardinality(p_size), cardinality(p_stream), cardinality(p_body)]) n
                where n is distinct from cardinality(p_instance)) then
        raise exception using errcode = 'WF002', message = 'the arrays given to output_add differ in length',
            hint = 'Give one instance, process, token, start, size, stream and body for each chunk.';
    end if;
    with added as (
        insert into wf.output_chunk as c (instance_id, process_id, attempt, start, size, stream, at, body)
        select r.i, r.j, p.attempt, r.start, r.size, r.stream, wf.now(), r.body
          from unnest(p_instance, p_process, p_token, p_start, p_size, p_stream, p_body)
                   r (i, j, token, start, size, stream, body)
         cross join lateral (select
                               from wf.lease x
                               join wf.driver d on d.id = x.driver_id and d.login = wf._login()
                              where x.instance_id = r.i and x.process_id = r.j and x.token = r.token
                                for key share of x) l
         cross join lateral (select x.attempt from wf.process x where x.instance_id = r.i and x.id = r.j offset 0) p
            on conflict do nothing
        returning c.instance_id, c.process_id, c.attempt, c.start, c.size),
    ends as (
        select a.instance_id, a.process_id, a.attempt, max(a.start + a.size) - v_cap as before
          from added a group by a.instance_id, a.process_id, a.attempt having max(a.start + a.size) > v_cap)
    delete from wf.output_chunk c
     where c.ctid = any (array(select x.ctid from ends e
                                cross join lateral (select y.ctid from wf.output_chunk y
                                                     where y.instance_id = e.instance_id
                                                       and y.process_id = e.process_id
                                                       and y.attempt = e.attempt
                                                       and y.start < e.before
                                                       and y.start + y.size <= e.before
                                                    offset 0) x));
    return query
    select r.token, case when l.token is not null then 'done' else 'stale' end
      from unnest(p_instance, p_process, p_token) with ordinality r (i, j, token, k)
      left join lateral (select x.token
                           from wf.lease x
                           join wf.driver d on d.id = x.driver_id and d.login = wf._login()
                          where x.instance_id = r.i and x.process_id = r.j and x.token = r.token
                         offset 0) l on true
     order by r.k;
end;
$$;
comment on function wf.output_add(bigint[], bigint[], uuid[], bigint[], bigint[], text[], text[]) is
    'Keeps new output of requests under way: parallel arrays of instance, process, token, start and size in bytes of '
    'the attempt''s output, stream (stdout, stderr) and body. Returns token and answer (done, stale) for each; raises '
    'WF002 if the arrays differ in length.';

create or replace view wf.output_v with (security_barrier = true) as
select c.instance_id,
       c.process_id,
       coalesce(p.policy ->> 'title', n.title, n.label) || coalesce(' [' || s.index || ']', '') as label,
       c.attempt,
       c.start,
       c.size,
       c.stream,
       c.at,
       c.start - coalesce(lag(c.start + c.size) over (partition by c.instance_id, c.process_id, c.attempt
                                                      order by c.start), 0) as dropped,
       c.body
  from wf.output_chunk c
  join wf.process p on p.instance_id = c.instance_id and p.id = c.process_id
  left join wf.process s on s.instance_id = p.instance_id and s.id = p.scopes[cardinality(p.scopes)]
  join wf.node n on n.version_id = p.version_id and n.id = p.node_id;
comment on view wf.output_v is 'The output of the programs of tasks, as it came; of a long output only the end.';
comment on column wf.output_v.instance_id is 'the instance';
comment on column wf.output_v.process_id is 'the task';
comment on column wf.output_v.label is 'the label of the task, as in label_v';
comment on column wf.output_v.attempt is 'the attempt';
comment on column wf.output_v.start is 'how many bytes of the attempt''s output came before';
comment on column wf.output_v.size is 'how many bytes the chunk had';
comment on column wf.output_v.stream is 'stdout or stderr';
comment on column wf.output_v.at is 'when it arrived';
comment on column wf.output_v.dropped is 'how many bytes right before the chunk were dropped';
comment on column wf.output_v.body is 'the text; bytes that are not text became U+FFFD';
