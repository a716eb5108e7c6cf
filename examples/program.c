// A whole program that makes its own inputs: a vending machine that is fed three coins.
// Run:    touchstone generate examples/program.c --entry main -c paths
// Expect: 32 tests, one for every course of the sale; on none the assertion fails.
//
// expect: main --entry main tests=32
// domain: price=1..5
// domain: coins=0..6

#include "touchstone.h"

enum { SOLD = 0, TOO_LITTLE = 1, BAD_COIN = 2 };

int main(void) {
    int price;
    int coins[3];
    int paid = 0;
    int used = 0;

    touchstone_symbolic(&price, sizeof price, "price");
    touchstone_symbolic(coins, sizeof coins, "coins");
    touchstone_assume(price >= 1);
    touchstone_assume(price <= 5);

    while (paid < price) {
        if (used == 3)
            return TOO_LITTLE;
        int coin = coins[used++];
        if (coin != 1 && coin != 2 && coin != 5)
            return BAD_COIN;
        paid += coin;
    }
    int change = paid - price;
    touchstone_assert(change < 5);
    return SOLD;
}
