/*
 * frame.pml - the workspace around its machines: leases, drivers, operator,
 * sweeper, timers, a group, and the counting of parents.
 *
 * The text that machines.sql prints stands before this. One step is one
 * transaction of the workspace: a choice, then the d_step of commit(), which
 * follows code/flow/machine.sql, code/task and code/operate/{abort,suspend}.sql
 * line by line; what holds between transactions is checked after each. In a d_step
 * spin takes the first guard that holds, and never another one: what may go either
 * way is chosen before it.
 *
 * An instance is root (call) > mid (forall) > leaves. The leaves are of one
 * machine and one task type, which is chosen at the beginning. With CATCH root is
 * a try and mid its body: an error is caught, or the catch's `when` cannot be
 * evaluated. The catch itself is empty. With AGAIN root has a policy retry, and an
 * error in it, or of mid, has another round of it begin.
 *
 * Compile with
 *     LEAVES=N     1 or 2
 *     BUDGET=N     so many adversities, then everybody does their best;
 *                  without it there is no end of them
 *     ABORT_ONLY   operators do nothing but abort
 *     NO_ABORT     nobody aborts the instance
 *     HONOUR_STALE a fault: reports are not compared with leases
 *     SEND_UNACKED a fault: drivers do not wait for the answer to an ack
 *     DEAF         a fault: nobody looks for lost drivers
 *     REPEAT       a fault: what is lost is begun again, whether it may or not
 *     DISPATCH_ALL a fault: what becomes ready in a suspended instance is not parked
 *     PACE_ALL     a fault: a timer for a failure that moved the task on
 *     QUEUE_ALL    a fault: what waits for its next attempt is queued
 *     FORGETFUL    a fault: a catch tears down the failed task only
 *     UNCOUNTED    a fault: what has handed its error on is not counted
 */
#ifndef LEAVES
#define LEAVES 1
#endif
#define MID LEAVES
#define ROOT (LEAVES + 1)
#define INSTANCE (LEAVES + 2)
#define THINGS (LEAVES + 3)
#define DRIVERS 2

#ifdef REPEAT
#define REPEATS true
#else
#define REPEATS false
#endif
#ifdef PACE_ALL
#define PACES true
#else
#define PACES false
#endif

#ifdef QUEUE_ALL
#define RESTS(i) (rest[i] && bad)
#else
#define RESTS(i) rest[i]
#endif

#ifdef DISPATCH_ALL
#define PARKS false
#else
#define PARKS true
#endif

#ifdef CATCH
#define CATCHES true
#else
#define CATCHES false
#endif
#ifdef AGAIN
#define ROUNDS true
#else
#define ROUNDS false
#endif
#define HANDLED (CATCHES && !bad || ROUNDS && again)
#ifdef FORGETFUL
#define TEARS_ALL false
#else
#define TEARS_ALL true
#endif
#ifdef UNCOUNTED
#define COUNTS false
#else
#define COUNTS true
#endif

#ifdef BUDGET
byte budget = BUDGET;
#define may (budget > 0)
#define pay(c) budget = budget - (c)
#else
#define may true
#define pay(c) skip
#endif
/* the moves that machines.sql prints: nobody is refused, and each is asked with its own machine */
#define FREE(x) true
#define IS(x, m) true
#define COSTS(e) (e == E_retry || e == E_cancel || e == E_timeout)

/* the task type; the shape of mid */
bit idempotent, grouped, has_cancel, has_cleanup, has_handle, sleeps;
bit retries; /* it has a policy retry */
bit blind; /* cancel and cleanup need no handle */
byte shape;
#define PAR 0
#define SEQ 1
#define WINDOW 2

/* wf.process; the last three of st are mid, root and instance */
byte st[THINGS];
byte mid_open, mid_todo, root_open;
bit warned;
bit torn; /* wf.teardown: mid is torn down, and then handled, or done again */
bit root_rest; /* a timer of kind retry of root */
bit handle[LEAVES];

/* wf.ready, parked, slot, lease, timer, dirty */
bit ready[LEAVES], slot[LEAVES], dirty;
byte parked[LEAVES]; /* 0 or why */
#define P_group 1
#define P_suspended 2
byte ready_request[LEAVES];
byte lease[LEAVES], lease_request[LEAVES]; /* 0 or the token */
bit orphan[LEAVES];                        /* its driver was given up */
byte timer[LEAVES], timer_kind[LEAVES];    /* 0, 1 due some time, 2 infinity */
bit rest[LEAVES];                          /* a timer of kind retry, beside the other */

