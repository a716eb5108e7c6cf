#include "counter.h"
#include <gtest/gtest.h>

TEST(Counter, Adds) {
    struct counter c;
    counter_init(&c, 5);
    EXPECT_EQ(1, counter_add(&c, 3));
    EXPECT_EQ(3, c.value);
}

class CounterTest : public ::testing::Test {
  protected:
    void SetUp() override { counter_init(&c, 2); }
    struct counter c;
};

TEST_F(CounterTest, Refuses) {
    ASSERT_EQ(-1, counter_add(&c, -1));
    EXPECT_TRUE(c.value == 0);
}
