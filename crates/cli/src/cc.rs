//! `touchstone cc`: the compiler wrapper, by hand or under the name of a compiler.

use crate::states::STATE;
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use touchstone_criteria::{CriteriaOptions, Labelling, criterion_named};
use touchstone_instrument::{Keeps, Probing, compile};

/// Set by `measure`: the directory of the compilers' wrappers, which the real ones are looked for behind.
pub const WRAPPERS: &str = "TOUCHSTONE_WRAPPERS";
/// Where records and hits go.
pub const DIRECTORY: &str = "TOUCHSTONE_DIR";
/// What is measured, separated by commas.
pub const CRITERIA: &str = "TOUCHSTONE_CRITERIA";

/// Set if executions are counted.
pub const COUNTS: &str = "TOUCHSTONE_COUNTS";

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

/// Options of `cc`.
#[derive(clap::Args, Debug)]
pub struct Cc {
    /// The compiler and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMPILER ARGS")]
    pub command: Vec<String>,
}

/// Carries out `cc`.
pub fn cc(options: &Cc) -> Result<ExitCode> {
    let (compiler, words) = options.command.split_first().context("no compiler: touchstone cc gcc -c file.c")?;
    // Under `measure` the name leads to a wrapper, which would do our work once more.
    let behind_wrapper =
        std::env::var_os(WRAPPERS).and_then(|wrappers| behind(compiler.as_ref(), Path::new(&wrappers)));
    match behind_wrapper.filter(|_| !compiler.contains('/')) {
        Some(real) => carry_out(&real.to_string_lossy(), words),
        None => carry_out(compiler, words),
    }
}

/// If this process was started under a compiler's name, does that compiler's work: with probes if `measure` runs, else
/// without (a build may remember the wrapper as its compiler).
pub fn as_wrapper() -> Option<Result<ExitCode>> {
    let mut words = std::env::args_os();
    let own = PathBuf::from(words.next()?);
    let name = own.file_name()?.to_os_string();
    if !COMPILERS.iter().any(|compiler| name == *compiler) {
        return None;
    }
    let measures = std::env::var_os(WRAPPERS);
    let wrappers = measures.as_deref().map_or_else(|| own.parent().unwrap_or(Path::new("")), Path::new);
    let Some(compiler) = behind(&name, wrappers) else {
        return Some(Err(anyhow::anyhow!("the compiler {} is not installed", name.to_string_lossy())));
    };
    if measures.is_none() {
        use std::os::unix::process::CommandExt;
        // Only comes back if it fails.
        let error = std::process::Command::new(&compiler).args(words).exec();
        return Some(Err(anyhow::anyhow!("can't run {}: {error}", compiler.display())));
    }
    let words: Result<Vec<String>, OsString> = words.map(OsString::into_string).collect();
    Some(match words {
        Ok(words) => carry_out(&compiler.to_string_lossy(), &words),
        Err(word) => Err(anyhow::anyhow!("an argument of the compiler is not UTF-8: {}", word.to_string_lossy())),
    })
}

/// The program of this name on the path, the wrappers left out.
pub fn behind(name: &std::ffi::OsStr, wrappers: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let others = std::env::split_paths(&path).filter(|directory| directory != wrappers);
    others.map(|directory| directory.join(name)).find(|candidate| candidate.is_file())
}

fn carry_out(compiler: &str, words: &[String]) -> Result<ExitCode> {
    let directory = std::env::var_os(DIRECTORY).map_or_else(|| PathBuf::from("touchstone-out"), PathBuf::from);
    let directory = std::path::absolute(directory)?;
    std::fs::create_dir_all(directory.join("hits")).with_context(|| format!("can't make {}", directory.display()))?;
    let names = std::env::var(CRITERIA).unwrap_or_else(|_| "stmt,branch,mcdc".to_string());
    let mut criteria: Vec<&'static dyn Labelling> = Vec::new();
    let mut state = false;
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match criterion_named(name) {
            None if name == STATE => state = true,
            Some(criterion) => criteria.push(criterion),
            None => bail!("{CRITERIA}: there is no criterion `{name}` that probes can measure"),
        }
    }
    let include = tempfile::tempdir()?;
    touchstone_front_c::write_headers(include.path())?;
    let probing = Probing {
        directory,
        criteria: &criteria,
        options: CriteriaOptions::default(),
        include_dir: Some(include.path().to_path_buf()),
        state,
        keeps: if std::env::var_os(COUNTS).is_some() { Keeps::Counts } else { Keeps::Hits },
    };
    let status = compile(compiler, words, &probing)?;
    Ok(ExitCode::from(u8::try_from(status).unwrap_or(1)))
}
