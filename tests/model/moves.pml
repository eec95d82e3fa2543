/*
 * moves.pml - what the workspace does: the functions of code/flow and code/task that
 * tree.pml names, by the same names. They change the state in tree.pml.
 */
c_code {
/* code/flow/undo.sql */

static void note_undo(int p) {
    int most = 0;
    for (int c = 0; c < NODES; c++) if (now.note[c] > most) most = now.note[c];
    now.note[p] = most + 1;
}
static void forget_notes(int p) {
    int before = now.note[p];
    for (int c = 0; c < NODES; c++)
        if (now.note[c] && inside(c, p) && (!before || now.note[c] < before)) now.note[c] = 0;
}
static int winner(int p) {
    return now.follows[p] == F_lost && now.chosen[p] && now.st[now.chosen[p] - 1] == S_END ? now.chosen[p] - 1 : NIL;
}
static int next_note(int p) {
    int found = NIL, won = winner(p);
    for (int c = 0; c < NODES; c++) {
        int counts = now.note[c] && inside(c, p) && c != won && (won == NIL || !inside(c, won));
        for (int y = 0; y < NODES && counts; y++)
            if (now.note[y] > now.note[c] && inside(c, y)) counts = 0;
#ifdef FIRST_NOTE
        if (counts && (found == NIL || now.note[c] < now.note[found])) found = c;
#else
        if (counts && (found == NIL || now.note[c] > now.note[found])) found = c;
#endif
    }
    return found;
}
static int when_stopped(int p) {
    if (now.follows[p] && now.undoes[p] && next_note(p) != NIL) return E_undo;
    return now.follows[p] == F_lost ? E_end : now.follows[p] == F_failed ? E_fail : E_aborted;
}
static int state_of_stopped(int e) {
    return e == E_end ? S_END : e == E_fail ? S_FAILED : e == E_aborted ? S_ABORTED : S_ABORTING;
}
static void note_ended(const Move *m) {
    int p = m->p;
    if (!is_noted(p) || now.unnoted[p]) return;
    if (undo_of(p) == NIL || m->to == S_END && COMPOSITE(p)) forget_notes(p);
    if (m->to == S_END && KIND(p) != K_undo && p != 0) note_undo(p);
}
static int undo_failed(unsigned set) {
    Move m[NODES];
    int n = 0;
    BY_ID(p)
        if ((set & BIT(p)) && COMPOSITE(p) && (now.st[p] == S_FAILED || now.st[p] == S_ABORTING)
            && now.open[p] == 0 && when_stopped(p) == E_undo)
            m[n++] = (Move){p, now.st[p], E_undo, S_ABORTING};
    for (int k = 0; k < n; k++) now.open[m[k].p] = 1;
    if (n > 0) updated(m, n);
    return n > 0;
}

/* code/flow/teardown.sql */

static void mark_torn(unsigned set) {
    Move m[NODES];
    int n = 0;
    BY_ID(p)
        if ((set & BIT(p)) && now.st[p] == S_ACTIVE && COMPOSITE(p))
            m[n++] = (Move){p, S_ACTIVE, E_abort, S_ABORTING};
#ifdef FORGET_LAST
    for (int k = 0; k < n; k++) now.todo[m[k].p] = 0;
#endif
    if (n > 0) updated(m, n);
}

static void tear_down(unsigned roots, int what, int is_sure, int with_undo) {
    unsigned absorbed = 0;
    for (int t = 0; t < NODES; t++)
        for (int p = t; now.follows[t] && p != NIL; p = parent(p)) {
            if (roots & BIT(p)) { absorbed |= BIT(t); break; }
            if (is_shelter(p) && what != F_halted) break;
        }
    for (int t = 0; t < NODES; t++) if (absorbed & BIT(t)) now.follows[t] = now.cursor[t] = now.sure[t] = now.undoes[t] = 0;
    for (int t = 0; t < NODES; t++)
        if (roots & BIT(t)) {
            now.follows[t] = what; now.cursor[t] = 0; now.sure[t] = is_sure;
            now.undoes[t] = with_undo || what == F_handled || what == F_left || what == F_lost;
        }
    mark_torn(torn_around_all(absorbed));
}

static void stop(unsigned set) {
    Move m[NODES];
    int n = 0, all = 0;
    for (int t = 0; t < NODES; t++) if (now.follows[t] == F_aborted || now.follows[t] == F_halted) all = 1;
    BY_ID(p) {
        int s = now.st[p];
        if ((set & BIT(p)) && s != S_ACTIVE && s != S_ABORTING && next_state(MACHINE(p), s, E_abort, 0) != S_new
            && (s != S_RAISE_CLEANUP_REQUESTED || all))
            m[n++] = (Move){p, s, E_abort, next_state(MACHINE(p), s, E_abort, 0)};
    }
    if (n > 0) updated(m, n);
}

static void halt_now(unsigned set) {
    Move m[NODES];
    int n = 0;
    if (!is_halted()) return;
    BY_ID(p)
        if ((set & BIT(p)) && (now.st[p] == S_ABORT_REQUESTED || now.st[p] == S_ABORT_CLEANUP_REQUESTED))
            m[n++] = (Move){p, now.st[p], E_halt, S_ABORTED};
    if (n > 0) updated(m, n);
}

static void tear(const unsigned char *root, int roots) {
    unsigned alive = 0, stops = 0;
    for (int k = 0; k < roots; k++) {
        int r = root[k], n = 0, last = 0;
        if (!now.follows[r] || now.cursor[r] == DONE) continue;
        for (int after = now.cursor[r]; n < PORTION; n++) { /* wf._alive */
            int p = NIL;
            for (int c = 0; c < NODES; c++)
                if (in_a_place(c) && ID(c) > after && (p == NIL || ID(c) < ID(p))) p = c;
            if (p == NIL) break;
            alive |= BIT(p);
            after = last = ID(p);
        }
        now.cursor[r] = n >= PORTION ? last : !now.sure[r] ? 0 : DONE;
        now.sure[r] = now.sure[r] || n < PORTION;
    }
    for (int p = 0; p < NODES; p++) if ((alive & BIT(p)) && torn(p, 0) != NIL) stops |= BIT(p);
    mark_torn(torn_around_all(alive));
    undo_failed(stops);
    stop(stops);
    halt_now(stops);
}

/* which of those that are about to begin may */
static int withhold(const unsigned char *node, const unsigned char *up, int n, unsigned char *may_begin) {
    Move m[NODES];
    unsigned held = 0, path = 0;
    int moves = 0, left = 0;
    for (int k = 0; k < n; k++) {
        int shelters = 0, r = torn(up[k], 0);
        if (r == NIL) continue;
        for (int j = 0; j < n; j++) if (up[j] == up[k] && is_shelter(node[j])) shelters = 1;
        if (is_halted() || !shelters) { held |= BIT(up[k]); torn(up[k], &path); }
    }
#ifdef BORN_BELOW
    held = path = 0;
#endif
    if (held) {
        mark_torn(path);
        BY_ID(p)
            if (held & BIT(p)) {
                int e = 0, count = 0;
                for (int k = 0; k < n; k++) count += up[k] == p;
                if (now.open[p] <= count) e = when_stopped(p);
                now.open[p] += (e == E_undo) - count;
                m[moves++] = (Move){p, now.st[p], e ? e : E_count, state_of_stopped(e)};
            }
        updated(m, moves);
    }
    for (int k = 0; k < n; k++) if (!(held & BIT(up[k]))) may_begin[left++] = node[k];
    return left;
}

/* code/flow/compose.sql */

static void enter(const unsigned char *node, const unsigned char *up, int n, int is_torn) {
    unsigned char born[NODES];
    for (int k = 0; k < n; k++) born[k] = node[k];
    if (is_torn < 0) is_torn = any_teardown();
    if (is_torn) n = withhold(node, up, n, born);
    for (int k = 0; k < n; k++) {
        int p = born[k];
        must(!is_live(p), "it is there already");
        if (KIND(p) == K_undo) for (int j = 0; ; j++) if (node[j] == p) { now.under[p] = up[j] + 1; break; }
        for (int c = 0; c < NODES; c++) /* former processes of these nodes */
            if (inside(c, p)) { must(!is_live(c) && !now.note[c], "of a former round"); now.st[c] = S_new; }
        must(!now.note[p] && !now.follows[p], "of a former round");
        now.open[p] = children_at_once(p);
        now.todo[p] = child_of_kind(p, K_finally) != NIL;
        now.spare[p] = KIND(p) == K_race ? now.open[p] - 1 : 0;
        now.chosen[p] = now.unnoted[p] = now.gave[p] = now.fins[p] = now.result[p] = now.did[p] = 0;
        proof_of_birth(p);
    }
    for (int k = 0; k < n; k++) {
        now.st[born[k]] = COMPOSITE(born[k]) ? S_ACTIVE : S_INIT;
        legal(MACHINE(born[k]), S_new, COMPOSITE(born[k]) ? E_enter : E_enable, now.st[born[k]]);
    }
    if (n > 0) inserted(born, n);
}

/* a move of something that is entered, with nothing in it or with children to begin */
static void unfold(const unsigned char *p, int n) {
    Move m[NODES];
    unsigned char node[NODES], up[NODES];
    int moves = 0, children = 0;
    for (int k = 0; k < n; k++) {
        if (!COMPOSITE(p[k])) continue;
        if (now.open[p[k]] == 0) { m[moves++] = (Move){p[k], S_ACTIVE, E_end, S_END}; continue; }
        for (int c = 0; c < NODES; c++)
            if (tree[c].up == p[k] && KIND(c) != K_undo
                && (KIND(p[k]) == K_par || KIND(p[k]) == K_race || c == first_child(p[k]))) {
                node[children] = c; up[children++] = p[k];
            }
    }
    if (moves > 0) updated(m, moves);
    if (children > 0) enter(node, up, children, -1);
}

static void keep_limit(int p) {
    if (!(tree[p].flags & F_timed)) return;
#ifdef KEEP_LIMITS
    if (is_terminal(now.st[p])) return;
#endif
    now.limit[p] = now.st[p] == S_INIT || now.st[p] == S_ACTIVE; /* one that stood goes on */
}

static void inserted(const unsigned char *born, int n) {
    Move m[NODES];
    int fail = 0;
    for (int k = 0; k < n; k++) if (!COMPOSITE(born[k]) && now.bad) broken |= BIT(born[k]);
    for (int k = 0; k < n; k++) keep_limit(born[k]);
    unfold(born, n);
    for (int k = 0; k < n; k++)
        if (broken & BIT(born[k])) { m[fail++] = (Move){born[k], now.st[born[k]], E_fail, S_FAILED}; broken &= ~BIT(born[k]); }
    if (fail > 0) updated(m, fail);
}

static void reenter(int p) {
    for (int c = 0; c < NODES; c++) if (inside(c, p)) now.gave[c] = 0;
    forget_notes(p); forget_done(p);
    now.open[p] = children_at_once(p);
    now.todo[p] = 0;
    now.spare[p] = KIND(p) == K_race ? now.open[p] - 1 : 0;
    update_one(p, E_enter, S_ACTIVE);
}

static int is_given_up(int p) { return now.follows[p] == F_left; }

static void count_ended(const Move *moved, int n) {
    Move m[NODES];
    unsigned ups = 0;
    int moves = 0;
    for (int k = 0; k < n; k++) ups |= BIT(parent(moved[k].p));
    BY_ID(p) {
        int all = 0, ended = 0, won = NIL, e = 0, ev, to;
        if (!(ups & BIT(p))) continue;
        for (int k = 0; k < n; k++) {
            int c = moved[k].p;
            if (parent(c) != p) continue;
            all++;
            ended += moved[k].to == S_END || is_given_up(c);
            if (moved[k].to == S_END && c < won) won = c;
        }
        if (now.st[p] == S_ABORTING) ended = all;
#ifdef LATER_WINNER
        if (KIND(p) != K_race) won = NIL;
#else
        if (KIND(p) != K_race || now.st[p] != S_ACTIVE) won = NIL;
#endif
        if (ended == 0) continue;
        if (now.st[p] == S_ABORTING && now.open[p] <= all && !now.todo[p]) e = when_stopped(p);
        if (now.todo[p]) { ev = E_refill; to = now.st[p]; }
        else if (now.st[p] == S_ABORTING) { ev = e ? e : E_count; to = state_of_stopped(e); }
        else if (won != NIL) { ev = E_win; to = S_ABORTING; }
        else if (now.open[p] - ended == 0) { ev = E_end; to = S_END; }
        else { ev = E_count; to = now.st[p]; }
        now.open[p] += (now.todo[p] ? 1 : 0) + (e == E_undo) - ended;
#ifdef TWICE
        if (now.st[p] != S_ABORTING)
#endif
        now.todo[p] = 0;
        if (won != NIL) now.chosen[p] = won + 1;
        m[moves++] = (Move){p, now.st[p], ev, to};
    }
    if (moves > 0) updated(m, moves);
}

/* code/flow/again.sql */
static void wait_for_round(int body) {
    int p = parent(body);
    forget_notes(p); forget_done(p);
    update_one(p, E_retry, S_INIT);
}

static void end_teardowns(const Move *m, int n) {
    unsigned char ended[NODES], was[NODES], node[NODES], up[NODES];
    int k, count = 0, catches = 0;
    for (k = 0; k < n; k++) {
        int p = m[k].p;
        if (!is_terminal(m[k].to) || !now.follows[p]) continue;
        nothing_inside(p);
        ended[count] = p; was[count++] = now.follows[p];
        now.follows[p] = now.cursor[p] = now.sure[p] = now.undoes[p] = 0;
    }
    for (k = 0; k < count; k++)
        if (was[k] == F_handled) { up[catches] = parent(ended[k]); node[catches] = child_of_kind(up[catches], K_catch); catches++; }
    if (catches > 0) enter(node, up, catches, -1);
    for (k = 0; k < count; k++) if (was[k] == F_again) wait_for_round(ended[k]);
}

static void abort_instance(int e, int is_sure, int with_undo) {
    const unsigned char root = 0;
    int to = next_state(M_instance, now.inst, e, 0);
    if (to == S_new) return;
    instance_moves(e, to);
    tear_down(BIT(0), e == E_halt ? F_halted : F_aborted, is_sure, with_undo);
    mark_torn(BIT(0));
    tear(&root, 1);
}

/* code/flow/handler.sql, code/flow/finally.sql, code/flow/given_up.sql */

/* what else runs in the finallys and undos between p and the body begins to be torn down */
static int leave_finallys(int p, int body, unsigned char *left) {
    unsigned set = 0;
    int n = 0;
    for (; p != NIL; p = parent(p)) {
        if (is_shelter(p)) { set |= BIT(p); left[n++] = p; }
        if (p == body) break;
    }
    if (n > 0) tear_down(set, F_stopped, 0, 0);
    return n;
}

static int search(int p, int *around, int *body) {
    int any = any_teardown(), h = handler(p);
    *around = p; *body = NIL;
    while (h != NIL) {
        int found = 0;
        while (*around != h) { *body = *around; *around = parent(*around); }
        if (!any || torn(*around, 0) == NIL) {
            if (tree[h].flags & F_retries) found = now.again ? F_again : 0;
            else if (KIND(h) == K_race) found = now.spare[h] > 0 && now.spare[h] != DONE || is_given_up(*body) ? F_left : 0;
#ifndef UNCAUGHT
            else found = F_handled;
#endif
        }
        if (found) return found;
        *body = NIL;
        h = handler(h);
    }
    return 0;
}

static void give_up_child(int around, int child) {
    if (now.gave[child]) return;
    now.gave[child] = 1;
    now.spare[around] = now.spare[around] == DONE ? DONE : now.spare[around] - 1;
    update_one(around, E_count, now.st[around]);
}

static void hand_over(int p, int around, int body, int what) {
    unsigned char roots[NODES + 1];
    int n, was = now.st[p], stopped = 0;
    tear_down(BIT(body), what, 0, 0);
    roots[0] = body;
    n = 1 + leave_finallys(p, body, roots + 1);
    mark_torn(torn_around(p));
    if (what == F_left) give_up_child(around, body);
    if (was == S_FAILED || was == S_ABORTING) {
        if (p == body) stopped = undo_failed(BIT(p));
        if (!stopped) update_one(p, E_raise, next_state(MACHINE(p), now.st[p], E_raise, 0));
    }
    if (body != p) tear(roots, n);
    else if (now.follows[body]) { now.cursor[body] = DONE; now.sure[body] = 1; }
}

static void end_by(int p) {
    unsigned char roots[NODES];
    int n;
    if (now.inst == S_ABORTING) instance_moves(E_raise, S_ABORTING);
    abort_instance(E_abort, 0, 0);
    n = leave_finallys(p, NIL, roots);
    mark_torn(torn_around(p));
    tear(roots, n);
}

static void handle(const Move *m, int n) {
    int k, p, around, body, what;
    for (k = 0; k < n; k++) /* what was in these has stopped */
        if (m[k].was == S_ABORTING && m[k].to == S_FAILED) {
            p = m[k].p;
            now.follows[p] = now.cursor[p] = now.sure[p] = now.undoes[p] = 0;
        }
    for (k = 0; k < n; k++) {
        p = m[k].p;
        if (now.st[p] != m[k].to || last_event[p] != m[k].ev) continue; /* it was moved on */
        if (torn(p, 0) != NIL) {
            unsigned path = 0;
            torn(p, &path);
            mark_torn(path);
            stop(BIT(p));
            continue;
        }
        what = search(p, &around, &body);
        if (now.st[p] == S_ABORTING && body != p) update_one(p, E_raise, S_RAISED);
        else if (what) hand_over(p, around, body, what);
        else if (now.st[p] == S_RAISED) end_by(p);
    }
}

static void win(const Move *m, int n) {
    Move ends[NODES];
    unsigned char races[NODES];
    unsigned won = 0, lost = 0, roots = 0;
    int k, count = 0, moves = 0;
    for (k = 0; k < n; k++) if (torn(m[k].p, &lost) == NIL) won |= BIT(m[k].p);
#ifndef UNMARKED
    mark_torn(lost);
#endif
    for (k = 0; k < n; k++) {
        int p = m[k].p, first = NIL, more = now.open[p] > 0;
        if (!(won & BIT(p))) continue;
        for (int c = NODES - 1; c >= 0; c--) if (tree[c].up == p && now.st[c] == S_END) first = c;
        must(!now.result[p] || now.result[p] == first + 1, "the result of the winner is not kept");
        now.result[p] = first + 1;
        for (int c = 0; c < NODES; c++) if (now.note[c] && inside(c, p)) more = 1;
        if (more) { roots |= BIT(p); races[count++] = p; }
    }
#ifdef LOSERS_RUN
    count = 0;
#endif
    if (count > 0) { tear_down(roots, F_lost, 0, 0); tear(races, count); }
    for (k = 0; k < n; k++) {
        int p = m[k].p, e = !(won & BIT(p)) ? E_aborted : when_stopped(p) == E_undo ? E_undo : E_end;
        if (m[k].open != 0) continue;
        now.open[p] = e == E_undo;
        ends[moves++] = (Move){p, now.st[p], e, state_of_stopped(e)};
    }
    if (moves > 0) updated(ends, moves);
}

/* code/flow/machine.sql: what follows from one statement */

static void refill(const Move *m, int n) {
    unsigned char node[NODES], up[NODES];
    int k, count = 0;
    for (k = 0; k < n; k++)
        if (m[k].ev == E_refill) { up[count] = m[k].p; node[count++] = child_of_kind(m[k].p, K_finally); }
    if (count > 0) enter(node, up, count, -1);
    for (k = 0, count = 0; k < n; k++) {
        int p = m[k].p, noted;
        if (m[k].ev != E_undo || m[k].open == 0) continue;
        noted = next_note(p);
        must(noted != NIL, "there is nothing to undo");
        for (int c = 0; c < NODES; c++) must(!(now.note[c] && inside(c, noted)), "a note in what was noted");
        up[count] = p; node[count++] = undo_of(noted);
#ifndef KEEP_NOTES
        now.note[noted] = 0;
#endif
    }
    if (count > 0) enter(node, up, count, -1);
}

static void updated(Move *m, int n) {
    Move some[NODES];
    unsigned char node[NODES], up[NODES];
    int k, count, is_torn = any_teardown();
#define THOSE(due) for (k = 0, count = 0; k < n; k++) { const Move *x = m + k; if (due) some[count++] = *x; }
    for (k = 0; k < n; k++) {
        legal(MACHINE(m[k].p), m[k].was, m[k].ev, m[k].to);
        must(now.st[m[k].p] == m[k].was, "an illegal move: it is in another state");
        now.st[m[k].p] = m[k].to;
        last_event[m[k].p] = m[k].ev;
        m[k].open = now.open[m[k].p];
    }
    for (k = 0; k < n; k++) proof_of_move(m + k);
    for (k = 0; k < n; k++)
        if (m[k].to == S_END || COMPOSITE(m[k].p) && (m[k].to == S_ABORTED || m[k].to == S_RAISED)) note_ended(m + k);
    for (k = 0; k < n; k++)
        if (KIND(m[k].p) == K_race && is_terminal(m[k].to))
            for (int c = 0; c < NODES; c++) if (tree[c].up == m[k].p) now.gave[c] = 0;
    for (k = 0; k < n; k++)
        if (COMPOSITE(m[k].p) && (m[k].ev == E_retry || m[k].ev == E_due) && m[k].to == S_ACTIVE) reenter(m[k].p);
    for (k = 0, count = 0; k < n; k++) if (m[k].ev == E_enter) node[count++] = m[k].p;
    if (count > 0) unfold(node, count);
    THOSE(x->to == S_FAILED && x->was != S_FAILED || x->to == S_RAISED || x->ev == E_raise || x->ev == E_undo && x->was == S_FAILED)
    if (count > 0) { handle(some, count); is_torn = 1; }
    THOSE(x->ev == E_win)
    if (count > 0) { win(some, count); is_torn = 1; }
    for (k = 0; k < n; k++) if (m[k].was != m[k].to || m[k].to == S_INIT) keep_limit(m[k].p);
    for (k = 0, count = 0; k < n; k++)
        if (m[k].to == S_END && tree[m[k].p].next != NIL) { up[count] = parent(m[k].p); node[count++] = tree[m[k].p].next; }
    if (count > 0) enter(node, up, count, is_torn ? 1 : -1);
    refill(m, n);
    THOSE(is_terminal(x->to) && parent(x->p) != NIL && !(x->to == S_END && tree[x->p].next != NIL))
    if (count > 0) count_ended(some, count);
    if (is_torn) end_teardowns(m, n);
    for (k = 0; k < n; k++)
        if (m[k].p == 0 && is_terminal(m[k].to))
            instance_moves(m[k].to == S_END ? E_end : E_aborted, m[k].to == S_END ? S_END : S_ABORTED);
}

/* code/task/timeout.sql */

static void time_out(unsigned set) {
    Move m[NODES];
    unsigned moves = 0;
    int k, n = 0;
    BY_ID(p) {
        int to = now.limit[p] != 1 || torn(p, 0) != NIL ? S_new : next_state(M_composite, now.st[p], E_timeout, 0);
        if (!(set & BIT(p))) continue;
#ifdef STALE_LIMIT
        to = S_ABORTING;
#endif
        now.picked[p] = 0;
        if (to != S_new) { moves |= BIT(p); m[n++] = (Move){p, now.st[p], E_timeout, to}; }
        else if (now.limit[p]) now.limit[p] = 2;
    }
#ifndef INNER_TOO
    int outer = 0;
    for (k = 0; k < n; k++) {
        int is_inside = 0;
        for (int p = parent(m[k].p); p != NIL; p = parent(p)) if (moves & BIT(p)) is_inside = 1;
        if (!is_inside) m[outer++] = m[k];
    }
    n = outer;
#endif
    for (k = 0; k < n; k++) now.todo[m[k].p] = 0;
    if (n > 0) updated(m, n);
    for (k = 0; k < n; k++) { /* wf._stop_inside */
        const unsigned char p = m[k].p;
        if (m[k].to != S_ABORTING || now.st[p] != S_ABORTING || torn(p, 0) != NIL) continue;
        tear_down(BIT(p), F_failed, 1, 0);
        tear(&p, 1);
    }
}
}
