// Bubble sort of a fixed array: every order of the elements takes its own path.
// Run:    touchstone generate examples/bubble_sort.c -f bubble_sort -c paths
// Expect: N! tests; the values are unconstrained, and the oracle checks that the result is sorted.
//
// expect: bubble_sort tests=24
// domain: a=0..3
// expect: bubble_sort -D N=3 tests=6
// domain: a=0..2
// expect: bubble_sort -D N=5 tests=120
// domain: a=0..4

#ifndef N
#define N 4
#endif

void bubble_sort(int a[N]) {
    for (int end = N - 1; end > 0; end--) {
        for (int i = 0; i < end; i++) {
            if (a[i] > a[i + 1]) {
                int tmp = a[i];
                a[i] = a[i + 1];
                a[i + 1] = tmp;
            }
        }
    }
}

int bubble_sort_post(int a[N]) {
    for (int i = 0; i + 1 < N; i++)
        if (a[i] > a[i + 1])
            return 0;
    return 1;
}
