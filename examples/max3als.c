// The largest of three elements that are chosen by index (figure 4 of Kosmatov's paper on internal aliases).
// Run:    touchstone generate examples/max3als.c -f max3Als -c paths
// Expect: three tests; the fourth path needs three different values, and the table has only two.
//         With --aliases eager every index is fixed where it is met, so all 5 * 5 * 5 inputs become tests.
//
// expect: max3Als tests=3
// domain: i0=0..4
// domain: i1=0..4
// domain: i2=0..4
// expect: max3Als --aliases eager tests=125

int a[5] = {6, 7, 6, 6, 7};

int max3Als(int i0, int i1, int i2) {
    int max = a[i0];
    if (max < a[i1])
        max = a[i1];
    if (max < a[i2])
        max = a[i2];
    return max;
}

int max3Als_pre(int i0, int i1, int i2) {
    return 0 <= i0 && i0 < 5 && 0 <= i1 && i1 < 5 && 0 <= i2 && i2 < 5;
}
