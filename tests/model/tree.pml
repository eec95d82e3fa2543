/*
 * tree.pml - handlers and teardowns in a whole tree of processes: races, deadlines,
 * catches, rounds, finally and undo.
 *
 * The text that machines.sql prints stands before this, and trees.pml, which has the
 * tree. frame.pml proves that a task is handed out, lost and released as it should be;
 * here a task is only its machine: whatever the rows of wf.transition allow a driver,
 * the time or an operator to do with it may come at any moment. What frame.pml does not
 * have is here: code/flow/{teardown,handler,finally,undo,given_up,again,compose}.sql
 * and code/task/timeout.sql. Each function is the one of that name there, with the
 * same order of steps, and one statement that updates several rows is one here, too.
 *
 * Not here: forall, loops, dag, return, on_failure, suspensions; what is left to pending
 * below a depth of triggers; more notes than one transaction deletes.
 *
 * One step is one transaction of the workspace. After each of them check() looks at
 * everything. What has to hold at one moment is checked there, by must().
 *
 * This file has what there is and what the proof says of it, moves.pml the functions of
 * the workspace, actors.pml who calls them.
 *
 * Compile with
 *     WIN, DEADLINE, FINALLY, UNDO, LOSERS   the tree, see trees.pml
 *     BUDGET=N     so many adversities, then everybody does their best;
 *                  without it there is no end of them
 *     HALT         operators may halt the instance, too
 *     UNCAUGHT     the `when` of each catch is false
 *     PORTION=N    a portion of a teardown is N processes
 *     BACKWARDS    ids go down as numbers of nodes go up
 *     LOSERS_RUN   a fault: whoever has won stops nobody
 *     LATER_WINNER a fault: a branch that ends later takes the place of the winner
 *     KEEP_LIMITS  a fault: the deadline of a block stays when the block has ended
 *     STALE_LIMIT  a fault: a block times out as it was when a poll looked at it
 *     NO_SHELTER   a fault: teardowns reach into finally and undo
 *     FORGET_LAST  a fault: finally is forgotten below a teardown
 *     TWICE        a fault: a finally that was begun by a teardown is to begin still
 *     FIRST_NOTE   a fault: what was noted first is undone first
 *     KEEP_NOTES   a fault: what has been undone stays noted
 *     IDLE         a fault: nobody goes on with a teardown
 *     UNMARKED     a fault: a race that is won below a teardown does not tell those around it
 *     INNER_TOO    a fault: a block times out together with one around it
 *     BORN_BELOW   a fault: what would begin below a teardown begins
 */
#ifndef PORTION
#define PORTION NODES
#endif
#ifdef BUDGET
byte budget = BUDGET;
#define may (budget > 0)
#define pay(c) budget = budget - (c)
#else
#define may true
#define pay(c) skip
#endif
#define COSTS(e) (e == E_retry || e == E_cancel || e == E_timeout || e == E_fail || e == E_lost || e == E_release)
#define FREE(x) (!below[x])
#define IS(x, m) (machine[x] == m)
#define OVER (inst == S_END || inst == S_ABORTED)

/* wf.instance, wf.process */
byte inst;
byte st[NODES], open[NODES], spare[NODES], chosen[NODES];
bit todo[NODES];     /* of a try: its finally has yet to begin */
bit unnoted[NODES];  /* it was ignored: it is not noted when it ends */
byte under[NODES];   /* of an undo: the process that is around it, plus 1 */

/* wf.teardown; cursor DONE: no portion is left */
byte follows[NODES], cursor[NODES];
bit sure[NODES], undoes[NODES];
#define F_aborted 1
#define F_halted 2
#define F_stopped 3
#define F_handled 4
#define F_again 5
#define F_left 6
#define F_lost 7
#define F_failed 8
#define DONE 255

bit gave[NODES];     /* wf.given_up */
byte note[NODES];    /* wf.undo_note: 0, or which one it is in the order of the notes */
byte limit[NODES];   /* wf.time_limit: 1, its deadline may be over at any time; 2, its clock stands */
bit picked[NODES];   /* the deadline was over when a poll looked; it has yet to lock the instance */

/* of the proof, not of the workspace */
bit below[NODES];    /* an operator is refused: it is torn down */
byte fins[NODES];    /* of a try: so many finallys have begun in it */
byte result[NODES];  /* of a race: whose result it has, plus 1 */
byte did[NODES];     /* 0, or its place in the order in which what can be undone has ended well */

