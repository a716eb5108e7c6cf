//! Macros of the program that clash with emitted tests.
//!
//! A test file includes the source under test, so every macro that is defined at the end of that source applies to the tests, too.
//! Tests mean the identifiers that the compiler sees; macros that would replace one of them are undefined first.

use crate::c::build::preprocessor::{PreprocessedUnit, tokens_of};

/// The names that tests use as macros of the harness, of frameworks or of the library.
const TEST_MACROS: &[&str] = &[
    "NULL",
    "NAN",
    "INFINITY",
    "INT_MIN",
    "INT_MAX",
    "LONG_MIN",
    "LONG_MAX",
    "bool",
    "true",
    "false",
    "main",
    "size_t",
    "offsetof",
    "TEST",
    "ERROR_TEST",
    "SHAPE",
    "ROWS",
    "TABLE",
    "TABLE_TOGETHER",
    "SKIP",
    "SET",
    "BEFORE",
    "EXCEPT",
    "UNCHANGED",
    "CHECK_INT",
    "CHECK_UINT",
    "CHECK_FLOAT",
    "CHECK_PTR",
    "CHECK_NOT_NULL",
    "CHECK_STRING",
    "CHECK_ARRAY",
    "CHECK_ELEMENTS",
    "CHECK_ORACLE",
    "EXPECT_ERROR",
    "EXPECT_EXIT",
    "EXPECT_OUTPUT",
    "ANY_OUTPUT",
    "INPUT",
    "INPUT_OF",
    "STANDARD_INPUT",
    "ENVIRONMENT",
    "RUN_PROGRAM",
    "STREAM",
    "FILE_WITH",
    "FAILING_FILE",
    "FAILING_OUTPUT",
    "WORKING_OUTPUT",
    "NO_FILE",
    "FILE",
    "REGISTERS",
    "READS",
    "MUST_HANG",
    "FAIL_ALLOCATION",
    "RETURNS",
    "WRITES",
    "WRITTEN",
    "KEEPS",
    "CHANGES",
    "SETS_ERRNO",
    "FAILS",
    "FAILED",
    "ANSWERED",
    "STUB_AS_SAID",
    "ANSWER",
    "STUB",
    "STUB_OF_NOTHING",
    "STUB_TIME",
    "STUB_OF_THE_WORLD",
    "CALLED",
    "NO_MORE_CALLS",
    "FORGET_CALLS",
    "ADDRESS",
    "REAL",
    "ANYTHING",
    "GTEST_SKIP",
    "skip",
    "fail_msg",
    "print_message",
    "cmocka_unit_test",
    "cmocka_run_group_tests",
    "UNITY_BEGIN",
    "UNITY_END",
    "RUN_TEST",
];
/// The prefixes of the frameworks' check macros.
const TEST_MACRO_PREFIXES: &[&str] = &["_", "TEST_", "EXPECT_", "ASSERT_", "assert_", "TOUCHSTONE_"];

/// Returns true if a test that uses this name means the macro.
pub(crate) fn is_test_macro(name: &str) -> bool {
    TEST_MACROS.contains(&name) || TEST_MACRO_PREFIXES.iter().any(|start| name.starts_with(start))
}

/// Returns the identifiers of a text that are macros of the program, although the test means the identifiers
/// themselves.
pub(crate) fn clashing_macros<'t>(preprocessed: &'t PreprocessedUnit, text: &'t str) -> impl Iterator<Item = &'t str> {
    tokens_of(text).filter(|token| preprocessed.macros.contains(*token) && !is_test_macro(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_of_the_program_are_found_outside_of_literals() {
        let preprocessed = PreprocessedUnit::new("#define unused\n#define max(a, b) (a)\n");
        assert_eq!(clashing_macros(&preprocessed, "int max(1, \"unused\"); SET(x)").collect::<Vec<_>>(), ["max"]);
    }
}