/* what a driver has in hand */
#define H_nothing 0
#define H_taken 1
#define H_may_send 2 /* acknowledged */
#define H_sent 3
#define H_reported 4 /* but it has not heard the answer */
byte hand[DRIVERS], hand_token[DRIVERS], hand_leaf[DRIVERS], hand_request[DRIVERS];

/* of the proof, not of the workspace */
byte given[LEAVES]; /* the token that was issued and neither used nor taken back */
bit sent[LEAVES];   /* the start request was sent since the last retry */
bit old[DRIVERS];   /* in hand since before a retry */

/* one transaction: what it does */
#define A_move 1
#define A_claim 2
#define A_report 3
#define A_lost 4
#define A_fire 5
#define A_settle 6
#define A_abort 7
#define A_begin 8
#define A_suspend 9
#define A_resume 10
#define A_due 11
byte act, q, who, ev, to;
bit bad;     /* expressions that it evaluates fail */
bit again;   /* what fails in it has attempts left */
bit told;    /* the answer reaches the driver */
bit names;   /* the response names a handle */
bit often;   /* what is lost has been lost too often */

/* and its scratch */
hidden byte row_ends, row_frees, row_asks, x, y, was, event, next, token, live, spare, request, places;
hidden byte want[THINGS], want_to[THINGS];
hidden byte aborts, stayed, paces, polls_on;

#define HELD(s) (s == S_START_REQUESTED || s == S_EXECUTING || s == S_CANCEL_REQUESTED || s == S_ABORT_REQUESTED)
#define STOPPING(s) (s == S_CANCEL_REQUESTED || s == S_ABORT_REQUESTED)
#define STOPPED(s) (TERMINAL(s) || s == S_ABORT_REQUESTED || s == S_ABORT_CLEANUP_REQUESTED)
#define CLEANING(s) (s == S_CLEANUP_REQUESTED || s == S_RETRY_CLEANUP_REQUESTED || s == S_RAISE_CLEANUP_REQUESTED || s == S_ABORT_CLEANUP_REQUESTED)
/* these end what a driver was given, whatever the tables say */
#define ENDS_REQUEST(e, s) (e == E_lost || e == E_release || e == E_success || e == E_fail || e == E_started \
    || e == E_polled || e == E_cancelled || e == E_cleaned || LEAF == M_async && s == S_START_REQUESTED && (e == E_cancel || e == E_abort || e == E_timeout))
#define MACHINE(i) (i < LEAVES -> LEAF : (i == INSTANCE -> M_instance : M_composite))
#define OVER (st[INSTANCE] == S_END || st[INSTANCE] == S_ABORTED)

/* a move; where to is for wf._next_state to say, which is told to stay if it can, or not to */
#define LEAVE 254
#define STAY 255
inline wish(a_i, a_ev, a_to) {
    want[a_i] = a_ev; want_to[a_i] = a_to
}

/* wf._park, for one leaf */
inline park(i) {
    if :: parked[i] -> parked[i] = P_suspended :: else fi;
    if
    :: ready[i] && ready_request[i] == R_start ->
        assert(!parked[i]); ready[i] = 0; parked[i] = P_suspended;
        if :: slot[i] -> slot[i] = 0; dirty = 1 :: else fi
    :: else
    fi
}

/* wf._unpark, for one leaf */
inline unpark(i) {
    if
    :: parked[i] == P_suspended && grouped -> parked[i] = P_group; dirty = 1
    :: parked[i] == P_suspended && !grouped -> assert(!ready[i]); parked[i] = 0; ready[i] = 1; ready_request[i] = R_start
    :: else
    fi
}

/* wf._queue and wf._begin_wait */
inline enqueue(i) {
    if
    :: bad -> wish(i, E_fail, S_FAILED)
    :: !bad && LEAF == M_wait ->
        if :: sleeps -> timer[i] = 1; timer_kind[i] = R_sleep :: else fi;
        wish(i, E_begin, S_WAITING)
    :: !bad && LEAF != M_wait && grouped -> assert(!parked[i]); parked[i] = P_group; dirty = 1
    :: else -> assert(!ready[i]); ready[i] = 1; ready_request[i] = R_start
    fi;
    if :: st[INSTANCE] == S_SUSPENDED && PARKS -> park(i) :: else fi
}

/* wf._retry */
inline retry(i) {
    rest[i] = 1; sent[i] = 0;
    for (y : 0 .. DRIVERS - 1) {
        if :: hand_leaf[y] == i && hand[y] != H_nothing -> old[y] = 1 :: else fi
    }
    wish(i, E_retry, (LEAF == M_async -> S_RETRY_CLEANUP_REQUESTED : S_INIT))
}

