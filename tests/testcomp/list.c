/* branch: 9 covered, 1 infeasible */
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
struct node { int value; struct node *next; };
int main(void) {
    struct node *head = NULL;
    for (int i = 0; i < 3; i++) {
        int value = __VERIFIER_nondet_int();
        if (value == 0) break;
        struct node *node = malloc(sizeof *node);
        if (!node) abort();
        node->value = value;
        node->next = head;
        head = node;
    }
    int sum = 0;
    for (struct node *node = head; node; node = node->next) sum += node->value > 10;
    while (head) {
        struct node *next = head->next;
        free(head);
        head = next;
    }
    return sum;
}
