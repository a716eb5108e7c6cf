//! Test forms: the notation of checks, skipped tests and files in each framework.
//!
//! Everything else about a test (its values, objects, the call) is the same C in all forms. GoogleTest requires C++, in
//! which most C does not compile: its tests are C functions that use `EXPECT_EQ` and similar macros of
//! `touchstone_gtest.h`, and a small `.cc` file registers each of them.
//!
//! Deliberately not here: running these suites. Predictions are checked by replaying the [`CTestForm::Touchstone`]
//! suite. The other frameworks run all tests in one process, so tests that end it are skipped with the reason if the
//! framework does not support them.

use crate::c::syntax::comment::comment_text;
use crate::c::syntax::limitation::EmitLimitation;
use crate::c::syntax::literal;
use crate::c::text::process_isolation::{
    CMOCKA_OWN_PROCESS, ProcessEnd, ProcessIsolation, RegisteredTest, UNITY_OWN_PROCESS, own_process_macros,
};
use touchstone_base::float::Format;
use touchstone_criteria::{Outcome, Replay, TestCase};
use touchstone_ir::DataType;

/// The framework that a C suite is written for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CTestForm {
    /// Our own harness, which the replay runs.
    Touchstone,
    /// ThrowTheSwitch's Unity.
    Unity,
    /// cmocka.
    Cmocka,
    /// GoogleTest.
    Gtest,
}

/// The macros that tests need in addition to the framework's header.
const COMMON: &str = "\
#ifndef NAN
#define NAN __builtin_nanf(\"\")
#endif
#ifndef INFINITY
#define INFINITY __builtin_inff()
#endif
#undef SET
/* Assigns a variable of any type, even with const members: SET(origin, {1, 2}); */
#define SET(place, ...)                                              \\
    do {                                                             \\
        const __typeof__(place) touchstone_value = __VA_ARGS__;      \\
        __builtin_memcpy((void *)&(place), &touchstone_value, sizeof(place)); \\
    } while (0)
#undef BEFORE
#undef EXCEPT
/* Copies a place before the call; EXCEPT exempts what may change. */
#define BEFORE(copy, place)  \\
    __typeof__(place) copy;  \\
    __builtin_memcpy((void *)&(copy), (const void *)&(place), sizeof(copy))
#define EXCEPT(copy, place) __builtin_memcpy((void *)&(copy), (const void *)&(place), sizeof(copy))
";

impl CTestForm {
    /// Returns the check of a scalar that is not a float.
    pub(crate) fn integer(self, data: &DataType, expected: &str, place: &str) -> String {
        let (bits, signed) = width(data);
        match self {
            CTestForm::Touchstone if bits == 64 && !signed => format!("CHECK_UINT({expected}, {place});"),
            CTestForm::Touchstone => format!("CHECK_INT({expected}, {place});"),
            CTestForm::Unity => {
                let (sign, bits) = (if signed { "INT" } else { "UINT" }, if bits == 64 { "64" } else { "" });
                format!("TEST_ASSERT_EQUAL_{sign}{bits}({expected}, {place});")
            }
            CTestForm::Cmocka => format!("assert_int_equal({place}, {expected});"),
            CTestForm::Gtest => format!("EXPECT_EQ({expected}, {place});"),
        }
    }

    /// Returns the checks of a float: equal numbers with equal signs of zero, or NaN in both. The frameworks' own float
    /// checks tolerate rounding, so exact comparisons are used.
    pub(crate) fn float(self, format: Format, bits: u64, place: &str) -> Vec<String> {
        let expected = literal::float(format, bits);
        let value = match format {
            Format::F32 => f64::from(f32::from_bits(bits as u32)),
            Format::F64 => f64::from_bits(bits),
        };
        let none = value.is_nan();
        let mut lines = vec![match self {
            CTestForm::Touchstone => return vec![format!("CHECK_FLOAT({expected}, {place});")],
            CTestForm::Unity if none => format!("TEST_ASSERT_TRUE(__builtin_isnan({place}));"),
            CTestForm::Cmocka if none => format!("assert_true(__builtin_isnan({place}));"),
            CTestForm::Gtest if none => format!("EXPECT_TRUE(__builtin_isnan({place}));"),
            CTestForm::Unity if format == Format::F32 => format!("TEST_ASSERT_FLOAT_WITHIN(0, {expected}, {place});"),
            CTestForm::Unity => format!("TEST_ASSERT_DOUBLE_WITHIN(0, {expected}, {place});"),
            CTestForm::Cmocka => format!("assert_true({place} == {expected});"),
            CTestForm::Gtest => format!("EXPECT_EQ({expected}, {place});"),
        }];
        if value == 0.0 {
            lines.push(self.truth(&format!("__builtin_signbit({place})"), value.is_sign_negative()));
        }
        lines
    }

