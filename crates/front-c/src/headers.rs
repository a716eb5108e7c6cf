//! The headers that programs under test may include.

use std::path::Path;

/// Writes `touchstone.h` and `klee/klee.h` into a directory, which is made if it is not there.
pub fn write_headers(dir: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(dir.join("klee"))?;
    write_header(&dir.join("touchstone.h"), include_str!("../include/touchstone.h"))?;
    write_header(&dir.join("klee").join("klee.h"), include_str!("../include/klee/klee.h"))
}

/// KLEE's own header, in a directory of the user's, is not ours to replace.
fn write_header(path: &Path, text: &str) -> std::io::Result<()> {
    match std::fs::read(path) {
        Ok(there) if there == text.as_bytes() => Ok(()),
        Ok(there) if !String::from_utf8_lossy(&there).to_lowercase().contains("touchstone") && !there.is_empty() => {
            let said = format!("{} was not written by Touchstone and would be replaced", path.display());
            Err(std::io::Error::new(std::io::ErrorKind::AlreadyExists, said))
        }
        _ => std::fs::write(path, text),
    }
}
