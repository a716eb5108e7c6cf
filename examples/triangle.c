// What kind of triangle do three sides make?
// Run:    touchstone generate examples/triangle.c -f triangle -c paths
// Expect: 14 tests: one for every way through the three comparisons of sides, also for sides that make no triangle.
//
// expect: triangle tests=14
// domain: a=-1..6
// domain: b=-1..6
// domain: c=-1..6

enum kind { NO_TRIANGLE, SCALENE, ISOSCELES, EQUILATERAL };

int triangle(int a, int b, int c) {
    int equal = 0;
    if (a <= 0 || b <= 0 || c <= 0)
        return NO_TRIANGLE;
    if (a == b)
        equal++;
    if (a == c)
        equal++;
    if (b == c)
        equal++;
    if (equal == 3)
        return EQUILATERAL;
    if (a + b <= c || a + c <= b || b + c <= a)
        return NO_TRIANGLE;
    return equal == 1 ? ISOSCELES : SCALENE;
}

// Sides are small enough that their sums don't overflow.
int triangle_pre(int a, int b, int c) {
    return -1000 <= a && a <= 1000 && -1000 <= b && b <= 1000 && -1000 <= c && c <= 1000;
}
