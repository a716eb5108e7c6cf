// An ordinary program for the reference interpreter.
// Run:    touchstone run examples/primes.c
// Expect: the primes below 50 on one line, the number of twin primes on the next, exit status 15 (how many primes).
//
// run: status=15

#include <stdio.h>

#define LIMIT 50

static int sieve(char composite[LIMIT]) {
    int count = 0;
    for (int n = 2; n < LIMIT; n++) {
        if (composite[n])
            continue;
        count++;
        for (int multiple = n * n; multiple < LIMIT; multiple += n)
            composite[multiple] = 1;
    }
    return count;
}

int main(void) {
    char composite[LIMIT] = {0};
    int count = sieve(composite);
    int twins = 0;
    const char *separator = "";
    for (int n = 2; n < LIMIT; n++) {
        if (composite[n])
            continue;
        printf("%s%d", separator, n);
        separator = " ";
        if (n + 2 < LIMIT && !composite[n + 2])
            twins++;
    }
    printf("\n%d pairs of twins\n", twins);
    return count;
}