/* wf._ask */
inline ask(i) {
    if :: was == S_START_REQUESTED -> lease[i] = 0; orphan[i] = 0 :: else fi;
    if
    :: (handle[i] || blind) && lease[i] == 0 && (STOPPING(st[i]) -> has_cancel : has_cleanup) && !ready[i] ->
        ready[i] = 1; ready_request[i] = (STOPPING(st[i]) -> R_cancel : R_cleanup)
    :: else
    fi;
    if
    :: lease[i] == 0 && !ready[i] ->
        event = (STOPPING(st[i]) -> E_cancelled : E_cleaned);
        if :: event == E_cleaned -> handle[i] = 0 :: else fi;
        wish(i, event, LEAVE)
    :: else
    fi
}

/* wf._abort */
inline abort_all() {
    if
    :: st[INSTANCE] == S_RUNNING || st[INSTANCE] == S_SUSPENDED ->
        wish(INSTANCE, E_abort, S_ABORTING);
        live = 0;
        torn = 0; /* the outer teardown takes the place of the inner one */
        for (y : 0 .. LEAVES - 1) {
            if :: st[y] != S_new && !TERMINAL(st[y]) -> live++ :: else fi;
            if :: st[y] != S_new && !STOPPED(st[y]) -> wish(y, E_abort, LEAVE) :: else fi
        }
        if
        :: st[MID] == S_ACTIVE -> wish(MID, E_abort, S_ABORTING); mid_open = live; mid_todo = 0
        :: st[MID] != S_ACTIVE && st[MID] != S_ABORTING && st[MID] != S_new && !TERMINAL(st[MID]) ->
            wish(MID, E_abort, LEAVE)
        :: else
        fi;
        if
        :: st[ROOT] == S_ACTIVE -> wish(ROOT, E_abort, S_ABORTING); root_open = !TERMINAL(st[MID])
        :: st[ROOT] == S_INIT || st[ROOT] == S_FAILED -> wish(ROOT, E_abort, S_ABORTED)
        :: else
        fi
    :: else
    fi
}

/* wf._hand_over: a catch or a retry takes the error of a leaf */
inline hand_over(i) {
    torn = 1;
    row(M_composite, st[MID], E_abort, S_ABORTING);
    st[MID] = S_ABORTING; mid_todo = 0;
    if :: st[i] == S_FAILED -> wish(i, E_raise, LEAVE) :: else fi;
    for (y : 0 .. LEAVES - 1) {
        if
        :: TEARS_ALL && y != i && st[y] != S_new && !STOPPED(st[y]) && st[y] != S_RAISE_CLEANUP_REQUESTED -> wish(y, E_abort, LEAVE)
        :: else
        fi
    }
}

/* wf._wait_for_round */
inline wait_for_round() {
    torn = 0; root_rest = 1;
    wish(ROOT, E_retry, S_INIT)
}

/* the children of mid begin */
inline enter_mid() {
    for (y : 0 .. LEAVES - 1) {
        st[y] = S_new; sent[y] = 0
    }
    mid_open = (shape == PAR -> LEAVES : 1);
    mid_todo = (shape == WINDOW -> LEAVES - 1 : 0);
    for (y : 0 .. mid_open - 1) {
        wish(y, E_enable, S_INIT)
    }
}

/* a child of mid has ended */
inline count_mid() {
    spare = (mid_todo > 0 -> 1 : 0);
    if
    :: st[MID] == S_ABORTING && mid_open == 1 -> wish(MID, E_aborted, S_ABORTED)
    :: st[MID] == S_ABORTING && mid_open != 1 -> wish(MID, E_count, S_ABORTING)
    :: st[MID] != S_ABORTING && mid_open - 1 + mid_todo == 0 && bad -> wish(MID, E_fail, S_FAILED)
    :: st[MID] != S_ABORTING && mid_open - 1 + mid_todo == 0 && !bad -> wish(MID, E_end, S_END)
    :: st[MID] != S_ABORTING && mid_open - 1 + mid_todo > 0 && mid_todo > 0 -> wish(MID, E_refill, st[MID])
    :: else -> wish(MID, E_count, st[MID])
    fi;
    mid_todo = mid_todo - spare;
    mid_open = mid_open - 1 + spare
}

