/* A program that asserts. */
#include "journal.h"
#include <assert.h>

int main(void) {
    struct journal first = {{0}, 0, 0, 0};
    struct journal second = {{0}, 0, 0, 0};
    int entry = -1;
    assert(!journal_last(&first, &entry));
    for (int i = 0; i < 5; i++)
        journal_add(&first, i);
    journal_add(&second, 7);
    assert(journal_last(&first, &entry));
    assert(entry == 4);
    assert(second.count == 1);
    return 0;
}
