/*
 * trees.pml - the trees of processes that tree.pml plays: one of them, chosen by a
 * define when the model is made.
 *
 * A node is the one process that it has at a time. Its number is its id, too: the
 * workspace looks at processes in the order of their ids. Numbers say nothing of who
 * is inside whom; with BACKWARDS ids go down as numbers go up.
 *
 * A catch, and whatever else has nothing in it, ends as soon as it begins.
 */
c_decl {
enum { NIL = 255 };
enum kind { K_leaf, K_seq, K_par, K_race, K_try, K_catch, K_finally, K_undo };
enum { F_timed = 1, F_retries = 2 };
typedef struct {
    unsigned char kind;
    unsigned char up;    /* the node around it; of an undo the node that it undoes */
    unsigned char next;  /* in a row: what comes after it */
    unsigned char flags; /* F_timed: it has a deadline; F_retries: a policy retry */
} Node;
}

#ifdef WIN
/* try { c || { race { a || try { b } finally { f } } ; y } } catch { } ; z */
#define NODES 14
c_decl {
static const Node tree[NODES] = {
    {K_seq, NIL, NIL}, {K_try, 0, 13}, {K_par, 1, NIL}, {K_leaf, 2, NIL},
    {K_seq, 2, NIL}, {K_race, 4, 11}, {K_leaf, 5, NIL},
    {K_try, 5, NIL}, {K_leaf, 7, NIL}, {K_finally, 7, NIL}, {K_leaf, 9, NIL},
    {K_leaf, 4, NIL}, {K_catch, 1, NIL}, {K_leaf, 0, NIL}};
}
#endif

#ifdef DEADLINE
/* try { with timeout(deadline), retry { a || with timeout(deadline), retry { try { b with undo { ub } } finally { f } } } }
 * catch { } ; z */
#define NODES 14
c_decl {
static const Node tree[NODES] = {
    {K_seq, NIL, NIL}, {K_try, 0, 11},
    {K_seq, 1, NIL, F_timed | F_retries}, {K_par, 2, NIL}, {K_leaf, 3, NIL},
    {K_seq, 3, NIL, F_timed | F_retries}, {K_try, 5, NIL}, {K_leaf, 6, NIL}, {K_finally, 6, NIL}, {K_leaf, 8, NIL},
    {K_catch, 1, NIL}, {K_leaf, 0, NIL}, {K_undo, 7, NIL}, {K_leaf, 12, NIL}};
}
#endif

#ifdef FINALLY
/* try { try { a ; b } catch { c } finally { f || try { g } finally { h } } } catch { } ; z */
#define NODES 17
c_decl {
static const Node tree[NODES] = {
    {K_seq, NIL, NIL}, {K_try, 0, 16},
    {K_try, 1, NIL}, {K_seq, 2, NIL}, {K_leaf, 3, 5}, {K_leaf, 3, NIL},
    {K_catch, 2, NIL}, {K_leaf, 6, NIL},
    {K_finally, 2, NIL}, {K_par, 8, NIL}, {K_leaf, 9, NIL},
    {K_try, 9, NIL}, {K_leaf, 11, NIL}, {K_finally, 11, NIL}, {K_leaf, 13, NIL},
    {K_catch, 1, NIL}, {K_leaf, 0, NIL}};
}
#endif

#ifdef UNDO
/* try { { a with undo { ua } ; b with undo { ub } } with undo { us } || c with undo { uc } ; d } catch { } ; z */
#define NODES 19
c_decl {
static const Node tree[NODES] = {
    {K_seq, NIL, NIL}, {K_try, 0, 18}, {K_seq, 1, NIL},
    {K_par, 2, 16},
    {K_seq, 3, NIL}, {K_leaf, 4, 6}, {K_leaf, 4, NIL}, {K_leaf, 3, NIL},
    {K_undo, 5, NIL}, {K_leaf, 8, NIL}, {K_undo, 6, NIL}, {K_leaf, 10, NIL},
    {K_undo, 7, NIL}, {K_leaf, 12, NIL}, {K_undo, 4, NIL}, {K_leaf, 14, NIL},
    {K_leaf, 2, NIL}, {K_catch, 1, NIL}, {K_leaf, 0, NIL}};
}
#endif

#ifdef LOSERS
/* race { { a with undo { ua } ; b } || { c with undo { uc } ; d } } ; z */
#define NODES 13
c_decl {
static const Node tree[NODES] = {
    {K_seq, NIL, NIL}, {K_race, 0, 12},
    {K_seq, 1, NIL}, {K_leaf, 2, 4}, {K_leaf, 2, NIL}, {K_undo, 3, NIL}, {K_leaf, 5, NIL},
    {K_seq, 1, NIL}, {K_leaf, 7, 9}, {K_leaf, 7, NIL}, {K_undo, 8, NIL}, {K_leaf, 10, NIL},
    {K_leaf, 0, NIL}};
}
#endif