/* wf._process_updated for a leaf that has moved */
inline follow_leaf(i) {
    if
    :: row_ends -> lease[i] = 0; orphan[i] = 0
    :: else
    fi;
    if
    :: row_frees && grouped && !HELD(st[i]) -> if :: slot[i] -> slot[i] = 0; dirty = 1 :: else fi
    :: else
    fi;
    if
    :: was != st[i] && (was == S_INIT && st[i] != S_START_REQUESTED && LEAF != M_wait
                        || LEAF == M_async && (was == S_EXECUTING || was == S_CANCEL_REQUESTED || CLEANING(was))) ->
        ready[i] = 0;
        if :: was == S_INIT -> parked[i] = 0 :: else fi
    :: else
    fi;
    if
    :: LEAF != M_sync && was != st[i] && event != E_ack && event != E_start && event != E_begin -> timer[i] = 0; timer_kind[i] = 0
    :: else
    fi;
    if
    :: was == S_INIT || st[i] != S_INIT && st[i] != S_RETRY_CLEANUP_REQUESTED -> rest[i] = 0
    :: else
    fi;
    if
    :: st[i] == S_FAILED && event != E_cancel && retries && again -> retry(i)
    :: else
    fi;
    if
    :: row_asks == R_start && st[i] == S_INIT && !RESTS(i) -> enqueue(i)
    :: LEAF == M_async && (row_asks == R_cancel || row_asks == R_cleanup) && (event != E_fail || was != st[i]) -> ask(i)
    :: event == E_begin && timer[i] == 0 -> wish(i, E_fail, S_FAILED)
    :: else
    fi;
    if :: event == E_ignore && !warned -> warned = 1; wish(INSTANCE, E_warn, st[INSTANCE]) :: else fi;
    if
    :: !torn && want[i] != E_retry && (st[i] == S_FAILED && was != S_FAILED || event == E_raise || st[i] == S_RAISED) ->
        if
        :: HANDLED -> hand_over(i)
        :: !HANDLED && st[i] == S_RAISED -> aborts = 1
        :: else
        fi
    :: else
    fi;
    if
    :: st[i] == S_END && shape == SEQ && i + 1 < LEAVES -> wish(i + 1, E_enable, S_INIT)
    :: (st[i] == S_END && !(shape == SEQ && i + 1 < LEAVES)) || st[i] == S_ABORTED || st[i] == S_RAISED && torn && COUNTS -> count_mid()
    :: else
    fi;
    if
    :: TERMINAL(st[i]) -> handle[i] = 0
    :: else
    fi
}

/* the same for mid, root and instance */
inline follow_mid() {
    if
    :: event == E_enter && bad -> mid_open = 0; wish(MID, E_fail, S_FAILED)
    :: event == E_enter && !bad -> enter_mid()
    :: event == E_retry -> mid_open = 0; if :: bad -> wish(MID, E_fail, S_FAILED) :: else -> wish(MID, E_enter, S_ACTIVE) fi
    :: event == E_refill -> wish(LEAVES - 1 - mid_todo, E_enable, S_INIT)
    :: event == E_abort && st[MID] == S_ABORTING && mid_open == 0 -> wish(MID, E_aborted, S_ABORTED)
    :: else
    fi;
    if :: event == E_ignore && !warned -> warned = 1; wish(INSTANCE, E_warn, st[INSTANCE]) :: else fi;
    if
    :: st[MID] == S_END || st[MID] == S_ABORTED ->
        assert(root_open == 1);
        root_open = 0;
        if
        :: st[ROOT] == S_ABORTING || want[ROOT] == E_abort -> wish(ROOT, E_aborted, S_ABORTED)
        :: ROUNDS && torn && st[ROOT] == S_ACTIVE && want[ROOT] != E_abort -> wait_for_round()
        :: else ->
            assert(st[MID] == S_END || torn); /* what is stopped ends no parent by itself */
            wish(ROOT, E_end, S_END)
        fi
    :: st[MID] == S_FAILED && event == E_fail && ROUNDS && again -> wish(MID, E_raise, S_RAISED)
    :: st[MID] == S_RAISED && HANDLED && CATCHES -> torn = 1; root_open = 0; wish(ROOT, E_end, S_END)
    :: st[MID] == S_RAISED && HANDLED && ROUNDS -> root_open = 0; wait_for_round()
    :: st[MID] == S_RAISED && !HANDLED -> aborts = 1
    :: else
    fi
}

