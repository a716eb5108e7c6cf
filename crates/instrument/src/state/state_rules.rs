//! The rules of state coverage: which functions and macros assert, and which functions modify or query containers. The
//! user can add names.

/// Names and patterns that the user adds; `*` matches any characters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StateRules {
    /// Macros and functions that assert something about their arguments and the conditions in them. `main` means the
    /// value that `main` returns.
    pub assertions: Vec<String>,
    /// Functions that modify the container that their first argument points to.
    pub modifies: Vec<String>,
    /// Functions whose result depends on the container that their first argument points to.
    pub queries: Vec<String>,
}

/// The assertions of assert.h, cmocka, Unity, Check, CUnit, GLib, Criterion, munit and GoogleTest.
const ASSERTIONS: [&str; 22] = [
    "assert",
    "assert_*",
    "_assert_*",
    "TEST_ASSERT*",
    "UNITY_TEST_ASSERT*",
    "UnityAssert*",
    "TEST_CHECK*",
    "ck_assert*",
    "fail_unless",
    "fail_if",
    "CU_ASSERT*",
    "g_assert*",
    "cr_assert*",
    "cr_expect*",
    "munit_assert*",
    "EXPECT_*",
    "ASSERT_*",
    "touchstone_assert",
    "CHECK_EQUAL*",
    "STRCMP_EQUAL*",
    "LONGS_EQUAL*",
    "POINTERS_EQUAL*",
];

/// Functions that report a failed assertion. A condition that guards a call of one of them is an assertion.
const FAILURES: [&str; 12] = [
    "__assert_fail",
    "__assert_perror_fail",
    "__assert",
    "__assert_rtn",
    "_ck_assert_failed",
    "_fail",
    "UnityFail",
    "g_assertion_message*",
    "CU_assertImplementation",
    "reach_error",
    "munit_errorf*",
    "test_failure",
];

/// Mutators of GLib's containers.
const MODIFIES: [&str; 12] = [
    "g_hash_table_insert",
    "g_hash_table_replace",
    "g_hash_table_add",
    "g_hash_table_remove*",
    "g_ptr_array_add",
    "g_ptr_array_insert",
    "g_ptr_array_remove*",
    "g_array_append_vals",
    "g_array_insert_vals",
    "g_array_remove*",
    "g_queue_push_*",
    "g_string_append*",
];
const QUERIES: [&str; 6] = [
    "g_hash_table_lookup*",
    "g_hash_table_size",
    "g_hash_table_contains",
    "g_queue_peek_*",
    "g_queue_get_length",
    "g_queue_is_empty",
];

/// Source files of test frameworks. What they modify is no state of the program.
const FRAMEWORKS: [&str; 8] =
    ["unity.c", "unity_fixture.c", "unity_memory.c", "cmocka.c", "munit.c", "greatest.h", "utest.h", "acutest.h"];

fn listed(name: &str, own: &[&str], users: &[String]) -> bool {
    own.iter().any(|pattern| matches(pattern, name)) || users.iter().any(|pattern| matches(pattern, name))
}

/// Returns true if a name matches a pattern with `*`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => {
            let Some(left) = name.strip_prefix(start) else { return false };
            (0..=left.len()).filter(|at| left.is_char_boundary(*at)).any(|at| matches(rest, &left[at..]))
        }
    }
}

impl StateRules {
    pub(crate) fn asserts(&self, name: &str) -> bool {
        listed(name, &ASSERTIONS, &self.assertions)
    }
    pub(crate) fn reports_failure(&self, name: &str) -> bool {
        listed(name, &FAILURES, &self.assertions)
    }
    pub(crate) fn modifies(&self, name: &str) -> bool {
        listed(name, &MODIFIES, &self.modifies)
    }
    pub(crate) fn queries(&self, name: &str) -> bool {
        listed(name, &QUERIES, &self.queries)
    }
    /// Returns true if a pattern names a method: as `add`, `Stack.add` or `com.acme.Stack.add`.
    pub(crate) fn names(&self, listed: &[String], class: &str, method: &str) -> bool {
        let whole = || format!("{}.{method}", class.replace(['/', '$'], "."));
        listed.iter().any(|pattern| {
            matches(pattern, method)
                || (pattern.contains('.') && (matches(pattern, &whole()) || matches(&format!("*.{pattern}"), &whole())))
        })
    }
    /// Returns true if a name matches a pattern with `*`.
    pub(crate) fn fits(pattern: &str, name: &str) -> bool {
        matches(pattern, name)
    }
    /// Returns true if a file is the source of a test framework.
    pub fn is_framework(file: &str) -> bool {
        FRAMEWORKS.contains(&file.rsplit('/').next().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_patterns() {
        let check =
            |pattern: &str, name: &str, fits: bool| assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        check("assert", "assert", true);
        check("assert", "assert_true", false);
        check("assert_*", "assert_int_equal", true);
        check("*_push_*", "queue_push_back", true);
        check("*_push_*", "queue_push", false);
        check("*", "", true);
    }
}