    fn truth(self, what: &str, expected: bool) -> String {
        let (upper, lower) = if expected { ("TRUE", "true") } else { ("FALSE", "false") };
        match self {
            CTestForm::Touchstone => format!("CHECK_INT({}, ({what}) != 0);", u8::from(expected)),
            CTestForm::Unity => format!("TEST_ASSERT_{upper}({what});"),
            CTestForm::Cmocka => format!("assert_{lower}({what});"),
            CTestForm::Gtest => format!("EXPECT_{upper}({what});"),
        }
    }

    /// Returns the check of a pointer with a known target.
    pub(crate) fn pointer(self, expected: &str, place: &str) -> String {
        match self {
            CTestForm::Touchstone => format!("CHECK_PTR({expected}, {place});"),
            CTestForm::Unity if expected == "NULL" => format!("TEST_ASSERT_NULL({place});"),
            CTestForm::Unity => format!("TEST_ASSERT_EQUAL_PTR({expected}, {place});"),
            CTestForm::Cmocka if expected == "NULL" => format!("assert_null({place});"),
            CTestForm::Cmocka => format!("assert_ptr_equal({place}, {expected});"),
            CTestForm::Gtest => format!("EXPECT_EQ((const void *)({expected}), (const void *)({place}));"),
        }
    }

    /// Returns the check of a pointer of which only is known that it is not null.
    pub(crate) fn not_null(self, place: &str) -> String {
        match self {
            CTestForm::Touchstone => format!("CHECK_NOT_NULL({place});"),
            CTestForm::Unity => format!("TEST_ASSERT_NOT_NULL({place});"),
            CTestForm::Cmocka => format!("assert_non_null({place});"),
            CTestForm::Gtest => format!("EXPECT_TRUE(({place}) != NULL);"),
        }
    }

    /// Returns the check of a string.
    pub(crate) fn string(self, expected: &str, place: &str) -> String {
        match self {
            CTestForm::Touchstone => format!("CHECK_STRING({expected}, {place});"),
            CTestForm::Unity => format!("TEST_ASSERT_EQUAL_STRING({expected}, {place});"),
            CTestForm::Cmocka => format!("assert_string_equal((const char *)({place}), {expected});"),
            CTestForm::Gtest => format!("EXPECT_STREQ({expected}, (const char *)({place}));"),
        }
    }

    /// Returns the check of all integers of an array of any rank against the array `expected`; `name` is the element
    /// type. In [`CTestForm::Touchstone`] the check contains the elements instead.
    pub(crate) fn array(self, scalar: &DataType, name: &str, expected: &str, place: &str) -> String {
        let (bits, signed) = width(scalar);
        match self {
            CTestForm::Touchstone => format!("CHECK_ELEMENTS({name}, {expected}, {place});"),
            CTestForm::Unity => {
                let sign = if signed { "INT" } else { "UINT" };
                let count = format!("sizeof {expected} / sizeof({name})");
                format!("TEST_ASSERT_EQUAL_{sign}{bits}_ARRAY({expected}, {place}, {count});")
            }
            CTestForm::Cmocka => format!("assert_memory_equal({place}, {expected}, sizeof {expected});"),
            CTestForm::Gtest => format!("EXPECT_ARRAY_EQ({name}, {expected}, {place});"),
        }
    }

