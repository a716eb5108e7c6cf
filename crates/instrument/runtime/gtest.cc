# 1 "<touchstone>" 3
/* Announces the beginning of each GoogleTest test. It is appended to preprocessed C++; the first unit of a process listens.
   Instrumented units define the announced function: without any, nothing is announced. */
extern "C" {
__attribute__((__weak__)) void touchstone_test_begin(const char *);
__attribute__((__weak__, __visibility__("default"))) int __touchstone_listens = 0;
}
namespace {
class TouchstoneListener : public ::testing::EmptyTestEventListener {
    void OnTestStart(const ::testing::TestInfo &info) {
        char name[512];
        const char *parts[] = {info.test_suite_name(), ".", info.name()};
        unsigned at = 0, part;
        if (!touchstone_test_begin) return;
        for (part = 0; part < 3; part++)
            for (const char *from = parts[part]; *from && at < sizeof name - 1; from++) name[at++] = *from;
        name[at] = 0;
        touchstone_test_begin(name);
    }
};
struct TouchstoneListens {
    TouchstoneListens() {
        if (!__touchstone_listens++) ::testing::UnitTest::GetInstance()->listeners().Append(new TouchstoneListener);
    }
} touchstone_listens;
}
