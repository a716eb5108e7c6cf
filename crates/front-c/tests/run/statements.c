/* Every statement. */
#include <stdio.h>

static int classify(int x)
{
    switch (x) {
    case 1:
    case 2:
        return 10;
    case 4 ... 6:
        x += 100;
    case 8:
        x += 1000;
        break;
    default:
        if (x < 0) {
        case -7:
            x = -x;
            break;
        }
        return 7;
    case 2147483647:
        return 8;
    }
    return x;
}

static int unsigned_switch(unsigned char c)
{
    switch (c) {
    case 'a' ... 'z': return 1;
    case 'A' ... 'Z': return 2;
    case 255: return 3;
    }
    return 0;
}

static int duff(char *to, const char *from, int count)
{
    int n = (count + 3) / 4, steps = 0;
    switch (count % 4) {
    case 0: do { *to++ = *from++; steps++;
    case 3:      *to++ = *from++; steps++;
    case 2:      *to++ = *from++; steps++;
    case 1:      *to++ = *from++; steps++;
            } while (--n > 0);
    }
    return steps;
}

static int jumps(int n)
{
    int i = 0, sum = 0;
again:
    if (i >= n)
        goto out;
    for (int j = 0; j < 3; j++) {
        if (j == 2)
            goto next;
        sum += i * j;
    }
next:
    i++;
    goto again;
out:
    return sum;
}

static int into_loop(int n)
{
    int i = 5, sum = 0;
    if (n > 3)
        goto middle;
    for (i = 0; i < n; i++) {
        sum += 10;
    middle:
        sum += i;
    }
    return sum;
}

static int skipped_declaration(int n)
{
    switch (n) {
        int y;
        int a[3];
    case 1:
        y = 5;
        a[1] = y;
        return a[1] + *&y;
    default:
        return 0;
    }
}

static int loops(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (i % 3 == 0)
            continue;
        if (i > 20)
            break;
        int j = i;
        while (j > 0) {
            j -= 2;
            if (j == 4)
                break;
            sum += j;
        }
        do {
            sum++;
            if (sum & 1)
                continue;
            j++;
        } while (j < 3);
    }
    for (;;) {
        if (sum-- < 10)
            break;
    }
    return sum;
}

static int fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }
static int odd(int n);
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }

static int counter(void)
{
    static int calls;
    static int start = 40;
    return start + ++calls;
}
static int other_counter(void)
{
    {
        static int calls = 7;
        calls++;
        if (calls > 100) return 0;
    }
    static int calls;
    return ++calls;
}

static void nothing(int *p)
{
    if (!p)
        return;
    *p = 9;
}

static int statement_expression(int x)
{
    int y = ({ int t = x * 2; if (t > 5) t = 5; t; });
    return y + ({ x; });
}

static int shadow(int x)
{
    int r = x;
    {
        int x = 3;
        r += x;
        {
            typedef char x;
            r += sizeof(x);
            struct s { x a; int b; } v = {1, 2};
            r += v.b + sizeof(struct s);
        }
        struct s { long a; } w = {5};
        r += w.a + sizeof w;
    }
    return r + x;
}

int main(void)
{
    for (int i = -8; i < 12; i++)
        printf("%d ", classify(i));
    printf("%d\n", classify(2147483647));
    printf("%d%d%d%d\n", unsigned_switch('q'), unsigned_switch('Q'), unsigned_switch(255), unsigned_switch(1));
    char to[32];
    for (int i = 1; i < 12; i++)
        printf("%d ", duff(to, "hello duff device", i));
    to[11] = 0;
    printf("%s\n", to);
    printf("%d %d %d %d\n", jumps(5), into_loop(2), into_loop(9), skipped_declaration(1));
    printf("%d %d\n", loops(30), loops(2));
    printf("%d %d %d\n", fact(10), even(10), odd(7));
    int a = counter(), b = counter();
    printf("%d %d\n", a, b);
    a = other_counter(), b = other_counter();
    printf("%d %d\n", a, b);
    nothing(0);
    nothing(&a);
    printf("%d\n", a);
    printf("%d %d\n", statement_expression(1), statement_expression(8));
    printf("%d\n", shadow(4));
    putchar('x');
    putchar('\n');
    puts("the end");
}
