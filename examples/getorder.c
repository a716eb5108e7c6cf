// The order of a permutation: how often it must be applied to itself to give the identity (figure 7 of Kosmatov's
// paper on internal aliases). Many aliases (tmp[p[i]]), N! inputs, few feasible paths, very many infeasible ones.
// Run:    touchstone generate examples/getorder.c -f getOrder -c paths -- -DN=6
// Expect: 16 tests for N = 5; with --aliases eager one test for each of the 120 permutations.
//
// expect: getOrder tests=16
// domain: p=0..4
// expect: getOrder -D N=3 tests=4
// domain: p=0..2
// expect: getOrder -D N=4 tests=7
// domain: p=0..3
// expect: getOrder -D N=6 tests=30
// domain: p=0..5
// expect: getOrder -D N=7 tests=62
// expect: getOrder -D N=8 tests=110
// expect: getOrder -D N=3 --aliases eager tests=6
// expect: getOrder -D N=4 --aliases eager tests=24
// expect: getOrder -D N=5 --aliases eager tests=120

#ifndef N
#define N 5
#endif

typedef int perm[N];

int getOrder(perm p) {
    int i, order = 1, isId;
    perm power, tmp;
    for (i = 0; i < N; i++)
        power[i] = p[i];
    while (1) {
        for (i = 0, isId = 1; i < N && isId; i++)
            if (power[i] != i)
                isId = 0;
        if (isId)
            return order;
        for (i = 0; i < N; i++)
            tmp[i] = power[i];
        for (i = 0; i < N; i++)
            power[i] = tmp[p[i]];
        order++;
    }
}

// p is a permutation of 0, ..., N-1.
int getOrder_pre(perm p) {
    int i, j;
    for (i = 0; i < N; i++)
        if (p[i] < 0 || p[i] >= N)
            return 0;
    for (i = 0; i < N; i++)
        for (j = 0; j < i; j++)
            if (p[i] == p[j])
                return 0;
    return 1;
}
