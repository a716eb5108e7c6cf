//! `touchstone measure`: runs a command with probes in everything that it compiles, and says what its tests covered.

use crate::cc::{CRITERIA, DIRECTORY, WRAPPERS};
use crate::exit::Exit;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use touchstone_criteria::criterion_named;
use touchstone_instrument::{Measured, read};

/// Options of `measure`.
#[derive(clap::Args, Debug)]
pub struct Measure {
    /// Criteria, separated by commas
    #[arg(short, long, default_value = "stmt,branch,mcdc", value_name = "CRITERIA", value_delimiter = ',')]
    pub criteria: Vec<String>,
    /// Where records and hits go
    #[arg(short, long, value_name = "DIR", default_value = "touchstone-out")]
    pub out: PathBuf,
    /// Keep what earlier measurements left in the directory
    #[arg(long)]
    pub keep: bool,
    /// The command that builds and runs the tests
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Names that compilers go by.
const COMPILERS: [&str; 8] = ["cc", "gcc", "clang", "c99", "c89", "gcc-12", "clang-19", "x86_64-linux-gnu-gcc"];

/// Carries out `measure`.
pub fn measure(options: &Measure) -> Result<ExitCode> {
    for name in &options.criteria {
        if criterion_named(name).is_none() {
            bail!("`{name}` can't be measured; see `touchstone objectives --help` for the criteria");
        }
    }
    let out = std::path::absolute(&options.out)?;
    if !options.keep {
        for old in ["units", "hits"] {
            let _ = std::fs::remove_dir_all(out.join(old));
        }
    }
    std::fs::create_dir_all(out.join("hits")).with_context(|| format!("can't make {}", out.display()))?;
    let wrappers = tempfile::tempdir()?;
    let own = std::env::current_exe().context("can't find this program itself")?;
    for name in COMPILERS {
        if crate::cc::behind(name.as_ref(), wrappers.path()).is_some() {
            std::os::unix::fs::symlink(&own, wrappers.path().join(name))?;
        }
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::env::join_paths(std::iter::once(wrappers.path().to_path_buf()).chain(std::env::split_paths(&path)))?;
    let (program, words) = options.command.split_first().context("no command")?;
    let status = Command::new(program)
        .args(words)
        .env("PATH", path)
        .env(WRAPPERS, wrappers.path())
        .env(DIRECTORY, &out)
        .env(CRITERIA, options.criteria.join(","))
        .env("TOUCHSTONE_HITS", out.join("hits"))
        .status()
        .with_context(|| format!("can't run {program}"))?;
    let measured = read(&[out])?;
    if measured.units.is_empty() {
        bail!("the command compiled no C file through cc, gcc or clang: if everything is built already, clean first");
    }
    print(&measured);
    if !status.success() {
        eprintln!("the command failed: {status}");
    }
    Ok(Exit::Done.into())
}

fn print(measured: &Measured) {
    let mut counts: BTreeMap<(&str, &str), [usize; 3]> = BTreeMap::new();
    for unit in &measured.units {
        for objective in &unit.record.objectives {
            let count = counts.entry((&objective.criterion, &unit.record.file)).or_default();
            count[0] += 1;
            count[1] += usize::from(!unit.covered(objective).is_empty());
            count[2] += usize::from(objective.not_placed.is_some());
        }
    }
    for ((criterion, file), [total, covered, lost]) in counts {
        println!("{criterion:<10} {covered:>5} of {total:<5} {file} ({lost} not placed)");
    }
    for (file, why) in &measured.untouched {
        println!("untouched  {file}: {why}");
    }
}
