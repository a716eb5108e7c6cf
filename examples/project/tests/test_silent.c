/* A test that runs the code and asserts nothing. */
#include "journal.h"
#include "thermostat.h"

int main(void) {
    struct journal j = {{0}, 0, 0, 0};
    struct thermostat t;
    int entry = 0;
    thermostat_init(&t, 5, 0);
    thermostat_update(&t, 9);
    journal_add(&j, 1);
    journal_last(&j, &entry);
    return 0;
}
