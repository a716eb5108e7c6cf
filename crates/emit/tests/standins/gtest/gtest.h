/* As much of GoogleTest's interface as our tests use, written for them: each test prints `ok`, `failed` or `skipped`. It has
 * its own main, and death tests run in a child. */
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

namespace testing {

/* What went wrong in the current test, or why it is skipped. */
inline std::string &failure() { static std::string text; return text; }
struct Test {
    const char *name;
    void (*run)();
    Test *next;
    static bool HasFailure() { return !failure().empty(); }
};
inline Test *&first() { static Test *list; return list; }
inline std::string &skipped() { static std::string text; return text; }
inline int add(const char *name, void (*run)()) {
    Test **end = &first();
    while (*end) end = &(*end)->next;
    *end = new Test{name, run, nullptr};
    return 0;
}
struct Message {
    std::ostringstream text;
    template <typename T> Message &operator<<(const T &value) { text << value; return *this; }
};
struct Into {
    std::string &target;
    void operator=(const Message &message) const { target += message.text.str() + " "; }
};
template <typename T> std::string PrintToString(const T &value) { Message message; message << value; return message.text.str(); }
struct ExitedWithCode {
    int code;
    explicit ExitedWithCode(int code) : code(code) {}
};
template <typename F> void exits(F run, ExitedWithCode wanted) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) { run(); _exit(255); }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != wanted.code) failure() += "another exit status ";
}

}  // namespace testing

#define TEST(suite, test)                                                                \
    static void suite##_##test##_run();                                                  \
    static const int suite##_##test##_added = testing::add("test_" #test, suite##_##test##_run); \
    static void suite##_##test##_run()
#define ADD_FAILURE_AT(file, line) testing::Into{testing::failure()} = testing::Message() << ""
#define GTEST_SKIP() return testing::Into{testing::skipped()} = testing::Message() << ""
#define EXPECT_EXIT(statement, predicate, text) testing::exits([] { statement; }, predicate)

#ifdef GTEST_STAND_IN_MAIN
int main() {
    int failures = 0;
    for (testing::Test *test = testing::first(); test; test = test->next) {
        testing::failure().clear();
        testing::skipped().clear();
        test->run();
        const bool failed = !testing::failure().empty(), skipped = !testing::skipped().empty();
        failures += failed;
        std::printf("%s %s: %s%s\n", failed ? "failed" : skipped ? "skipped" : "ok", test->name, testing::failure().c_str(),
                    testing::skipped().c_str());
    }
    return failures != 0;
}
#endif
