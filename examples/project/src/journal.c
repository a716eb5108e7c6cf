#include "journal.h"

int journal_writes;

void journal_add(struct journal *j, int entry) {
    j->entries[j->next] = entry;
    j->next = (j->next + 1) % JOURNAL_ROOM;
    if (j->count < JOURNAL_ROOM)
        j->count++;
    else
        j->lost++;
    journal_writes++;
}

int journal_last(const struct journal *j, int *entry) {
    if (j->count == 0)
        return 0;
    *entry = j->entries[(j->next + JOURNAL_ROOM - 1) % JOURNAL_ROOM];
    return 1;
}
