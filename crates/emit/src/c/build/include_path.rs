//! Paths as an `#include` line names them.

use std::path::{Component, Path, PathBuf};

/// Returns `path` relative to the directory `from`; both must be absolute and without links.
pub(crate) fn relative_path(path: &Path, from: &Path) -> PathBuf {
    let (to, base): (Vec<Component>, Vec<Component>) = (path.components().collect(), from.components().collect());
    let common = to.iter().zip(&base).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n(Component::ParentDir, base.len() - common);
    up.chain(to[common..].iter().copied()).collect()
}

/// Returns the path as an `#include` line can contain it, or `None` if no such line can.
pub(crate) fn include_name(path: &Path) -> Option<String> {
    path.to_str().filter(|text| !text.contains(['"', '\n', '\r'])).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_from_where_the_test_file_stands() {
        let check = |path: &str, from: &str, expected: &str| {
            assert_eq!(relative_path(Path::new(path), Path::new(from)), PathBuf::from(expected));
        };
        check("/p/src/a.c", "/p/tests", "../src/a.c");
        check("/p/a.c", "/p", "a.c");
        check("/p/a.c", "/q/r/s", "../../../p/a.c");
        check("/p/out/deep/a.c", "/p/out", "deep/a.c");
    }
}