inline follow_root() {
    if
    :: event == E_enter ->
        st[MID] = S_new; /* of another round it is another one */
        for (y : 0 .. DRIVERS - 1) {
            if :: hand[y] != H_nothing -> old[y] = 1 :: else fi
        }
        root_open = 1; wish(MID, E_enter, S_ACTIVE)
    :: (event == E_due || event == E_retry) && st[ROOT] == S_ACTIVE -> wish(ROOT, E_enter, S_ACTIVE)
    :: st[ROOT] == S_RAISED -> aborts = 1
    :: event == E_abort && st[ROOT] == S_ABORTING && root_open == 0 -> wish(ROOT, E_aborted, S_ABORTED)
    :: st[ROOT] == S_END -> wish(INSTANCE, E_end, S_END)
    :: st[ROOT] == S_ABORTED -> wish(INSTANCE, E_aborted, S_ABORTED)
    :: else
    fi;
    if :: st[ROOT] != S_INIT -> root_rest = 0 :: else fi
}

inline follow_instance() {
    for (y : 0 .. LEAVES - 1) {
        if
        :: event == E_suspend -> park(y)
        :: event == E_resume -> unpark(y)
        :: else
        fi
    }
    if :: event == E_abort && st[ROOT] == S_RAISED -> wish(INSTANCE, E_aborted, S_ABORTED) :: else fi
}

/* makes the moves that are wished for, and those that follow from them */
inline make_moves() {
    do
    :: true ->
        if :: aborts -> aborts = 0; abort_all() :: else fi;
        x = INSTANCE;
        do
        :: x > 0 && want[x] == 0 -> x--
        :: else -> break
        od;
        if :: want[x] == 0 -> break :: else fi;
        was = st[x]; event = want[x]; next = want_to[x];
        want[x] = 0;
        if
        :: x < LEAVES && event == E_enable && st[MID] == S_ABORTING -> count_mid(); goto withheld /* nothing is born below a teardown */
        :: else
        fi;
        if :: next >= LEAVE -> next_state(MACHINE(x), was, event, next == STAY, next) :: else fi;
        row(MACHINE(x), was, event, next);
        st[x] = next;
        if
        :: x < LEAVES ->
            stayed = (event == E_fail && (was == next || PACES));
            if :: ENDS_REQUEST(event, was) -> given[x] = 0 :: else fi;
            follow_leaf(x)
        :: x == MID -> follow_mid()
        :: x == ROOT -> follow_root()
        :: else -> follow_instance()
        fi;
withheld:
        skip
    od;
    x = 0; y = 0
}

/* wf._move_lost; often: the request was lost too often, as any request may have been */
inline lose() {
    event = E_lost;
    if
    :: LEAF == M_sync && st[q] == S_START_REQUESTED -> next = ((idempotent || REPEATS) && !often -> S_INIT : S_FAILED)
    :: LEAF == M_async && st[q] == S_START_REQUESTED -> next = (often -> S_FAILED : S_INIT)
    :: LEAF == M_async && st[q] == S_EXECUTING ->
        next = (often -> S_FAILED : (handle[q] || lease_request[q] != R_start -> S_EXECUTING : (idempotent -> S_INIT : S_FAILED)))
    :: else ->
        if
        :: often && lease_request[q] == R_cancel -> event = E_cancelled; next = LEAVE
        :: often && lease_request[q] == R_cleanup -> event = E_cleaned; handle[q] = 0; next = LEAVE
        :: else -> next = (LEAF == M_async -> STAY : LEAVE)
        fi
    fi;
    polls_on = (next == S_EXECUTING);
    wish(q, event, next)
}

/* wf._apply_reports, when the token is honoured */
inline apply_report() {
    assert(given[q] == hand_token[who]); /* a stale token changes nothing */
    request = lease_request[q];
    if
    :: ev == E_ack -> if :: st[q] == S_START_REQUESTED -> wish(q, E_ack, S_EXECUTING) :: else fi
    :: ev == E_release && request == R_poll && st[q] != S_EXECUTING -> wish(q, E_lost, st[q])
    :: ev == E_release && request != R_start && !(request == R_poll && st[q] != S_EXECUTING) ->
        lease[q] = 0; given[q] = 0; orphan[q] = 0;
        assert(!ready[q]);
        ready[q] = 1; ready_request[q] = request
    :: ev == E_release && request == R_start ->
        if
        :: st[q] == S_START_REQUESTED -> wish(q, E_release, S_INIT)
        :: st[q] == S_EXECUTING -> wish(q, E_lost, S_INIT)
        :: else -> wish(q, E_fail, LEAVE)
        fi
    :: else ->
        event = ev;
        if
        :: request == R_cancel && ev == E_success -> event = E_cancelled
        :: request == R_cleanup && ev == E_success -> event = E_cleaned; handle[q] = 0
        :: ev == E_polled && (request == R_start || STOPPING(st[q])) -> event = E_started
        :: else
        fi;
        if :: request == R_start && has_handle && names -> handle[q] = 1 :: else fi;
        wish(q, event, (event == E_fail && (request == R_cancel || request == R_cleanup) -> STAY : LEAVE));
        paces = (LEAF == M_async && (event == E_started || event == E_polled || event == E_fail))
    fi
}

