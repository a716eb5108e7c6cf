/* A test that works in a child of its own, which ends without the usual leave. */
#include "journal.h"
#include <assert.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    struct journal j = {{0}, 0, 0, 0};
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        journal_add(&j, 3);
        assert(j.entries[0] == 3);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    assert(status == 0);
    return 0;
}
