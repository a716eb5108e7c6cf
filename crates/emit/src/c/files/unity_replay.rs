//! Edited suites for Unity in the replay: a copy in our own form, whose tests call those of the suite. The assertions are
//! macros on top of our harness (`touchstone_unity.h`), so that Unity itself is not needed.
//!
//! Deliberately not here: Unity's own configuration. A suite with assertions of other headers does not compile.

use crate::EmitError;
use crate::c::build::runtime_files::{HEADER, UNITY};
use crate::c::files::staged_suite::STAGED_PREFIX;
use std::fs;
use std::io::Write;
use std::path::Path;

/// The line that includes Unity.
const INCLUDE_LINE: &str = "#include \"unity.h\"";

/// Writes a copy of a suite for Unity in our own form, beside the suite: it includes the source by the same path. The
/// copy is removed when it is dropped.
pub fn replayable_unity_suite(suite: &Path) -> Result<tempfile::NamedTempFile, EmitError> {
    let bytes = fs::read(suite).map_err(EmitError::io(suite))?;
    let text = in_own_form(&String::from_utf8_lossy(&bytes));
    let folder = suite.parent().unwrap_or(Path::new("."));
    let copy = tempfile::Builder::new().prefix(STAGED_PREFIX).suffix(".c").tempfile_in(folder);
    let mut copy = copy.map_err(EmitError::io(folder))?;
    copy.write_all(text.as_bytes()).map_err(EmitError::io(suite))?;
    Ok(copy)
}

/// Returns the text of a suite with our harness instead of Unity, and with registered tests instead of a `main`.
fn in_own_form(text: &str) -> String {
    let mut own = String::new();
    let mut tests = Vec::new();
    let mut is_runner = false;
    for line in text.lines() {
        let is_main = line.starts_with("int main(") || line.starts_with("int touchstone_run_tests(");
        if is_main && line.ends_with('{') {
            is_runner = true;
        } else if is_runner {
            is_runner = line != "}";
        } else if line.trim() == INCLUDE_LINE {
            own.push_str(HEADER);
            own.push_str(UNITY);
        } else if !is_main {
            tests.extend(test_name(line).map(str::to_string));
            own.push_str(line);
            own.push('\n');
        }
    }
    for test in tests {
        own.push_str(&format!("\nTEST({test}, \"\") {{\n    setUp();\n    test_{test}();\n    tearDown();\n}}\n"));
    }
    own
}

/// Returns the name of a test that a line begins to define.
fn test_name(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("static ").unwrap_or(line).strip_prefix("void test_")?;
    let (name, parameters) = rest.split_once('(')?;
    (parameters.starts_with("void)") && !parameters.ends_with(';')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_registers_the_tests_of_the_suite_and_has_no_main() {
        let text = "#include \"../a.c\"\n#include \"unity.h\"\n\nvoid setUp(void) {}\nvoid tearDown(void) {}\n\n\
                    static void test_f_1(void) {\n    TEST_ASSERT_EQUAL_INT(1, f());\n}\n\nint main(void) {\n    UNITY_BEGIN();\n    \
                    RUN_TEST(test_f_1);\n    return UNITY_END();\n}\n";
        let own = in_own_form(text);
        assert!(own.starts_with("#include \"../a.c\"\n/*") && !own.contains("unity.h\""), "{own}");
        assert!(own.ends_with("\nTEST(f_1, \"\") {\n    setUp();\n    test_f_1();\n    tearDown();\n}\n"), "{own}");
        assert!(!own.contains("int main(void)") && !own.contains("return UNITY_END"), "{own}");
    }
}
