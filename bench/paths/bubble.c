// Bench: bubble sort of N unconstrained ints; N! paths.
//
// expect: bubble_sort tests=720
// domain: a=0..5

#ifndef N
#define N 6
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
