/* branch: 8 covered, 0 infeasible */
extern void abort(void);
extern int __VERIFIER_nondet_int(void);
void reach_error(void) { abort(); }
int main(void) {
    int locked = 0;
    for (int i = 0; i < 3; i++) {
        int request = __VERIFIER_nondet_int();
        if (request == 1) {
            if (locked) reach_error();
            locked = 1;
        } else if (request == 2) {
            locked = 0;
        }
    }
    return locked;
}
