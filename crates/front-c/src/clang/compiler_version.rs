//! The version of GNU C that clang claims, so that headers see the user's compiler.
//!
//! A compiler takes longer to print its predefined macros than Touchstone to read a small AST. So the answer is kept in
//! the user's cache directory, under a hash of the compiler's file. An entry that is missing or damaged costs a start of
//! the compiler, nothing else.

use crate::clang::process::{GNU_VERSION, on_path};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;
use touchstone_base::{stable_hash, user_cache_dir, write_atomically};

/// Returns the flag that makes clang claim a compiler's version of GNU C; `None` for clang and compilers unlike gcc.
///
/// From version 7 on, glibc's headers use types and attributes that clang does not have, so later versions are replaced
/// by the last one before.
pub fn gnu_version(compiler: &str) -> Option<String> {
    static KNOWN: Mutex<BTreeMap<String, Option<String>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(compiler.to_string()).or_insert_with(|| cached_version(compiler)).clone()
}

/// Returns the flag from the user's cache, or asks the compiler and stores it.
fn cached_version(compiler: &str) -> Option<String> {
    let entry = cache_entry(compiler);
    let stored = entry.as_ref().and_then(|entry| stored_flag(&std::fs::read_to_string(entry).ok()?));
    if let Some(flag) = stored {
        return flag;
    }
    // A compiler that fails may succeed in the next run.
    let flag = claimed_version(&predefined_macros(compiler)?);
    if let Some(entry) = entry {
        let directory = entry.parent().map_or(Ok(()), std::fs::create_dir_all);
        // Without a cache, the compiler is asked in each run.
        let _ = directory.and_then(|()| write_atomically(&entry, format!("{}\n", flag.as_deref().unwrap_or(NONE))));
    }
    flag
}

/// The entry of a compiler without a flag.
const NONE: &str = "none";

/// Parses an entry. Only a whole flag counts: the entry becomes an argument of clang.
fn stored_flag(text: &str) -> Option<Option<String>> {
    let line = text.strip_suffix('\n')?;
    if line == NONE {
        return Some(None);
    }
    let version = line.strip_prefix(GNU_VERSION)?;
    let numbers: Vec<Option<u32>> = version.split('.').map(|number| number.parse().ok()).collect();
    (numbers.len() == 3 && numbers.iter().all(Option::is_some)).then(|| Some(line.to_string()))
}

/// Returns the cache entry of a compiler, or `None` if its file does not determine what it does: a script, or a launcher
/// such as ccache.
fn cache_entry(compiler: &str) -> Option<PathBuf> {
    let path = if compiler.contains('/') { PathBuf::from(compiler) } else { on_path(Path::new(compiler))? };
    let real = path.canonicalize().ok()?;
    let name = real.file_name()?.to_str()?;
    let mut start = [0; 4];
    std::fs::File::open(&real).and_then(|mut file| file.read_exact(&mut start)).ok()?;
    if !["gcc", "clang", "tcc"].iter().any(|known| name.contains(known)) || start != *b"\x7fELF" {
        return None;
    }
    let file = real.metadata().ok()?;
    let changed = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    let key = stable_hash(&(path.to_str()?, real.to_str()?, file.len(), changed));
    Some(user_cache_dir()?.join("touchstone/compilers").join(format!("{key:016x}")))
}

/// Returns the compiler's list of predefined macros.
fn predefined_macros(compiler: &str) -> Option<String> {
    let mut words = compiler.split_whitespace();
    let mut command = Command::new(words.next()?);
    command.args(words).args(["-dM", "-E", "-x", "c", "-"]).stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the flag of [`gnu_version`] for the compiler's list of predefined macros.
fn claimed_version(macros: &str) -> Option<String> {
    const NEWEST_VERSION: [u32; 3] = [6, 5, 0];
    let value = |name: &str| {
        let mut lines = macros.lines().filter_map(|line| line.strip_prefix("#define ")?.split_once(' '));
        lines.find(|(defined, _)| *defined == name).map(|(_, value)| value.trim().parse::<u32>().unwrap_or(0))
    };
    let version = [value("__GNUC__")?, value("__GNUC_MINOR__")?, value("__GNUC_PATCHLEVEL__")?];
    let [major, minor, patch] = version.min(NEWEST_VERSION);
    (value("__clang__").is_none()).then(|| format!("{GNU_VERSION}{major}.{minor}.{patch}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clang_claims_the_version_of_gcc_as_far_as_headers_allow() {
        let check = |macros: &str, expected: Option<&str>| assert_eq!(claimed_version(macros).as_deref(), expected);
        let gcc = |major: u32, minor: u32| {
            format!("#define __GNUC__ {major}\n#define __GNUC_MINOR__ {minor}\n#define __GNUC_PATCHLEVEL__ 0\n")
        };
        check(&gcc(12, 2), Some("-fgnuc-version=6.5.0"));
        check(&gcc(4, 9), Some("-fgnuc-version=4.9.0"));
        check(&format!("{}#define __clang__ 1\n", gcc(4, 2)), None);
        check("#define __TINYC__ 927\n", None);
    }

    #[test]
    fn only_a_whole_flag_is_read_from_the_cache() {
        let flag = "-fgnuc-version=6.5.0";
        assert_eq!(stored_flag("-fgnuc-version=6.5.0\n"), Some(Some(flag.to_string())));
        assert_eq!(stored_flag("none\n"), Some(None));
        for damaged in
            ["", "none", "-fgnuc-version=6.5", "-fgnuc-version=6.5\n", "-fgnuc-version=6.x.0\n", "-fplugin=a\n"]
        {
            assert_eq!(stored_flag(damaged), None, "{damaged}");
        }
    }

    #[test]
    fn scripts_and_launchers_are_not_cached() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a directory");
        let script = folder.path().join("gcc");
        std::fs::write(&script, "#!/bin/sh\nexec gcc \"$@\"\n").expect("a written file");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("changed");
        assert_eq!(cache_entry(script.to_str().expect("a name")), None);
        assert_eq!(cache_entry("ccache gcc"), None);
    }
}
