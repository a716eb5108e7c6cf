//! The common part of the names of a function's tests.

/// What names of a function's tests begin with.
pub(crate) fn stem(function: &str) -> String {
    function.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '_' }).collect()
}