    /// Returns the check that a place still equals the copy from before the call.
    pub(crate) fn unchanged(self, copy: &str, place: &str) -> String {
        match self {
            CTestForm::Touchstone => format!("UNCHANGED({copy}, {place});"),
            CTestForm::Unity => format!("TEST_ASSERT_EQUAL_MEMORY(&{copy}, (const void *)&{place}, sizeof {copy});"),
            CTestForm::Cmocka => format!("assert_memory_equal((const void *)&{place}, &{copy}, sizeof {copy});"),
            CTestForm::Gtest => format!("EXPECT_ARRAY_EQ(unsigned char, {copy}, {place});"),
        }
    }

    /// Returns the check that the program's own oracle accepts.
    pub(crate) fn oracle(self, call: &str) -> String {
        match self {
            CTestForm::Touchstone => format!("CHECK_ORACLE({call});"),
            CTestForm::Unity | CTestForm::Cmocka | CTestForm::Gtest => self.truth(call, true),
        }
    }

    /// Returns the lines that skip the rest of the test, with the reason.
    pub(crate) fn skip(self, why: &str) -> String {
        let text = literal::text(why);
        match self {
            CTestForm::Touchstone => format!("SKIP({text});"),
            CTestForm::Unity => format!("TEST_IGNORE_MESSAGE({text});"),
            CTestForm::Cmocka => format!("print_message(\"%s\\n\", {text});\n    skip();"),
            CTestForm::Gtest => format!("GTEST_SKIP({text});"),
        }
    }

    /// Returns the line that begins a test, preceded by a comment if the framework has no other place for the
    /// description.
    pub(crate) fn begin(self, test: &TestCase) -> String {
        let (id, description) = (&test.id, &test.full_description());
        let comment = || format!("/* {} */\n", comment_text(description));
        match self {
            CTestForm::Touchstone => {
                let error = matches!(test.outcome, Outcome::Error { .. });
                let kind = if error { "ERROR_TEST" } else { "TEST" };
                format!("{kind}({id}, {}) {{\n", literal::text(description))
            }
            CTestForm::Unity => format!("{}static void test_{id}(void) {{\n", comment()),
            CTestForm::Cmocka => format!("{}static void test_{id}(void **state) {{\n    (void)state;\n", comment()),
            CTestForm::Gtest => format!("{}void test_{id}(void) {{\n", comment()),
        }
    }

    /// Returns the lines that follow the program's source in every file.
    pub(crate) fn includes(self) -> String {
        let own = match self {
            CTestForm::Touchstone => return "#include \"touchstone_test.h\"\n".to_string(),
            CTestForm::Unity => {
                "#include <limits.h>\n#include <stddef.h>\n#ifndef UNITY_INCLUDE_DOUBLE\n#define UNITY_INCLUDE_DOUBLE\n\
                 #endif\n#include \"unity.h\"\n\nvoid setUp(void) {}\nvoid tearDown(void) {}\n"
            }
            CTestForm::Cmocka => {
                "#include <limits.h>\n#include <setjmp.h>\n#include <stdarg.h>\n#include <stddef.h>\n\
                 #include <stdint.h>\n#include <cmocka.h>\n"
            }
            CTestForm::Gtest => "#include <limits.h>\n#include <stddef.h>\n#include \"touchstone_gtest.h\"\n",
        };
        format!("{own}{COMMON}")
    }

    /// Returns the end of a file: the list of its tests, and a `main` that runs them. If the program has a `main` of
    /// its own, the runner gets its symbol.
    pub(crate) fn runner(self, tests: &[RegisteredTest], own_main: bool, processes: ProcessIsolation) -> String {
        let head = if own_main {
            "\nint touchstone_run_tests(void) __asm__(\"main\");\nint touchstone_run_tests(void) {\n"
        } else {
            "\nint main(void) {\n"
        };
        let lines = |line: fn(&str) -> String| -> String { tests.iter().map(|test| line(&test.id)).collect() };
        match (self, processes) {
            (CTestForm::Touchstone | CTestForm::Gtest, _) => String::new(),
            (CTestForm::Unity, ProcessIsolation::Shared) => {
                let tests = lines(|id| format!("    RUN_TEST(test_{id});\n"));
                format!("{head}    UNITY_BEGIN();\n{tests}    return UNITY_END();\n}}\n")
            }
            (CTestForm::Cmocka, ProcessIsolation::Shared) => {
                let tests = lines(|id| format!("        cmocka_unit_test(test_{id}),\n"));
                format!(
                    "{head}    const struct CMUnitTest tests[] = {{\n{tests}    }};\n    \
                     return cmocka_run_group_tests(tests, NULL, NULL);\n}}\n"
                )
            }
            (CTestForm::Unity, ProcessIsolation::PerTest) => {
                let tests = lines(|id| format!("    ALONE(RUN_TEST(test_{id}));\n"));
                format!(
                    "{}{head}    int failures = 0;\n{tests}    return failures;\n}}\n",
                    own_process_macros(UNITY_OWN_PROCESS)
                )
            }
            (CTestForm::Cmocka, ProcessIsolation::PerTest) => {
                let tests = lines(|id| format!("    ALONE(test_{id});\n"));
                format!(
                    "{}{head}    int failures = 0;\n{tests}    return failures;\n}}\n",
                    own_process_macros(CMOCKA_OWN_PROCESS)
                )
            }
        }
    }

