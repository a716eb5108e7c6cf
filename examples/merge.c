// Merges two sorted arrays into a third.
// Run:    touchstone generate examples/merge.c -f merge -c paths
// Expect: 20 tests, one for each way to interleave three elements with three.
//
// expect: merge tests=20
// domain: a=0..3
// domain: b=0..3
// domain: out=0..0
// inputs: sorted --len values=3 --range count=0..3

#define LEN_A 3
#define LEN_B 3

static int sorted(const int *values, int count) {
    for (int i = 0; i + 1 < count; i++)
        if (values[i] > values[i + 1])
            return 0;
    return 1;
}

void merge(const int a[LEN_A], const int b[LEN_B], int out[LEN_A + LEN_B]) {
    int i = 0, j = 0, k = 0;
    while (i < LEN_A && j < LEN_B) {
        if (a[i] <= b[j])
            out[k++] = a[i++];
        else
            out[k++] = b[j++];
    }
    while (i < LEN_A)
        out[k++] = a[i++];
    while (j < LEN_B)
        out[k++] = b[j++];
}

int merge_pre(const int a[LEN_A], const int b[LEN_B], int out[LEN_A + LEN_B]) {
    (void)out;
    return sorted(a, LEN_A) && sorted(b, LEN_B);
}

int merge_post(const int a[LEN_A], const int b[LEN_B], int out[LEN_A + LEN_B]) {
    (void)a;
    (void)b;
    return sorted(out, LEN_A + LEN_B);
}
