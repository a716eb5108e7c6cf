// Binary search in a sorted array of fixed length.
// Run:    touchstone generate examples/binary_search.c -f binary_search -c paths
// Expect: 2 * LEN + 1 tests: the key at each place, and the key in each gap.
//
// expect: binary_search tests=15
// domain: a=0..2
// domain: key=0..2
// expect: binary_search -D LEN=4 tests=9
// domain: a=0..2
// domain: key=0..2
// expect: binary_search -D LEN=1 tests=3
// domain: a=0..2
// domain: key=0..2

#ifndef LEN
#define LEN 7
#endif

int binary_search(const int a[LEN], int key) {
    int low = 0, high = LEN;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (a[middle] == key)
            return middle;
        if (a[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

int binary_search_pre(const int a[LEN], int key) {
    (void)key;
    for (int i = 0; i + 1 < LEN; i++)
        if (a[i] > a[i + 1])
            return 0;
    return 1;
}

int binary_search_post(const int a[LEN], int key, int result) {
    if (result >= 0)
        return result < LEN && a[result] == key;
    for (int i = 0; i < LEN; i++)
        if (a[i] == key)
            return 0;
    return result == -1;
}
