#include "ring.h"

void ring_clear(struct ring *ring) {
    ring->first = 0;
    ring->count = 0;
}

int ring_put(struct ring *ring, int item) {
    if (ring->count == RING_SIZE)
        return 0;
    ring->items[(ring->first + ring->count) % RING_SIZE] = item;
    ring->count++;
    return 1;
}

int ring_get(struct ring *ring, int *item) {
    if (ring->count == 0)
        return 0;
    *item = ring->items[ring->first];
    ring->first = (ring->first + 1) % RING_SIZE;
    ring->count--;
    return 1;
}
