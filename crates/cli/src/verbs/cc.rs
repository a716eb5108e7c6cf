//! `touchstone cc` runs a compiler command with instrumentation, from the command line or from the compiler wrapper.

use crate::plan::cache_location::OFF;
use anyhow::{Context, Result, bail};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use touchstone_criteria::{CriteriaOptions, GoalCriterion, STATE, criterion_named};
use touchstone_front_c::{cached_headers, write_headers};
use touchstone_instrument::{
    ALLOCATOR_VARIABLE, CACHE_VARIABLE, COUNTS_VARIABLE, CRITERIA_VARIABLE, DIRECTORY_VARIABLE,
    INSIDE_WRAPPER_VARIABLE, ProbeObstacle, ProbeStorage, ProbingOptions, SUGGEST_VARIABLE, compile,
    create_output_directory, find_real_compiler, path_without_wrappers, record_unprobed_source,
};

/// The options of `cc`.
#[derive(clap::Args, Debug)]
pub struct Cc {
    /// The compiler and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMPILER ARGS")]
    pub command: Vec<OsString>,
}

/// Runs `cc`.
pub fn cc(options: &Cc) -> Result<ExitCode> {
    let (named, words) = options.command.split_first().context("no compiler: touchstone cc gcc -c file.c")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Under `measure`, the name resolves to a wrapper, which would instrument the source twice.
    let compiler = match named.as_encoded_bytes().contains(&b'/') {
        true => PathBuf::from(named),
        false => find_real_compiler(named, &path).unwrap_or_else(|| PathBuf::from(named)),
    };
    let plain: Option<Vec<String>> = words.iter().map(|word| word.to_str().map(str::to_string)).collect();
    match (compiler.to_str(), plain) {
        (Some(compiler), Some(words)) if std::env::var_os(INSIDE_WRAPPER_VARIABLE).is_none() => {
            carry_out(compiler, &words, &path)
        }
        (_, None) if std::env::var_os(INSIDE_WRAPPER_VARIABLE).is_none() => {
            note_words(words);
            pass_on(&compiler, words, &path)
        }
        _ => pass_on(&compiler, words, &path),
    }
}

/// Replaces this process by the compiler.
fn pass_on(compiler: &Path, words: &[OsString], path: &OsStr) -> Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    let mut command = std::process::Command::new(compiler);
    command
        .args(words)
        .env(INSIDE_WRAPPER_VARIABLE, "1")
        .env_remove(ALLOCATOR_VARIABLE)
        .env("PATH", path_without_wrappers(path));
    // `exec` returns only if it fails.
    let error = command.exec();
    Err(anyhow::anyhow!("can't run {}: {error}", compiler.display()))
}

/// Records that sources are compiled without probes, because the command has unknown arguments.
fn note_words(words: &[OsString]) {
    let Ok(directory) = directory() else { return };
    for word in words.iter().filter(|word| Path::new(word).extension().is_some_and(|extension| extension == "c")) {
        record_unprobed_source(&directory, &word.to_string_lossy(), ProbeObstacle::ArgumentNotUtf8);
    }
}

/// Returns the directory of records and hits.
fn directory() -> Result<PathBuf> {
    let directory = std::env::var_os(DIRECTORY_VARIABLE).map_or_else(|| PathBuf::from("touchstone-out"), PathBuf::from);
    Ok(std::path::absolute(directory)?)
}

fn carry_out(compiler: &str, words: &[String], path: &OsStr) -> Result<ExitCode> {
    let directory = directory()?;
    for kind in ["units", "hits"] {
        let own = directory.join(kind);
        create_output_directory(&own).with_context(|| format!("can't write to {}", own.display()))?;
    }
    let names = std::env::var(CRITERIA_VARIABLE).unwrap_or_else(|_| "stmt,branch,mcdc".to_string());
    let mut criteria: Vec<&'static dyn GoalCriterion> = Vec::new();
    let mut state = false;
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match criterion_named(name) {
            None if name == STATE => state = true,
            Some(criterion) => criteria.push(criterion),
            None => bail!("{CRITERIA_VARIABLE}: there is no criterion `{name}` that probes can measure"),
        }
    }
    // `TOUCHSTONE_CACHE=off` disables all caches.
    let cache = std::env::var_os(CACHE_VARIABLE).filter(|cache| cache != OFF).map(PathBuf::from);
    let headers = Headers::new(cache.as_deref())?;
    let probing = ProbingOptions {
        directory,
        cache,
        criteria: &criteria,
        options: CriteriaOptions::default(),
        include_dir: Some(headers.directory().to_path_buf()),
        state,
        suggest: std::env::var_os(SUGGEST_VARIABLE).is_some(),
        path: Some(path_without_wrappers(path)),
        keeps: if std::env::var_os(COUNTS_VARIABLE).is_some() { ProbeStorage::Counts } else { ProbeStorage::Hits },
    };
    let status = compile(compiler, words, &probing)?;
    Ok(ExitCode::from(u8::try_from(status).unwrap_or(1)))
}

/// The directory of our headers while a command runs.
enum Headers {
    Kept(PathBuf),
    ForThis(tempfile::TempDir),
}

impl Headers {
    fn new(cache: Option<&Path>) -> Result<Headers> {
        if let Some(Ok(kept)) = cache.map(cached_headers) {
            return Ok(Headers::Kept(kept));
        }
        let own = tempfile::tempdir()?;
        write_headers(own.path())?;
        Ok(Headers::ForThis(own))
    }

    fn directory(&self) -> &Path {
        match self {
            Headers::Kept(directory) => directory,
            Headers::ForThis(own) => own.path(),
        }
    }
}
