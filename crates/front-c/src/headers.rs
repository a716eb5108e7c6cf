//! The headers that programs under test may include, and where they are written.

use std::path::{Path, PathBuf};
use touchstone_base::{check_confined, stable_hash, write_beside};

const TOUCHSTONE: &str = include_str!("../include/touchstone.h");
const KLEE: &str = include_str!("../include/klee/klee.h");

/// Writes the headers to a directory in `cache` and returns its path. The path contains a hash of the headers, so that
/// all compilations of a build share it.
pub fn cached_headers(cache: &Path) -> std::io::Result<PathBuf> {
    let kept = cache.join(format!("include-{:016x}", stable_hash(&(TOUCHSTONE, KLEE))));
    write_headers(&kept).map(|()| kept)
}

/// Writes `touchstone.h` and `klee/klee.h` to a directory, which is created if necessary.
pub fn write_headers(dir: &Path) -> std::io::Result<()> {
    let root = dir.parent().unwrap_or(Path::new(""));
    check_confined(root, &dir.join("klee"))?;
    std::fs::create_dir_all(dir.join("klee"))?;
    write_header(&dir.join("touchstone.h"), TOUCHSTONE)?;
    write_header(&dir.join("klee").join("klee.h"), KLEE)
}

/// Writes one header unless a foreign file is in its place: KLEE's own header in a directory of the user's is not
/// replaced.
fn write_header(path: &Path, text: &str) -> std::io::Result<()> {
    match std::fs::read(path) {
        Ok(there) if there == text.as_bytes() => Ok(()),
        Ok(there) if !is_ours(&there, text) => {
            let said = format!(
                "{} was not written by Touchstone and would be overwritten; choose another directory with -o",
                path.display()
            );
            Err(std::io::Error::new(std::io::ErrorKind::AlreadyExists, said))
        }
        _ => write_beside(path, text),
    }
}

/// Returns true if a file begins like the header, or is a truncated copy of its beginning.
fn is_ours(there: &[u8], text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    there.starts_with(first.as_bytes()) || first.as_bytes().starts_with(there)
}