/* one transaction: what it does */
#define A_move 1
#define A_abort 2
#define A_halt 3
#define A_tear 4
#define A_expire 5
#define A_due 6
#define A_begin 7
byte act, q, ev, to;
bit bad;    /* the arguments of tasks that begin in it cannot be evaluated */
bit again;  /* a policy retry has a round left */
bit undone; /* an abort is one with undo */
hidden byte machine[NODES];
hidden byte rest[NODES]; /* no task waits for an attempt of its own */

c_decl {
typedef struct { int p, was, ev, to, open; } Move;
extern void (*uerror)(char *);
}

c_code {
#define KIND(p) tree[p].kind
#define BIT(p) (1u << (p))
#define COMPOSITE(p) (KIND(p) != K_leaf)
#define MACHINE(p) (COMPOSITE(p) ? M_composite : LEAF)
#ifdef BACKWARDS
#define BY_ID(p) for (int p##_ = 0, p; p = NODES - 1 - p##_, p##_ < NODES; p##_++)
#define ID(p) (NODES - (p))
#else
#define BY_ID(p) for (int p = 0; p < NODES; p++)
#define ID(p) ((p) + 1)
#endif

static unsigned char last_event[NODES]; /* in this transaction */

static void updated(Move *m, int n);
static void inserted(const unsigned char *born, int n);

static void must(int ok, const char *what) {
    if (!ok) uerror((char *)what);
}

/* the tree as it is installed */

static int first_child(int p) {
    for (int c = 0; c < NODES; c++) if (tree[c].up == p && KIND(c) != K_undo) return c;
    return NIL;
}
static int child_of_kind(int p, int kind) {
    for (int c = 0; c < NODES; c++) if (tree[c].up == p && KIND(c) == kind) return c;
    return NIL;
}
static int undo_of(int p) { return child_of_kind(p, K_undo); }
static int children_at_once(int p) {
    int n = 0;
    if (KIND(p) != K_par && KIND(p) != K_race) return first_child(p) != NIL;
    for (int c = 0; c < NODES; c++) n += tree[c].up == p && KIND(c) != K_undo;
    return n;
}
/* node.handler_id: no handler takes errors out of an undo, a try those of its body only */
static int handler(int p) {
    int c = p;
    for (int h = tree[p].up; h != NIL && KIND(c) != K_undo; c = h, h = tree[h].up)
        if (KIND(h) == K_race || (tree[h].flags & F_retries)
            || KIND(h) == K_try && child_of_kind(h, K_catch) != NIL && c == first_child(h))
            return h;
    return NIL;
}
/* node.noted */
static int is_noted(int p) {
    if (p == 0) for (int c = 0; c < NODES; c++) if (KIND(c) == K_undo) return 1;
    return KIND(p) == K_undo || undo_of(p) != NIL;
}

/* the tree as it is */

static int parent(int p) {
    return KIND(p) == K_undo ? (now.under[p] ? now.under[p] - 1 : NIL) : tree[p].up;
}
static int inside(int p, int around) { /* strictly */
    for (p = parent(p); p != NIL; p = parent(p)) if (p == around) return 1;
    return 0;
}
static int is_terminal(int s) { return TERMINAL(s); }
static int is_live(int p) { return now.st[p] != S_new && !is_terminal(now.st[p]); }
static unsigned broken; /* these have just begun and are about to fail: they are in no place yet */
static int in_a_place(int p) {
    return is_live(p) && !(broken & BIT(p)) && (!COMPOSITE(p) || now.st[p] == S_FAILED || now.st[p] == S_INIT);
}
static int next_state(int machine, int s, int e, int stays) {
    int found = S_new;
    for (int r = 0; r < sizeof rows / sizeof *rows; r++)
        if (rows[r][0] == machine && rows[r][1] == s && rows[r][2] == e
            && (found == S_new || (rows[r][3] == s) == stays))
            found = rows[r][3];
    return found;
}
static void legal(int machine, int s, int e, int to) {
    for (int r = 0; r < sizeof rows / sizeof *rows; r++)
        if (rows[r][0] == machine && rows[r][1] == s && rows[r][2] == e && rows[r][3] == to) return;
    must(0, "an illegal move");
}
static int any_teardown(void) {
    for (int p = 0; p < NODES; p++) if (now.follows[p]) return 1;
    return 0;
}
static int is_halted(void) {
    for (int p = 0; p < NODES; p++) if (now.follows[p] == F_halted) return 1;
    return 0;
}
static int is_shelter(int p) {
#ifdef NO_SHELTER
    return 0;
#endif
    return KIND(p) == K_finally || KIND(p) == K_undo;
}
static int closes(int p) { return is_shelter(p) && !is_halted(); }

/* the first process at or around p that is torn down; *path: those from p to it */
static int torn(int p, unsigned *path) {
    unsigned seen = 0;
    for (; p != NIL; p = parent(p)) {
        seen |= BIT(p);
        if (now.follows[p]) { if (path) *path |= seen; return p; }
        if (closes(p)) break;
    }
    return NIL;
}
static unsigned torn_around(int p) {
    unsigned found = 0, seen = 0;
    for (; p != NIL; p = parent(p)) {
        seen |= BIT(p);
        if (now.follows[p]) found |= seen;
        if (closes(p)) seen = 0;
    }
    return found;
}
static unsigned torn_around_all(unsigned set) {
    unsigned found = 0;
    for (int p = 0; p < NODES; p++) if (set & BIT(p)) found |= torn_around(p);
    return found;
}

static void update_one(int p, int e, int to) {
    Move m = {p, now.st[p], e, to};
    updated(&m, 1);
}
static void instance_moves(int e, int to) {
    legal(M_instance, now.inst, e, to);
    now.inst = to;
}

/* what the proof says */

/* nothing is under way in a process, whose end has something else begin */
static void nothing_inside(int p) {
    for (int c = 0; c < NODES; c++)
        must(!(is_live(c) && inside(c, p)), "something is under way in what has ended");
}
/* the latest of what has ended well in p and is not undone; what the winner of a race did is kept */
static int last_done(int p) {
    int last = NIL, won = now.result[p] ? now.result[p] - 1 : NIL;
    for (int c = 0; c < NODES; c++)
        if (now.did[c] && inside(c, p) && c != won && (won == NIL || !inside(c, won))
            && (last == NIL || now.did[c] > now.did[last]))
            last = c;
    return last;
}
/* what was done in p is not undone any more: p stands for it, or it is done again */
static void forget_done(int p) {
    for (int c = 0; c < NODES; c++) if (inside(c, p)) now.did[c] = 0;
}
static void proof_of_birth(int p) {
    int q = parent(p);
    if (KIND(p) == K_finally) {
        now.fins[q]++;
        must(now.fins[q] == 1, "a finally runs twice");
        for (int c = 0; c < NODES; c++) must(!(c != p && is_live(c) && inside(c, q)), "a finally begins too early");
        must(!is_halted(), "a finally begins in an instance that is halted");
        return;
    }
    if (KIND(p) == K_undo) {
        must(tree[p].up == last_done(q), "undone is not what has ended last");
        must(now.follows[q] && now.undoes[q] && !is_halted(), "undone without being asked for");
        for (int c = 0; c < NODES; c++) must(!(c != p && is_live(c) && inside(c, q)), "an undo begins too early");
        now.did[tree[p].up] = 0;
        return;
    }
    for (; q != NIL && KIND(q) != K_finally && KIND(q) != K_undo; q = parent(q))
        must(!now.follows[q], "something begins below a teardown");
    must(!is_halted(), "something begins in an instance that is halted");
}
static void proof_of_move(const Move *m) {
    int p = m->p, most = 0;
    if (m->ev == E_timeout && COMPOSITE(p)) must(m->was == S_ACTIVE || m->was == S_INIT, "a deadline after the end");
    if (!is_terminal(m->to) && m->to != S_FAILED) return;
    nothing_inside(p);
    if (KIND(p) == K_try && is_terminal(m->to) && child_of_kind(p, K_finally) != NIL && !is_halted())
        must(now.fins[p] == 1, "a try ends without its finally");
    if (KIND(p) == K_race && m->to == S_END && now.chosen[p])
        must(now.result[p] == now.chosen[p] && now.st[now.chosen[p] - 1] == S_END, "a race without the result of its winner");
    if (is_terminal(m->to) && !is_halted() && (now.follows[p] && now.undoes[p] || KIND(p) == K_race && m->to == S_END && now.result[p]))
        must(last_done(p) == NIL, "something is not undone");
    if (!is_terminal(m->to)) return;
    if (KIND(p) == K_undo || p == 0) forget_done(p);
    if (m->to == S_END && undo_of(p) != NIL && !now.unnoted[p]) {
        forget_done(p);
        for (int c = 0; c < NODES; c++) if (now.did[c] > most) most = now.did[c];
        now.did[p] = most + 1;
    }
}
}
