// Two pointers that may be null or may be equal: external aliases.
// Run:    touchstone generate examples/accounts.c -f transfer -c paths
// Expect: eight tests; one has both pointers on the same account, two have a null pointer.
//
// expect: transfer tests=8

#include <stddef.h>

struct account {
    int balance;
    int limit;
};

enum status { DONE = 0, NO_ACCOUNT = -1, SAME_ACCOUNT = -2, BAD_AMOUNT = -3, NO_FUNDS = -4 };

int transfer(struct account *from, struct account *to, int amount) {
    if (from == NULL || to == NULL)
        return NO_ACCOUNT;
    if (from == to)
        return SAME_ACCOUNT;
    if (amount <= 0)
        return BAD_AMOUNT;
    if (from->balance < amount && !(from->limit > 0 && from->balance > -from->limit))
        return NO_FUNDS;
    from->balance -= amount;
    to->balance += amount;
    return DONE;
}
