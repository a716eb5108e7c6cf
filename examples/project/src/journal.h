/* The last four messages. */
#ifndef JOURNAL_H
#define JOURNAL_H

#define JOURNAL_ROOM 4

struct journal {
    int entries[JOURNAL_ROOM];
    int next;
    int count;
    int lost;
};

extern int journal_writes; /* of all journals */

void journal_add(struct journal *j, int entry);
int journal_last(const struct journal *j, int *entry);

#endif
