//! `touchstone bench measure` measures the cost of probes at run time, beside gcov and (if clang is installed)
//! llvm-cov, and at build time (`compile.rs`).
//!
//! One CPU-bound program is built at `-O2` in every way. The builds run in turn, each run prints its CPU time, and the
//! fastest run of each build counts.

use super::compile;
use crate::output::exit::Exit;
use crate::output::stdout::say;
use crate::plan::args::{Bench, OutputFormat};
use anyhow::{Context, Result, ensure};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::Command;
use touchstone_instrument::{CRITERIA_VARIABLE, DIRECTORY_VARIABLE};

const PACK: &str = include_str!("../../../../bench/measure/pack.c");

/// The rounds of packing in one run, and the runs of each build.
const ROUNDS: &str = "16";
const RUNS: usize = 9;

/// A bar for the overhead of a build.
enum Bar {
    /// The maximum overhead above gcov, as a fraction.
    AboveGcov(f64),
    /// The maximum ratio to the plain build.
    Times(f64),
}

const BARS: [(&str, Bar); 3] =
    [("branch", Bar::AboveGcov(0.05)), ("mcdc", Bar::AboveGcov(0.05)), ("state", Bar::Times(8.0))];

/// A way to build the program.
struct Build {
    name: &'static str,
    compiler: &'static str,
    flags: &'static [&'static str],
    /// The criterion to measure, or `None` for other tools.
    criterion: Option<&'static str>,
}

const BUILDS: [Build; 9] = [
    Build { name: "gcc", compiler: "gcc", flags: &[], criterion: None },
    Build { name: "gcov", compiler: "gcc", flags: &["--coverage"], criterion: None },
    Build { name: "touchstone stmt", compiler: "gcc", flags: &[], criterion: Some("stmt") },
    Build { name: "touchstone branch", compiler: "gcc", flags: &[], criterion: Some("branch") },
    Build { name: "touchstone mcdc", compiler: "gcc", flags: &[], criterion: Some("mcdc") },
    Build { name: "touchstone state", compiler: "gcc", flags: &[], criterion: Some("state") },
    Build { name: "clang", compiler: "clang-19", flags: &[], criterion: None },
    Build {
        name: "llvm-cov",
        compiler: "clang-19",
        flags: &["-fprofile-instr-generate", "-fcoverage-mapping"],
        criterion: None,
    },
    Build {
        name: "llvm-cov mcdc",
        compiler: "clang-19",
        flags: &["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"],
        criterion: None,
    },
];

#[derive(Serialize)]
struct BuildRow {
    build: String,
    seconds: f64,
    /// The ratio to the plain build of the same compiler.
    ratio: f64,
    bar: Option<f64>,
    /// The size of the hits of one run, in MB.
    hits_mb: Option<f64>,
}

/// Runs the benchmark.
pub fn measure(options: &Bench) -> Result<Exit> {
    let scratch = tempfile::tempdir()?;
    let source = scratch.path().join("pack.c");
    std::fs::write(&source, PACK)?;
    let mut programs: Vec<(&Build, PathBuf, f64)> = Vec::new();
    for (index, build) in BUILDS.iter().enumerate() {
        let folder = scratch.path().join(index.to_string());
        std::fs::create_dir(&folder)?;
        match built(build, &source, &folder)? {
            Some(program) => programs.push((build, program, f64::MAX)),
            None => eprintln!("{}: no {} here", build.name, build.compiler),
        }
    }
    for _ in 0..if options.quick { 1 } else { RUNS } {
        for (build, program, best) in &mut programs {
            *best = best.min(run(program).with_context(|| build.name.to_string())?);
        }
    }
    let plain = |compiler: &str| {
        let build = programs.iter().find(|(build, ..)| build.compiler == compiler);
        build.map_or(f64::NAN, |(_, _, seconds)| *seconds)
    };
    let gcov = programs.iter().find(|(build, ..)| build.name == "gcov").map_or(f64::NAN, |(_, _, seconds)| *seconds);
    let bar = |criterion: &str| {
        let (_, bar) = BARS.iter().find(|(barred, _)| criterion == *barred)?;
        Some(match bar {
            Bar::AboveGcov(more) => gcov / plain("gcc") + more,
            Bar::Times(times) => *times,
        })
    };
    let mut rows: Vec<BuildRow> = Vec::new();
    for (build, program, seconds) in &programs {
        rows.push(BuildRow {
            build: build.name.to_string(),
            seconds: *seconds,
            ratio: seconds / plain(build.compiler),
            bar: build.criterion.and_then(bar),
            hits_mb: build.criterion.map(|_| hits(program)),
        });
    }
    let compiled = compile::compile(scratch.path(), options.quick)?;
    for compiled in compiled.into_iter().chain(compile::project(scratch.path(), options.quick)?) {
        let compile::Compiled { name, seconds, ratio, bar } = compiled;
        rows.push(BuildRow { build: name, seconds, ratio, bar, hits_mb: None });
    }
    match options.format {
        OutputFormat::Json => say!("{}", serde_json::to_string_pretty(&rows)?),
        OutputFormat::Text => {
            say!("{:<20} {:>8} {:>7} {:>6} {:>8}", "at -O2", "seconds", "ratio", "bar", "MB left");
            for row in &rows {
                let bar = row.bar.map(|bar| format!("{bar:.2}x")).unwrap_or_default();
                let hits = row.hits_mb.map(|hits| format!("{hits:.1}")).unwrap_or_default();
                say!("{:<20} {:>8.3} {:>6.2}x {bar:>6} {hits:>8}", row.build, row.seconds, row.ratio);
            }
        }
    }
    Ok(Exit::Done)
}

/// Builds the program; `None` if the compiler is not installed.
fn built(build: &Build, source: &Path, folder: &Path) -> Result<Option<PathBuf>> {
    let program = folder.join("pack");
    let mut command = match build.criterion {
        None => Command::new(build.compiler),
        Some(criterion) => {
            let mut own = Command::new(std::env::current_exe().context("can't find this program itself")?);
            own.args(["cc", build.compiler]).env(DIRECTORY_VARIABLE, folder).env(CRITERIA_VARIABLE, criterion);
            own
        }
    };
    command.args(["-O2", "-w", "-o"]).arg(&program).arg(source).args(build.flags).current_dir(folder);
    let done = match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        done => done.with_context(|| build.compiler)?,
    };
    ensure!(done.status.success(), "{}: {}", build.name, String::from_utf8_lossy(&done.stderr));
    Ok(Some(program))
}

/// Returns the size of the largest hit file of a program, in MB.
fn hits(program: &Path) -> f64 {
    let left = std::fs::read_dir(program.with_file_name("hits")).into_iter().flatten();
    let sizes = left.filter_map(|entry| entry.ok()?.metadata().ok().map(|meta| meta.len()));
    sizes.max().unwrap_or(0) as f64 / 1e6
}

/// Runs the program and returns its CPU seconds.
fn run(program: &Path) -> Result<f64> {
    let folder = program.parent().context("it stands in a folder")?;
    let ran = Command::new(program).arg(ROUNDS).current_dir(folder).output()?;
    ensure!(ran.status.success(), "the program failed ({})", ran.status);
    String::from_utf8_lossy(&ran.stderr).trim().parse::<f64>().context("the program's time")
}
