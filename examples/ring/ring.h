// A ring buffer of small fixed size.
#ifndef RING_H
#define RING_H

#define RING_SIZE 3

struct ring {
    int items[RING_SIZE];
    int first;
    int count;
};

void ring_clear(struct ring *ring);

// Both return 1 if it worked.
int ring_put(struct ring *ring, int item);
int ring_get(struct ring *ring, int *item);

#endif
