-- machines.sql - print the rows of wf.transition as Promela, for frame.pml and tree.pml:
--
--     psql -XqAt -v leaf=async -f machines.sql
--
-- names of machines, states and events; row(), which finds a move and says
-- what is besides it, or is an error if there is no such row; next_state(), as
-- wf._next_state; the moves that an operator, a driver or the time may make; and
-- all rows once more as a table in C.

create temp view move as
select t.*,
       'M_' || t.machine as m, 'S_' || coalesce(nullif(t.from_state, ''), 'new') as s, 'E_' || t.event as e, 'S_' || t.to_state as n
  from wf.transition t
 where t.machine in (:'leaf', 'composite', 'instance')
   and 'SCHEDULED' not in (t.from_state, t.to_state); -- then there are no processes

select format('#define LEAF M_%s', :'leaf');

select format('#define M_%s %s', x.machine, row_number() over (order by x.machine))
  from (select distinct s.machine from wf.machine_state s) x;

select '#define S_new 0'
 union all
select format('#define S_%s %s', x.state, row_number() over (order by x.state))
  from (select distinct s.state from wf.machine_state s) x;

select format('#define E_%s %s', x.event, row_number() over (order by x.event))
  from (select distinct t.event from wf.transition t) x;

-- requests; a sleep is a kind of timer only
select format('#define R_%s %s', x.request, x.k)
  from (values ('none', 0), ('start', 1), ('poll', 2), ('cancel', 3), ('cleanup', 4), ('sleep', 5)) x (request, k);

select '#define TERMINAL(s) (' || string_agg(distinct format('s == S_%s', s.state), ' || ') || ')'
  from wf.machine_state s
 where s.terminal;

-- row(machine, from, event, to)
select 'inline row(a_m, a_s, a_e, a_n) {
    if';
select format('    :: a_m == %s && a_s == %s && a_e == %s && a_n == %s -> row_ends = %s; row_frees = %s; row_asks = %s',
              m.m, m.s, m.e, m.n, m.ends_request::int, m.frees_slot::int, coalesce('R_' || m.asks, 'R_none'))
  from move m
 order by m.machine, m.from_state, m.event, m.to_state;
select '    :: else -> assert(false) /* an illegal move */
    fi
}';

-- next_state(machine, from, event, stays, variable for to)
select 'inline next_state(a_m, a_s, a_e, a_stays, a_n) {
    if';
select format('    :: a_m == %s && a_s == %s && a_e == %s -> a_n = (a_stays -> %s : %s)', m.m, m.s, m.e,
              (array_agg(m.n order by m.to_state = m.from_state desc, m.to_state))[1],
              (array_agg(m.n order by m.to_state = m.from_state, m.to_state))[1])
  from move m
 group by m.m, m.s, m.e
 order by m.m, m.s, m.e;
select '    :: else -> a_n = S_new
    fi
}';

-- The moves that others than the workspace may make; IS(x, m) says whether x has the
-- machine m, FREE(x) whether an operator is not refused. The event undo is what wf.raise makes of the event raise.
-- DRIVER_LEAF is all that can come of a task, whoever reports it; a wait begins so, too.
select format(E'#define %s(x) \\\n', k.name)
       || string_agg(format('    :: st[x] == %s && IS(x, %s)%s%s && (!COSTS(%s) || may) -> act = A_move; q = x; ev = %s; to = %s; pay(COSTS(%s))', m.s, m.m,
                           case when m.event = 'retry' and m.from_state = 'INIT' and m.machine <> 'composite' then ' && rest[x]' else '' end,
                           case when k.actor = 'O' then ' && FREE(x)' else '' end, m.e, m.e, m.n, m.e),
                     E' \\\n' order by m.from_state, m.event, m.to_state)
  from (values ('OPERATOR_LEAF', :'leaf', 'O', null),
               ('OPERATOR_COMPOSITE', 'composite', 'O', null),
               ('TIME_LEAF', :'leaf', 'T', 'timeout'),
               ('DRIVER_LEAF', :'leaf', 'D', null)) k (name, machine, actor, event)
  join move m on m.machine = k.machine and m.event = coalesce(k.event, m.event)
             and case when k.actor = 'D' then (m.actor in ('D', 'T') or m.event = 'begin') and m.from_state <> m.to_state
                      else strpos(m.actor, k.actor) > 0 and m.event <> 'undo' end
 group by k.name;

select 'c_decl {
static const unsigned char rows[][4] = { /* machine, from, event, to */';
select format('    {%s, %s, %s, %s},', m.m, m.s, m.e, m.n) from move m order by m.machine, m.from_state, m.event, m.to_state;
select '};
}';
