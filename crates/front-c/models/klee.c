/* KLEE's functions that are not mere aliases of builtins. */

void touchstone_symbolic(void *address, unsigned long size, const char *name);
void touchstone_assume(long condition);
unsigned long touchstone_object_size(const void *);

/* A value from 0 to n - 1. */
unsigned long klee_choose(unsigned long n)
{
    unsigned long value;
    touchstone_symbolic(&value, sizeof value, "klee_choose");
    touchstone_assume(value < n);
    return value;
}

/* Symbolic and concrete values are not distinguished. */
unsigned klee_is_symbolic(unsigned long value) { return 0; }
unsigned klee_is_replay(void) { return 0; }
float klee_get_valuef(float value) { return value; }
double klee_get_valued(double value) { return value; }
long klee_get_valuel(long value) { return value; }
long long klee_get_valuell(long long value) { return value; }
int klee_get_value_i32(int value) { return value; }
long klee_get_value_i64(long value) { return value; }
unsigned long klee_get_obj_size(void *object) { return touchstone_object_size(object); }
