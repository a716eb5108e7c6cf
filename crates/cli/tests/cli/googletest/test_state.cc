#include "counter.h"
#include <gtest/gtest.h>
#include <string>

TEST(State, Loop) {
    struct counter c;
    counter_init(&c, 10);
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(1, counter_add(&c, 1));
}

TEST(State, Pointer) {
    struct counter c;
    counter_init(&c, 1);
    struct counter *p = &c;
    ASSERT_EQ(&c, p);
    ASSERT_NE(nullptr, p);
}

TEST(State, Text) {
    char text[8];
    counter_name(text, 'x');
    EXPECT_STREQ("x", text);
}

TEST(State, Local) {
    struct counter c;
    counter_init(&c, 4);
    int limit = c.limit;
    int unused = c.value;
    if (limit > 3)
        limit = 3;
    EXPECT_GT(limit, 0);
    (void)unused;
}

TEST(State, Both) {
    struct counter c = {1, 2, 3};
    counter_init(&c, 4);
    EXPECT_TRUE(c.value == 0 && c.lost == 0);
}

TEST(State, Cxx) {
    std::string s("x");
    struct counter c;
    counter_init(&c, (int)s.size());
    EXPECT_EQ(s, "x");
    EXPECT_FALSE(c.limit != 1);
}
