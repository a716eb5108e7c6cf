//! The headers that programs under test may include, and where they are written.

use std::path::{Path, PathBuf};
use touchstone_base::{stable_hash, write_atomically};

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
    std::fs::create_dir_all(dir.join("klee"))?;
    write_header(&dir.join("touchstone.h"), TOUCHSTONE)?;
    write_header(&dir.join("klee").join("klee.h"), KLEE)
}

/// Writes one header unless a foreign file is in its place: KLEE's own header in a directory of the user's is not
/// replaced.
fn write_header(path: &Path, text: &str) -> std::io::Result<()> {
    match std::fs::read(path) {
        Ok(there) if there == text.as_bytes() => Ok(()),
        Ok(there) if !String::from_utf8_lossy(&there).to_lowercase().contains("touchstone") && !there.is_empty() => {
            let said = format!("{} was not written by Touchstone and would be replaced", path.display());
            Err(std::io::Error::new(std::io::ErrorKind::AlreadyExists, said))
        }
        _ => write_atomically(path, text),
    }
}
