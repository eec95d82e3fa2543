/*
 * actors.pml - one transaction of the workspace, what always holds after it, and who
 * makes transactions: drivers, operators, polls and the time.
 */
c_code {
static void operate(int p, int e, int s) {
    if ((e == E_ignore || e == E_skip) && p != 0) now.unnoted[p] = 1;
    if (e == E_raise && COMPOSITE(p) && next_note(p) != NIL) { e = E_undo; s = S_ABORTING; }
    update_one(p, e, s);
}

/* ranks without gaps, and nothing of what has ended: states that mean the same are the same */
static void tidy(unsigned char *rank) {
    for (int k = 1; k <= NODES; k++) {
        int next = NIL;
        for (int c = 0; c < NODES; c++) if (rank[c] >= k && (next == NIL || rank[c] < rank[next])) next = c;
        if (next == NIL) return;
        rank[next] = k;
    }
}

static void check(void) {
    for (int p = 0; p < NODES; p++) {
        int live = 0, r = torn(p, 0), s = now.st[p];
        must(!now.follows[p] || is_live(p), "a teardown of what has ended");
        must(!now.limit[p] || s == S_ACTIVE || s == S_INIT, "a deadline of what is not under way");
        if (in_a_place(p) && r != NIL && now.cursor[r] == DONE)
            must(s == S_ABORT_REQUESTED || s == S_ABORT_CLEANUP_REQUESTED || s == S_RAISE_CLEANUP_REQUESTED,
                 "a teardown has left something out");
        if (s == S_RAISED && p == 0) must(now.inst == S_ABORTED, "the error of the root has not ended the instance");
        if (!COMPOSITE(p) || s != S_ACTIVE && s != S_ABORTING) continue;
        for (int c = 0; c < NODES; c++) live += is_live(c) && parent(c) == p;
        must(live == now.open[p] && live > 0, "a parent counts wrong");
    }
    must((now.inst == S_END || now.inst == S_ABORTED) == is_terminal(now.st[0]), "an instance is not as its root is");
}

static void transaction(void) {
    const unsigned char p = now.q, root = 0, none = NIL;
    unsigned due = 0;
    broken = 0;
    switch (now.act) {
    case A_begin:
        for (int c = 0; c < NODES; c++) machine[c] = MACHINE(c);
        instance_moves(E_start, S_RUNNING); enter(&root, &none, 1, -1);
        break;
    case A_move: operate(p, now.ev, now.to); break;
    case A_abort: abort_instance(E_abort, 1, now.undone); break;
    case A_halt: abort_instance(E_halt, 1, 0); break;
    case A_tear: tear(&p, 1); break;
    case A_due: update_one(p, E_due, S_ACTIVE); break;
    case A_expire: /* alone, or with what else was over */
        for (int c = 0; c < NODES; c++) if (now.picked[c] && (c == p || now.again)) due |= BIT(c);
        time_out(due);
        break;
    }
    check();
    for (int c = 0; c < NODES; c++) {
        if (!is_live(c)) now.open[c] = now.spare[c] = now.chosen[c] = now.fins[c] = now.result[c] = now.todo[c] = now.unnoted[c] = 0;
        now.below[c] = is_live(c) && torn(c, 0) != NIL;
    }
    tidy(now.note);
    tidy(now.did);
}
}

inline commit() {
    d_step {
        c_code { transaction(); };
        act = 0; q = 0; ev = 0; to = 0; bad = 0; again = 0; undone = 0
    }
}

inline luck() {
    if :: bad = 0 :: may -> bad = 1; pay(1) fi;
    if :: again = 0 :: may -> again = 1; pay(1) fi
}

active [NODES] proctype node() {
    byte p = _pid;
end:
    do
    :: atomic {
            if
            DRIVER_LEAF(p)
            OPERATOR_LEAF(p)
            OPERATOR_COMPOSITE(p)
            :: st[p] == S_INIT && IS(p, M_composite) -> act = A_due; q = p
#ifndef IDLE
            :: follows[p] && cursor[p] != DONE -> act = A_tear; q = p
#endif
            :: picked[p] -> act = A_expire; q = p
            fi;
            luck();
            commit()
        }
    :: d_step { limit[p] == 1 && !picked[p] && may -> pay(1); picked[p] = 1 }
    od
}

active proctype operator() {
    atomic {
        act = A_begin;
        luck();
        commit()
    }
end:
    do
    :: atomic {
            if
            :: (inst == S_RUNNING || inst == S_SUSPENDED) && may -> pay(1); act = A_abort; if :: undone = 0 :: undone = 1 fi
#ifdef HALT
            :: (inst == S_RUNNING || inst == S_SUSPENDED || inst == S_ABORTING) && may -> pay(1); act = A_halt
#endif
            fi;
            commit()
        }
    od
}

/* nobody can do anything any more: then it is over */
active proctype watch() {
end:
    timeout -> assert(OVER)
}

#ifdef BUDGET
ltl ends { <> OVER }
#endif