    /// Returns the compiler arguments that link a file with the framework.
    pub(crate) fn libraries(self) -> &'static [&'static str] {
        match self {
            CTestForm::Touchstone => &[],
            CTestForm::Unity => &["-DUNITY_INCLUDE_DOUBLE", "-I\"$UNITY_DIR\"", "\"$UNITY_DIR\"/unity.c"],
            CTestForm::Cmocka => &["-lcmocka"],
            CTestForm::Gtest => &["-lgtest", "-lgtest_main", "-lstdc++"],
        }
    }

    /// Returns the reason for which the framework cannot run a test, or not without ending all others.
    pub(crate) fn refuses(self, test: &TestCase, file_of: impl Fn() -> String) -> Option<EmitLimitation> {
        match (self, &test.outcome) {
            (_, Outcome::Threw { class }) => Some(EmitLimitation::Throws(class.clone())),
            (CTestForm::Touchstone, _) | (_, Outcome::Returned | Outcome::OracleRejected) => None,
            (CTestForm::Gtest, Outcome::Exited(_)) => None,
            (_, Outcome::Hung) => Some(EmitLimitation::Hangs),
            (_, Outcome::Exited(status)) => Some(EmitLimitation::Exits(status & 255)),
            (_, Outcome::Error { kind, span }) => Some(EmitLimitation::GoesWrong(*kind, file_of(), span.line)),
        }
    }

    /// Returns the entry of a test in the list of tests.
    pub(crate) fn registered(self, test: &TestCase) -> RegisteredTest {
        let skipped = matches!(test.replayed, Replay::NotCheckable(_)) || self.refuses(test, String::new).is_some();
        let ends = match test.outcome {
            Outcome::Exited(status) => ProcessEnd::Exits(status & 255),
            _ if skipped => ProcessEnd::Skipped,
            _ => ProcessEnd::Returns,
        };
        RegisteredTest { id: test.id.clone(), ends }
    }

    /// Returns the line of the `.cc` file that registers a test.
    pub(crate) fn registration(function: &str, test: &RegisteredTest, processes: ProcessIsolation) -> String {
        let id = &test.id;
        let run = match (test.ends, processes) {
            (ProcessEnd::Exits(status), _) => {
                format!("EXPECT_EXIT(test_{id}(), testing::ExitedWithCode({status}), \"\");")
            }
            (ProcessEnd::Returns, ProcessIsolation::PerTest) => format!(
                "EXPECT_EXIT((test_{id}(), exit(testing::Test::HasFailure())), testing::ExitedWithCode(0), \"\");"
            ),
            (ProcessEnd::Returns, ProcessIsolation::Shared) | (ProcessEnd::Skipped, _) => format!("test_{id}();"),
        };
        format!("\nextern \"C\" void test_{id}(void);\nTEST({function}, {id}) {{ {run} }}\n")
    }
}

/// Returns the width in bits and the signedness of an integer, boolean or enumeration type.
fn width(data: &DataType) -> (u8, bool) {
    match data {
        DataType::Int { bits, signed, .. } | DataType::Enum { bits, signed, .. } => (*bits, *signed),
        DataType::Bits { width, signed, .. } => (*width, *signed),
        _ => (8, false),
    }
}