/* wf._pace */
inline pace() {
    if
    :: st[q] == S_EXECUTING -> timer[q] = 1; timer_kind[q] = R_poll
    :: stayed && STOPPING(st[q]) && has_cancel -> timer[q] = 1; timer_kind[q] = R_cancel
    :: stayed && CLEANING(st[q]) && has_cleanup -> timer[q] = 1; timer_kind[q] = R_cleanup
    :: else
    fi
}

#define IN_USE(t, p) (t == lease[p] || t == given[p])

inline claim() {
    token = 1;
    do
    :: IN_USE(token, 0) || (LEAVES > 1 && IN_USE(token, LEAVES - 1)) || token == hand_token[0] || token == hand_token[1] -> token++
    :: else -> break
    od;
    assert(lease[q] == 0); /* a primary key */
    ready[q] = 0;
    lease[q] = token; lease_request[q] = ready_request[q]; given[q] = token;
    hand[who] = H_taken; hand_token[who] = token; hand_leaf[who] = q; hand_request[who] = ready_request[q]; old[who] = 0;
    if :: ready_request[q] == R_start -> wish(q, E_start, S_START_REQUESTED) :: else fi
}

/* wf._settle, for a group with one place */
inline settle() {
    dirty = 0;
    spare = 1;
    for (y : 0 .. LEAVES - 1) {
        if :: slot[y] -> spare = 0 :: else fi
    }
    for (y : 0 .. LEAVES - 1) {
        if
        :: spare && parked[y] == P_group -> spare = 0; parked[y] = 0; slot[y] = 1; assert(!ready[y]); ready[y] = 1; ready_request[y] = R_start
        :: else
        fi
    }
}

inline drop(d) {
    hand[d] = H_nothing; hand_token[d] = 0; hand_leaf[d] = 0; hand_request[d] = 0; old[d] = 0
}

inline carry_out() {
    if
    :: act == A_begin -> wish(INSTANCE, E_start, S_RUNNING); wish(ROOT, E_enter, S_ACTIVE)
    :: act == A_claim -> claim()
    :: act == A_lost -> lose()
    :: act == A_settle -> settle()
    :: act == A_abort -> aborts = 1
    :: act == A_suspend -> wish(INSTANCE, E_suspend, S_SUSPENDED)
    :: act == A_resume -> wish(INSTANCE, E_resume, S_RUNNING)
    :: act == A_fire ->
        timer[q] = 2;
        if
        :: timer_kind[q] == R_sleep -> wish(q, E_success, S_END)
        :: timer_kind[q] != R_sleep && !ready[q] -> ready[q] = 1; ready_request[q] = timer_kind[q]
        :: else
        fi
    :: act == A_due && q == ROOT -> wish(ROOT, E_due, S_ACTIVE)
    :: act == A_due && q != ROOT ->
        rest[q] = 0;
        if
        :: st[q] == S_INIT && LEAF != M_wait && !grouped && !bad && st[INSTANCE] != S_SUSPENDED ->
            assert(!ready[q]); ready[q] = 1; ready_request[q] = R_start
        :: st[q] == S_INIT && (LEAF == M_wait || grouped || bad || st[INSTANCE] == S_SUSPENDED) -> wish(q, E_due, S_INIT)
        :: else
        fi
    :: act == A_move ->
        if :: ev == E_cancel && q < LEAVES -> parked[q] = 0; ready[q] = 0 :: else fi;
        if
        :: ev == E_retry && q < LEAVES ->
            sent[q] = 0;
            for (y : 0 .. DRIVERS - 1) {
                if :: hand_leaf[y] == q && hand[y] != H_nothing -> old[y] = 1 :: else fi
            }
        :: ev == E_retry && q == MID ->
            for (y : 0 .. DRIVERS - 1) {
                if :: hand[y] != H_nothing -> old[y] = 1 :: else fi
            }
        :: else
        fi;
        wish(q, ev, to)
    :: act == A_report ->
        q = hand_leaf[who];
#ifdef HONOUR_STALE
        spare = !TERMINAL(st[q]);
#else
        spare = (lease[q] == hand_token[who]);
#endif
        if :: spare -> apply_report() :: else fi;
        if
        :: told && ev == E_ack && spare -> hand[who] = H_may_send
        :: told && !(ev == E_ack && spare) -> drop(who)
        :: !told && ev != E_ack -> hand[who] = H_reported
        :: else
        fi
    fi
}

