//! The wrappers of compilers, which `measure` puts on the path before them.
//!
//! They stand where they stay: a build may remember the compiler that it found (CMake's cache does), and use it long after
//! the measurement and its directory are gone. Without `measure` around it a wrapper starts the compiler that it stands for.

use anyhow::{Context, Result};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use touchstone_base::stable_hash;

/// Set by `measure`: this program, which wrappers start.
pub const PROGRAM: &str = "TOUCHSTONE_PROGRAM";

/// Names that compilers go by.
pub const COMPILERS: [&str; 18] = [
    "cc",
    "gcc",
    "clang",
    "c99",
    "c89",
    "gcc-12",
    "gcc-13",
    "gcc-14",
    "clang-19",
    "x86_64-linux-gnu-gcc",
    "c++",
    "g++",
    "clang++",
    "g++-12",
    "g++-13",
    "g++-14",
    "clang++-19",
    "x86_64-linux-gnu-g++",
];

/// Programs that stand in for compilers, under their names: they look for the compiler on the path, and would find us.
const STAND_INS: [&str; 6] = ["ccache", "sccache", "distcc", "icecc", "colorgcc", "buildcache"];

/// A wrapper.
const WRAPPER: &str = include_str!("wrapper.sh");
/// How one begins: by this it is known.
const HEAD: &str = "#!/bin/sh\n# A wrapper of touchstone measure.";

/// Makes wrappers for all compilers that are on the path, and gives their directory. `out` is the last resort.
pub fn make(out: &Path) -> Result<PathBuf> {
    let names: Vec<&str> = COMPILERS.into_iter().filter(|name| behind(name.as_ref()).is_some()).collect();
    let folder = format!("compilers-{:08x}", stable_hash(&(names.join(" ").as_str(), WRAPPER)) & 0xffff_ffff);
    let home = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
    let stable = home.filter(|home| home.is_absolute()).map(|home| home.join("touchstone").join(&folder));
    if let Some(stable) = stable
        && fill(&stable, &names).is_ok()
    {
        return Ok(stable);
    }
    let beside = out.join(folder);
    fill(&beside, &names).with_context(|| format!("can't write wrappers to {}", beside.display()))?;
    Ok(beside)
}

fn fill(folder: &Path, names: &[&str]) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    for name in names {
        let path = folder.join(name);
        if std::fs::read(&path).is_ok_and(|there| there == WRAPPER.as_bytes()) {
            continue;
        }
        let mut made = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut made, WRAPPER.as_bytes())?;
        made.as_file().set_permissions(std::fs::Permissions::from_mode(0o755))?;
        made.persist(&path)?;
    }
    Ok(())
}

/// The compiler of this name on the path: no wrapper, and none that only stands in for it, unless there is no other.
pub fn behind(name: &OsStr) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let all = std::env::split_paths(&path).map(|folder| folder.join(name));
    let candidates: Vec<PathBuf> = all.filter(|candidate| is_program(candidate) && !is_wrapper(candidate)).collect();
    let real = candidates.iter().find(|candidate| !stands_in(candidate));
    real.or(candidates.first()).cloned()
}

/// The path without directories of wrappers: whoever looks for a compiler there does not come back to us.
pub fn path_behind() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let others = std::env::split_paths(&path).filter(|folder| {
        let mut found = COMPILERS.iter().map(|name| folder.join(name)).filter(|wrapper| wrapper.is_file());
        !found.next().is_some_and(|wrapper| is_wrapper(&wrapper))
    });
    std::env::join_paths(others).unwrap_or(path)
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

pub fn is_wrapper(path: &Path) -> bool {
    let mut head = [0; HEAD.len()];
    std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut head)).is_ok()
        && head == *HEAD.as_bytes()
}

fn stands_in(path: &Path) -> bool {
    let real = path.canonicalize().unwrap_or_default();
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    STAND_INS.iter().any(|stand_in| name.starts_with(stand_in))
}
