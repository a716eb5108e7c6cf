//! Detection of tests: where the tests of a framework begin, so that hits can be attributed to them.

use touchstone_ir::Function;

const GTEST: &str = include_str!("../../../runtime/gtest.cc");

/// Returns the listener to append to a preprocessed C++ text so that the tests of GoogleTest are distinguished, or
/// `None` if it does not include GoogleTest.
pub(crate) fn googletest_listener(text: &str) -> Option<String> {
    let markers = text.lines().filter(|line| line.starts_with("# "));
    let mut files = markers.filter_map(|line| line.split('"').nth(1));
    files.find(|file| *file == "gtest/gtest.h" || file.ends_with("/gtest/gtest.h"))?;
    // Older versions call test suites test cases.
    Some(if text.contains("test_suite_name()") {
        GTEST.to_string()
    } else {
        GTEST.replace("test_suite_name", "test_case_name")
    })
}

/// The frameworks that a unit includes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct IncludedFrameworks {
    /// True if test functions are called `test_…` and take no parameter (Unity) or the state (cmocka).
    by_prefix: bool,
    /// True if a macro generates test functions with names `…_fn` (Check).
    check: bool,
}

impl IncludedFrameworks {
    /// Detects the frameworks of a preprocessed text by its line markers.
    pub fn of(text: &str) -> IncludedFrameworks {
        let mut found = IncludedFrameworks::default();
        for line in text.lines().filter(|line| line.starts_with("# ")) {
            let file = line.split('"').nth(1).unwrap_or_default();
            match file.rsplit('/').next().unwrap_or_default() {
                "unity.h" | "unity_fixture.h" | "cmocka.h" => found.by_prefix = true,
                "check.h" => found.check = true,
                _ => {}
            }
        }
        found
    }
}

/// Returns the name of the test that begins with a function, as a C expression.
pub(crate) fn test_name(function: &Function, frameworks: IncludedFrameworks) -> Option<String> {
    let name = function.name.as_str();
    // The runner of Unity has the name in a parameter.
    if name == "UnityDefaultTestRun" {
        return function.params.get(1).map(|param| param.name.clone()).filter(|name| !name.is_empty());
    }
    if frameworks.by_prefix && function.params.len() <= 1 && name.to_ascii_lowercase().starts_with("test") {
        return Some(format!("\"{name}\""));
    }
    let made = name.strip_suffix("_fn").filter(|_| frameworks.check && function.internal && function.params.len() == 1);
    made.map(|name| format!("\"{name}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frameworks_are_known_by_their_headers() {
        let check = |text: &str, by_prefix: bool, check: bool| {
            assert_eq!(IncludedFrameworks::of(text), IncludedFrameworks { by_prefix, check }, "{text}");
        };
        check("# 1 \"lib/unity.h\" 1\nint x;\n", true, false);
        check("# 1 \"/usr/include/check.h\" 1 3\n", false, true);
        check("# 1 \"my_unity.h\" 1\n", false, false);
    }

    #[test]
    fn googletest_is_listened_to_by_the_name_that_it_has_for_suites() {
        let marker = "# 1 \"/usr/include/gtest/gtest.h\" 1 3\n";
        let made = googletest_listener(&format!("{marker}const char *test_suite_name() const;")).expect("GoogleTest");
        assert!(made.contains("info.test_suite_name()"));
        assert!(googletest_listener(marker).expect("GoogleTest").contains("info.test_case_name()"));
        assert_eq!(googletest_listener("# 1 \"mygtest.h\" 1\n# 1 \"gtest/gtest-spi.h\"\n"), None);
    }
}
