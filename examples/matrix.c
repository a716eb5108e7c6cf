// Double indirection: a matrix that is read through permutations of its rows and columns, and a table that is followed.
// Run:    touchstone generate examples/matrix.c -f first_below_diagonal -c paths
// Expect: one test for every place where the first non-zero element below the diagonal can be, and one for none.
//
// expect: first_below_diagonal tests=4
// domain: a=0..1
// domain: p=0..2
// domain: q=0..2
// expect: steps_home tests=5
// domain: next=0..3
// domain: start=0..3

#define N 3

static int is_permutation(const int p[N]) {
    for (int i = 0; i < N; i++) {
        if (p[i] < 0 || p[i] >= N)
            return 0;
        for (int j = 0; j < i; j++)
            if (p[i] == p[j])
                return 0;
    }
    return 1;
}

// Number (from 1) of the first non-zero element below the diagonal of the permuted matrix; 0 if it is upper triangular.
int first_below_diagonal(const int a[N][N], const int p[N], const int q[N]) {
    int number = 0;
    for (int i = 1; i < N; i++) {
        for (int j = 0; j < i; j++) {
            number++;
            if (a[p[i]][q[j]] != 0)
                return number;
        }
    }
    return 0;
}

int first_below_diagonal_pre(const int a[N][N], const int p[N], const int q[N]) {
    (void)a;
    return is_permutation(p) && is_permutation(q);
}

#define PLACES 4

// How many steps along the table lead from `start` back to it; 0 if none do.
int steps_home(const int next[PLACES], int start) {
    int at = next[start];
    int steps = 1;
    while (at != start) {
        if (steps == PLACES)
            return 0;
        at = next[at];
        steps++;
    }
    return steps;
}

int steps_home_pre(const int next[PLACES], int start) {
    for (int i = 0; i < PLACES; i++)
        if (next[i] < 0 || next[i] >= PLACES)
            return 0;
    return 0 <= start && start < PLACES;
}