/* what always holds: as wf.fsck, and no lost task */
inline check() {
    live = 0;
    for (y : 0 .. LEAVES - 1) {
        assert(!rest[y] || st[y] == S_INIT || st[y] == S_RETRY_CLEANUP_REQUESTED);
        places = ready[y] + (parked[y] != 0) + (lease[y] != 0) + (timer[y] == 1) + (rest[y] && st[y] == S_INIT);
        if
        :: st[y] == S_new || TERMINAL(st[y]) -> assert(places == 0 && timer[y] == 0 && !slot[y])
        :: st[y] == S_FAILED -> assert(places == 0); live++
        :: st[y] == S_WAITING -> assert(places == 1 && timer[y] == 1); live++
        :: st[y] == S_INIT -> assert(places == 1 && (ready[y] || parked[y] || rest[y])); live++
        :: st[y] == S_START_REQUESTED || LEAF == M_sync && HELD(st[y]) -> assert(places == 1 && lease[y] != 0); live++
        :: else -> assert(places == 1 && !parked[y]); live++
        fi;
        if
        :: ready[y] ->
            assert(ready_request[y] == R_start && st[y] == S_INIT || ready_request[y] == R_poll && st[y] == S_EXECUTING
                   || ready_request[y] == R_cancel && STOPPING(st[y]) || ready_request[y] == R_cleanup && CLEANING(st[y]))
        :: else -> ready_request[y] = 0
        fi;
        if
        :: lease[y] != 0 ->
            assert(lease_request[y] == R_start && HELD(st[y]) || lease_request[y] == R_poll && (st[y] == S_EXECUTING || STOPPING(st[y]))
                   || lease_request[y] == R_cancel && STOPPING(st[y]) || lease_request[y] == R_cleanup && CLEANING(st[y]))
        :: else -> lease_request[y] = 0
        fi;
        assert(!parked[y] || (parked[y] == P_suspended) == (st[INSTANCE] == S_SUSPENDED));
        assert(!(ready[y] && ready_request[y] == R_start && st[INSTANCE] == S_SUSPENDED));
        assert(!torn || st[y] == S_new || STOPPED(st[y]) || st[y] == S_RAISE_CLEANUP_REQUESTED);
        assert(slot[y] == (grouped && (HELD(st[y]) || st[y] == S_INIT && ready[y])))
    }
    assert(((st[MID] == S_ACTIVE || st[MID] == S_ABORTING) -> (mid_open > 0 && mid_open == live) : live == 0));
    assert(root_rest == (st[ROOT] == S_INIT));
    assert((st[INSTANCE] == S_RUNNING || st[INSTANCE] == S_SUSPENDED
            -> st[ROOT] == S_ACTIVE || ROUNDS && (st[ROOT] == S_INIT || st[ROOT] == S_FAILED)
            : st[ROOT] == st[INSTANCE] || st[ROOT] == S_RAISED && st[INSTANCE] == S_ABORTED))
}

inline commit() {
    d_step {
        paces = 0; polls_on = 0; stayed = 0;
        carry_out();
        make_moves();
        if :: paces -> pace() :: else fi;
        if :: polls_on && st[q] == S_EXECUTING && !ready[q] -> ready[q] = 1; ready_request[q] = R_poll :: else fi;
        check();
        act = 0; q = 0; who = 0; ev = 0; to = 0; bad = 0; again = 0; told = 0; names = 0; often = 0
    }
}

/* what a transaction evaluates may fail, and what fails may be tried again */
inline luck() {
    if :: bad = 0 :: may -> bad = 1; pay(1) fi;
    if :: again = 0 :: (retries || ROUNDS) && may -> again = 1; pay(1) fi
}

/* drivers are alike: if both have nothing in hand it does not matter who begins */
#define CLAIM(p) :: hand[d] == H_nothing && (d == 0 || hand[0] != H_nothing) && ready[p] -> act = A_claim; q = p; who = d

#define NEEDS_ACK (LEAF == M_async && hand_request[d] == R_start)
#define REPORT(c, e) :: c -> act = A_report; who = d; ev = e

