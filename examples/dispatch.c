// Callbacks and layouts: a table of functions, a union read another way than it was written, bit-fields, an array as
// long as a parameter says.
// Run:    touchstone generate examples/dispatch.c -c paths
// Expect: a test for each function of the table and each of its courses, the last one for an operation that is not there.
//
// expect: calculate tests=10
// domain: operation=0..4
// domain: a=-1..7
// domain: b=-1..7
// expect: packed tests=4
// domain: hour=0..63
// domain: delta=-20..20
// expect: byte_of tests=2
// domain: word=0,127,128,32512,8323072,2130706432
// domain: index=0..4
// expect: squares tests=6
// domain: count=-1..5

typedef int (*binary)(int, int);

static int add(int a, int b) { return a + b; }
static int subtract(int a, int b) { return a < b ? 0 : a - b; }
static int larger(int a, int b) { return a > b ? a : b; }
static const binary operations[] = {add, subtract, larger};

int calculate(unsigned operation, int a, int b) {
    if (operation >= sizeof operations / sizeof *operations)
        return -1;
    int result = operations[operation](a, b);
    return result == 6 ? 100 : result;
}

struct time {
    unsigned hour : 5;
    int delta : 4;
};

int packed(unsigned hour, int delta) {
    struct time time;
    time.hour = hour;
    time.delta = delta;
    if (time.hour >= 24)
        return -1;
    if (time.delta < 0 && time.hour == 0)
        return -2;
    return time.hour + time.delta;
}

union word {
    unsigned whole;
    unsigned char bytes[4];
};

int byte_of(unsigned word, unsigned index) {
    union word u;
    u.whole = word;
    if (index >= 4)
        return -1;
    return u.bytes[index] == 127;
}

int squares(int count) {
    if (count < 1 || count > 4)
        return -1;
    int square[count];
    for (int i = 0; i < count; i++)
        square[i] = i * i;
    return square[count - 1];
}
