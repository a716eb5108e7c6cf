//! The common prefix of the names of a function's tests.

/// Returns the common prefix of the names of a function's tests.
pub(crate) fn stem(function: &str) -> String {
    function.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '_' }).collect()
}
