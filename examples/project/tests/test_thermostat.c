/* Tests in the style of Unity: each is told from the others. */
#include "thermostat.h"
#include "unity.h"

static void test_cold_turns_heating_on(void) {
    struct thermostat t;
    thermostat_init(&t, 20, 1);
    thermostat_update(&t, 15);
    TEST_ASSERT_EQUAL_INT(1, thermostat_heating(&t));
}

static void test_warm_keeps_heating_off(void) {
    struct thermostat t;
    thermostat_init(&t, 20, 1);
    thermostat_update(&t, 20);
    TEST_ASSERT(!thermostat_heating(&t));
}

static void test_hot_turns_heating_off(void) {
    struct thermostat t;
    thermostat_init(&t, 20, 1);
    thermostat_update(&t, 15);
    thermostat_update(&t, 25);
    TEST_ASSERT_EQUAL_INT(0, t.heating);
}

int main(void) {
    RUN_TEST(test_cold_turns_heating_on);
    RUN_TEST(test_warm_keeps_heating_off);
    RUN_TEST(test_hot_turns_heating_off);
    return 0;
}