active [DRIVERS] proctype driver() {
    byte d = _pid;
end:
    do
    :: atomic {
            if
            CLAIM(0)
#if LEAVES > 1
            CLAIM(1)
#endif
            REPORT(hand[d] == H_taken && NEEDS_ACK, E_ack)
            REPORT((hand[d] == H_taken || hand[d] == H_may_send) && may, E_release); pay(1)
            REPORT(hand[d] == H_sent || hand[d] == H_reported, E_success)
            REPORT((hand[d] == H_sent || hand[d] == H_reported) && may, E_fail); pay(1)
            REPORT((hand[d] == H_sent || hand[d] == H_reported) && may && LEAF == M_async && hand_request[d] < R_cancel, E_polled); pay(1)
            fi;
            luck();
            if :: told = 1 :: act == A_report && hand[d] != H_reported && may -> pay(1) fi;
            if :: names = (ev == E_polled) :: ev == E_success || ev == E_fail -> names = 1 fi;
            commit()
        }
    :: d_step { /* it sends the request */
#ifdef SEND_UNACKED
            hand[d] == H_taken || hand[d] == H_may_send ->
#else
            hand[d] == H_may_send || hand[d] == H_taken && !NEEDS_ACK ->
#endif
            if
            :: hand_request[d] == R_start && !old[d] ->
                assert(idempotent || !sent[hand_leaf[d]]); /* no double start */
                sent[hand_leaf[d]] = 1
            :: else
            fi;
            hand[d] = H_sent
        }
    :: d_step { /* it dies; another takes its place */
            hand[d] != H_nothing && may ->
            pay(1);
            if :: lease[hand_leaf[d]] == hand_token[d] -> orphan[hand_leaf[d]] = 1 :: else fi;
            drop(d)
        }
    :: d_step { /* it is silent for too long, but goes on */
            hand[d] != H_nothing && lease[hand_leaf[d]] == hand_token[d] && !orphan[hand_leaf[d]] && may ->
            pay(1);
            orphan[hand_leaf[d]] = 1
        }
    :: d_step { /* it registers again, with what it holds */
            hand[d] != H_nothing && lease[hand_leaf[d]] == hand_token[d] && orphan[hand_leaf[d]] && may ->
            pay(1);
            orphan[hand_leaf[d]] = 0
        }
    od
}

#ifdef DEAF
#define LOST(p)
#else
#define LOST(p) :: orphan[p] -> act = A_lost; q = p
#endif
#define FIRE(p) :: timer[p] == 1 -> act = A_fire; q = p \
    :: rest[p] -> act = A_due; q = p

active proctype world() {
    atomic {
        if
        :: LEAF == M_wait -> if :: sleeps = 0 :: sleeps = 1 fi
        :: LEAF == M_async ->
            if :: has_handle = 1 :: blind = 1 :: true fi;
            if
            :: has_handle || blind -> if :: has_cancel = 0 :: has_cancel = 1 fi; if :: has_cleanup = 0 :: has_cleanup = 1 fi
            :: else
            fi
        :: else
        fi;
        if :: LEAF != M_wait && !blind -> if :: idempotent = 0 :: idempotent = 1 fi; if :: grouped = 0 :: grouped = 1 fi :: else fi;
        if :: retries = 0 :: retries = 1 fi;
        if :: shape = PAR
#if LEAVES > 1
        :: shape = SEQ :: shape = WINDOW
#endif
        fi;
        act = A_begin;
        luck();
        commit()
    }
end:
    do
    :: atomic {
            if
            #ifndef NO_ABORT
            :: st[INSTANCE] == S_RUNNING || st[INSTANCE] == S_SUSPENDED -> act = A_abort
#endif
            :: dirty -> act = A_settle
            LOST(0)
            FIRE(0)
#ifndef ABORT_ONLY
            :: st[INSTANCE] == S_RUNNING && may -> act = A_suspend; pay(1)
            :: st[INSTANCE] == S_SUSPENDED -> act = A_resume
            OPERATOR_LEAF(0)
            OPERATOR_COMPOSITE(MID)
#ifdef AGAIN
            OPERATOR_COMPOSITE(ROOT)
#endif
#endif
            :: root_rest -> act = A_due; q = ROOT
            TIME_LEAF(0)
#if LEAVES > 1
            LOST(1)
            FIRE(1)
#ifndef ABORT_ONLY
            OPERATOR_LEAF(1)
#endif
            TIME_LEAF(1)
#endif
            fi;
            luck();
            if :: often = 0 :: act == A_lost && may -> often = 1; pay(1) fi;
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
