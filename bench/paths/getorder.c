// Bench: the order of a permutation (figure 7 of Kosmatov, "All-Paths Test Generation for Programs with Internal Aliases").
// Size with -DN=...; feasible paths for N = 3..10: 4, 7, 16, 30, 62, 110, 211, 450.
//
// expect: getOrder -D N=3 tests=4
// expect: getOrder -D N=4 tests=7
// expect: getOrder -D N=5 tests=16
// expect: getOrder -D N=6 tests=30
// expect: getOrder -D N=7 tests=62
// expect: getOrder -D N=8 tests=110

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
