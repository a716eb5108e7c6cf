//! The location of the user's cache directory.

use std::path::PathBuf;

/// Returns the user's cache directory (XDG Base Directory Specification).
pub fn user_cache_dir() -> Option<PathBuf> {
    let given = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    given("XDG_CACHE_HOME").or_else(|| given("HOME").map(|home| home.join(".cache")))
}
