-- Prints docs/states.md from an installed workspace: psql -XqAtf docs/print/states.sql
\set ON_ERROR_STOP on
set client_encoding = 'UTF8';

with machine (place, name, title, about) as (
    values (1, 'sync', 'Synchronous tasks', 'A driver carries out one request and reports what came of it.'),
           (2, 'async', 'Asynchronous tasks', 'A request starts something outside; later requests ask how it is, cancel it, release it. Any driver can go on with it. A state in which a type has no request to make is passed through at once.'),
           (3, 'wait', 'Waits', 'The workspace itself waits; no driver is needed.'),
           (4, 'child', 'Waits for instances', 'The workspace waits until another instance has ended, which the task may have started (`wf.Start`, `wf.WaitInstance`).'),
           (5, 'composite', 'Composites', 'What holds tasks together: calls, and the forms of the language.'),
           (6, 'instance', 'Instances', 'A started workflow.')
), state as (
    select s.machine,
           string_agg(format('| %s | %s | %s |', s.state, case when s.terminal then 'yes' else '' end, s.meaning), E'\n'
                      order by s.terminal, s.state collate "C") as rows
      from wf.machine_state s
     group by s.machine
), move as (
    select t.machine,
           string_agg(format('| %s | %s | %s | %s | %s | %s |', coalesce(nullif(t.from_state, ''), '(new)'), t.event, t.to_state, t.actor,
                             concat_ws(', ', case when not t.recorded then 'not in the history' end, case when t.ends_request then 'ends the request' end,
                                       case when t.frees_slot then 'frees its place' end, 'asks for ' || t.asks), t.meaning), E'\n'
                      order by t.from_state collate "C", t.event collate "C", t.to_state collate "C") as rows
      from wf.transition t
     group by t.machine
), arrow as (
    -- bookkeeping that changes no state is left out of the picture
    select t.machine, t.from_state, t.to_state, string_agg(t.event, ', ' order by t.event collate "C") as events
      from wf.transition t
     where t.recorded or t.from_state <> t.to_state
     group by t.machine, t.from_state, t.to_state
), diagram as (
    select a.machine,
           string_agg(format('    %s --> %s: %s', coalesce(nullif(a.from_state, ''), '[*]'), a.to_state, a.events), E'\n'
                      order by a.from_state collate "C", a.to_state collate "C")
               || E'\n' || (select string_agg(format('    %s --> [*]', s.state), E'\n' order by s.state collate "C")
                              from wf.machine_state s
                             where s.machine = a.machine and s.terminal) as rows
      from arrow a
     group by a.machine
)
select E'# The state machines\n\n'
    || E'This page is printed from `wf.machine_state` and `wf.transition`. The triggers refuse every move that is not listed here, also one by a hand-written UPDATE. Nothing moves on from a final state.\n\n'
    || E'The column *who* says who causes the move: D a driver, O an operator, W the workspace, T the time; OW is the workspace or an operator. [operating.md](operating.md#something-has-failed) has a simpler picture for operators.\n\n'
    || string_agg(format(E'## %s\n%s\n\n| state | final | meaning |\n|---|---|---|\n%s\n\n| from | event | to | who | side effects | meaning |\n|---|---|---|---|---|---|\n%s\n\n```mermaid\nstateDiagram-v2\n%s\n```',
                         m.title, m.about, s.rows, v.rows, d.rows), E'\n\n' order by m.place)
  from machine m
  join state s on s.machine = m.name
  join move v on v.machine = m.name
  join diagram d on d.machine = m.name;
