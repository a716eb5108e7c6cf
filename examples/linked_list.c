// Insertion into a sorted linked list: the shape of the list is an input, too.
// Run:    touchstone generate examples/linked_list.c -f insert_sorted -c paths --max-objects 4
// Expect: 7 tests: insertion before the first, second or third node, or at the end of a list of none to three nodes.
//
// expect: insert_sorted --max-objects 4 tests=7

#include <stddef.h>

#define MAX_LENGTH 3

struct node {
    int value;
    struct node *next;
};

// Inserts `item` before the first node that is not smaller; returns the new head.
struct node *insert_sorted(struct node *list, struct node *item) {
    struct node *previous = NULL;
    struct node *current = list;
    while (current != NULL && current->value < item->value) {
        previous = current;
        current = current->next;
    }
    item->next = current;
    if (previous == NULL)
        return item;
    previous->next = item;
    return list;
}

// The list is strictly ascending (and so has no cycle), has at most MAX_LENGTH nodes, and doesn't contain the item.
int insert_sorted_pre(struct node *list, struct node *item) {
    int length = 0;
    if (item == NULL)
        return 0;
    for (struct node *node = list; node != NULL; node = node->next) {
        if (++length > MAX_LENGTH || node == item)
            return 0;
        if (node->next != NULL && node->next->value <= node->value)
            return 0;
    }
    return 1;
}
