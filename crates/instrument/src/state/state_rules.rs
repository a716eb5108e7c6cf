//! What counts as an assertion, and which functions change or ask containers. Users extend both.

/// Names, `*` standing for anything.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StateRules {
    /// Macros and functions that assert: what is passed to them, and what the conditions in them ask. `main` is what it
    /// returns.
    pub assertions: Vec<String>,
    /// Functions that change the container that their first argument points to.
    pub modifies: Vec<String>,
    /// Functions whose result speaks of the container that their first argument points to.
    pub queries: Vec<String>,
}

/// assert.h, cmocka, Unity, Check, CUnit, GLib, Criterion, munit, GoogleTest.
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

/// Functions that report a failed assertion: a condition that guards a call of them is one.
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

/// Containers of GLib.
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

/// Sources of test frameworks: what they change is no state of the program.
const FRAMEWORKS: [&str; 8] =
    ["unity.c", "unity_fixture.c", "unity_memory.c", "cmocka.c", "munit.c", "greatest.h", "utest.h", "acutest.h"];

fn listed(name: &str, own: &[&str], users: &[String]) -> bool {
    own.iter().any(|pattern| matches(pattern, name)) || users.iter().any(|pattern| matches(pattern, name))
}

/// Whether a name fits a pattern with `*` in it.
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
    /// Whether one of the user's names is that of a method: `add`, `Stack.add` or `com.acme.Stack.add`.
    pub(crate) fn names(&self, listed: &[String], class: &str, method: &str) -> bool {
        let whole = || format!("{}.{method}", class.replace(['/', '$'], "."));
        listed.iter().any(|pattern| {
            matches(pattern, method)
                || (pattern.contains('.') && (matches(pattern, &whole()) || matches(&format!("*.{pattern}"), &whole())))
        })
    }
    /// Whether a name fits a pattern with `*` in it.
    pub(crate) fn fits(pattern: &str, name: &str) -> bool {
        matches(pattern, name)
    }
    /// Whether a file is the source of a test framework.
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
