#include "counter.h"
#include <gtest/gtest.h>

class Limits : public ::testing::TestWithParam<int> {};
TEST_P(Limits, Loses) {
    struct counter c;
    counter_init(&c, 0);
    EXPECT_EQ(0, counter_add(&c, GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Few, Limits, ::testing::Values(1, 2));
