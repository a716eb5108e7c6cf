#include <stdlib.h>

struct queue {
    int *items;
    int head, count, capacity;
};

struct queue *queue_create(int capacity)
{
    struct queue *q;
    if (capacity <= 0)
        return NULL;
    q = malloc(sizeof *q);
    if (q == NULL)
        return NULL;
    q->items = malloc(capacity * sizeof *q->items);
    if (q->items == NULL) {
        free(q);
        return NULL;
    }
    q->head = q->count = 0;
    q->capacity = capacity;
    return q;
}

int queue_push(struct queue *q, int item)
{
    if (q->count == q->capacity)
        return -1;
    q->items[(q->head + q->count++) % q->capacity] = item;
    return 0;
}

int queue_pop(struct queue *q, int *item)
{
    if (q->count == 0)
        return -1;
    *item = q->items[q->head];
    q->head = (q->head + 1) % q->capacity;
    q->count--;
    return 0;
}

void queue_free(struct queue *q)
{
    free(q->items);
    free(q);
}
