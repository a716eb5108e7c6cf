/* Nondeterministic functions as inputs; used only where external functions are inputs. */

void touchstone_given_answer(void *address, unsigned long size, const char *name);
void touchstone_assume(long condition);

static long later(long *last, const char *name)
{
    long now;
    touchstone_given_answer(&now, sizeof now, name);
    touchstone_assume(now >= *last);
    *last = now;
    return now;
}

long touchstone_time, touchstone_clock;

long time(long *to)
{
    long now = later(&touchstone_time, "time");
    if (to)
        *to = now;
    return now;
}

long clock(void) { return later(&touchstone_clock, "clock"); }

int rand(void)
{
    int value;
    touchstone_given_answer(&value, sizeof value, "rand");
    touchstone_assume(value >= 0);
    return value;
}

long random(void)
{
    long value;
    touchstone_given_answer(&value, sizeof value, "random");
    touchstone_assume((unsigned long)value <= 2147483647);
    return value;
}

void srand(unsigned seed) {}
void srandom(unsigned seed) {}
