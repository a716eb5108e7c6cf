// The largest of three numbers (figure 1 of Kosmatov's paper on internal aliases): no aliases, four paths.
// Run:    touchstone generate examples/max3.c -f max3 -c paths
// Expect: one test for each outcome of the two comparisons; the oracle max3_post accepts all of them.
//
// expect: max3 tests=4
// domain: a=0..2

int max3(int a[3]) {
    int max = a[0];
    if (max < a[1])
        max = a[1];
    if (max < a[2])
        max = a[2];
    return max;
}

// The result is one of the elements, and none is larger.
int max3_post(int a[3], int result) {
    int found = 0;
    for (int i = 0; i < 3; i++) {
        if (a[i] > result)
            return 0;
        if (a[i] == result)
            found = 1;
    }
    return found;
}
