/* Signals that a program sends to itself. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t seen;
static void note(int number) { seen = seen * 100 + number; }
static void other(int number) { seen = -number; }

int main(void)
{
    printf("%d\n", signal(SIGUSR1, note) == SIG_DFL);
    raise(SIGUSR1);
    raise(SIGUSR1);
    printf("%d\n", (int)seen);
    printf("%d\n", signal(SIGUSR1, other) == note);
    printf("%d\n", raise(SIGUSR1));
    printf("%d\n", (int)seen);
    signal(SIGFPE, SIG_IGN);
    printf("%d\n", raise(SIGFPE));
    printf("%d\n", (int)seen);
    errno = 0;
    printf("%d\n", signal(SIGKILL, note) == SIG_ERR);
    printf("%d\n", errno == EINVAL);
    printf("%d\n", raise(SIGCHLD));
    return 0;
}
