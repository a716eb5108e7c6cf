/* branch: 12 covered, 1 infeasible */
extern int __VERIFIER_nondet_int(void);
enum state { IDLE, CONNECTING, OPEN, CLOSED };
int main(void) {
    enum state state = IDLE;
    for (int step = 0; step < 4; step++) {
        int event = __VERIFIER_nondet_int();
        switch (state) {
        case IDLE: if (event == 10) state = CONNECTING; break;
        case CONNECTING: if (event > 0) state = OPEN; else state = IDLE; break;
        case OPEN: if (event == 0) state = CLOSED; break;
        case CLOSED: break;
        }
    }
    return state;
}
