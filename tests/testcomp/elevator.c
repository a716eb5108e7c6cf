/* branch: 10 covered, 0 infeasible */
extern int __VERIFIER_nondet_int(void);
static int floor_now = 0, moves = 0;
static void go(int target) {
    while (floor_now < target) { floor_now++; moves++; }
    while (floor_now > target) { floor_now--; moves++; }
}
int main(void) {
    for (int i = 0; i < 2; i++) {
        int target = __VERIFIER_nondet_int();
        if (target < 0 || target > 3) continue;
        go(target);
    }
    if (moves == 6) return 1;
    return 0;
}
