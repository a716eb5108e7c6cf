/* Signals that a program sends to itself. The system never sends any. */

typedef void (*handler)(int);

enum { MAX_SIGNAL = 64, ABORTED = 6, KILLED = 9, STOPPED = 19, INVALID = 22 };

void touchstone_run_only(const char *name);
void touchstone_refuse(const char *what);
void abort(void);
int *__errno_location(void);

static handler handlers[MAX_SIGNAL + 1];

handler signal(int number, handler new)
{
    handler old;
    touchstone_run_only("signal");
    if (number < 1 || number > MAX_SIGNAL || number == KILLED || number == STOPPED) {
        *__errno_location() = INVALID;
        return (handler)-1;
    }
    if (number == ABORTED && new != (handler)0)
        touchstone_refuse("handler of SIGABRT");
    old = handlers[number];
    handlers[number] = new;
    return old;
}

int raise(int number)
{
    handler now;
    touchstone_run_only("signal");
    if (number < 1 || number > MAX_SIGNAL) {
        *__errno_location() = INVALID;
        return -1;
    }
    now = handlers[number];
    if (number == ABORTED)
        abort();
    if (now == (handler)0) {
        /* SIGCHLD, SIGCONT, SIGURG and SIGWINCH are ignored. */
        if (number != 17 && number != 18 && number != 23 && number != 28)
            touchstone_refuse("default action of a signal");
    } else if (now != (handler)1) {
        now(number);
    }
    return 0;
}
