//! `touchstone measure`: runs a command with probes in everything that it compiles, and says what its tests covered.
//! `touchstone merge` puts several measurements together.

use crate::cc::{COMPILERS, COUNTS, CRITERIA, DIRECTORY, WRAPPERS};
use crate::exit::Exit;
use crate::measured::{Selection, document};
use crate::outputs;
use crate::report::Shown;
use crate::states::{self, STATE, StateOptions};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use touchstone_criteria::{REGISTRY, criterion_named};
use touchstone_instrument::{Measured, MeasuredUnit, read};

/// Options of `measure`.
#[derive(clap::Args, Debug)]
pub struct Measure {
    /// Criteria, separated by commas: stmt branch decision condition dcc mcc mcdc wm idc rte labels state
    #[arg(short, long, default_value = "stmt,branch,mcdc", value_name = "CRITERIA", value_delimiter = ',')]
    pub criteria: Vec<String>,
    /// Where records, hits and the report go
    #[arg(short, long, value_name = "DIR", default_value = "touchstone-out")]
    pub out: PathBuf,
    /// Count executions: lines and objectives have their number of executions, not of tests; probes take a little longer
    #[arg(long)]
    pub counts: bool,
    /// Keep what earlier measurements left in the directory, and add to it
    #[arg(long)]
    pub keep: bool,
    #[command(flatten)]
    pub show: Show,
    /// The command that builds and runs the tests
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Options of `merge`.
#[derive(clap::Args, Debug)]
pub struct Merge {
    /// Directories of measurements
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Where everything goes; an earlier measurement there is replaced
    #[arg(short, long, value_name = "DIR", default_value = "touchstone-out")]
    pub out: PathBuf,
    #[command(flatten)]
    pub show: Show,
}

/// What is shown of a measurement.
#[derive(clap::Args, Debug)]
pub struct Show {
    /// Only files in this directory count [default: the working tree of git that this is, else this directory]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// A file or directory that doesn't count; may be repeated
    #[arg(long, value_name = "PATH")]
    pub exclude: Vec<PathBuf>,
    #[command(flatten)]
    pub state: StateOptions,
    #[command(flatten)]
    pub shown: Shown,
}

/// Carries out `measure`.
pub fn measure(options: &Measure) -> Result<ExitCode> {
    for name in &options.criteria {
        if criterion_named(name).is_none() && name != STATE {
            let known: Vec<&str> = REGISTRY.iter().map(|criterion| criterion.name()).chain([STATE]).collect();
            bail!("`{name}` can't be measured; criteria are {}", known.join(", "));
        }
    }
    options.show.shown.outputs.check_criteria(&options.criteria)?;
    let out = std::path::absolute(&options.out)?;
    if !options.keep {
        forget(&out)?;
    }
    std::fs::create_dir_all(out.join("hits")).with_context(|| format!("can't make {}", out.display()))?;
    let (status, interrupted) = run(options, &out)?;
    touchstone_instrument::trim_traces(&out);
    let measured = read(std::slice::from_ref(&out))?;
    if interrupted && measured.units.is_empty() {
        eprintln!("interrupted before anything was measured");
        return Ok(Exit::Interrupted.into());
    }
    if measured.units.is_empty() && measured.untouched.is_empty() {
        bail!("the command compiled no C file through cc, gcc or clang: if everything is built already, clean first");
    }
    let exit = show(&measured, &out, &options.show)?;
    if interrupted {
        eprintln!("interrupted: the report says what was covered until then");
        return Ok(Exit::Interrupted.into());
    }
    if !status.success() {
        eprintln!("{} the command failed ({status})", crate::progress::error_label());
        return Ok(Exit::CommandFailed.into());
    }
    Ok(exit.into())
}

/// Carries out `merge`.
pub fn merge(options: &Merge) -> Result<ExitCode> {
    for directory in &options.directories {
        if !directory.join("units").is_dir() {
            bail!(
                "{} holds no measurement; name the directories that `touchstone measure -o` wrote",
                directory.display()
            );
        }
    }
    let out = std::path::absolute(&options.out)?;
    let same = |directory: &PathBuf| directory.canonicalize().ok() == out.canonicalize().ok();
    if let Some(both) = options.directories.iter().find(|directory| same(directory)) {
        bail!("{} is read and written; say by -o where everything shall go", both.display());
    }
    // What an earlier merge left is none of what is merged now.
    forget(&out)?;
    for kind in ["units", "hits"] {
        let target = out.join(kind);
        std::fs::create_dir_all(&target).with_context(|| format!("can't make {}", target.display()))?;
        for (index, directory) in options.directories.iter().enumerate() {
            let Ok(entries) = std::fs::read_dir(directory.join(kind)) else { continue };
            for entry in entries {
                let path = entry?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                // Hit files of several machines may have the same name.
                let name = if kind == "hits" { format!("{index}-{name}") } else { name };
                let to = target.join(name);
                std::fs::copy(&path, &to).with_context(|| format!("can't copy {}", path.display()))?;
            }
        }
    }
    let measured = read(std::slice::from_ref(&out))?;
    Ok(show(&measured, &out, &options.show)?.into())
}

/// Removes what an earlier measurement left.
fn forget(out: &Path) -> Result<()> {
    for old in ["units", "hits"] {
        match std::fs::remove_dir_all(out.join(old)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("can't clear {}", out.join(old).display()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Runs a command with wrappers before its compilers. Also says whether we were told to stop: then the command was, too.
fn run(options: &Measure, out: &Path) -> Result<(ExitStatus, bool)> {
    // They stay: a build may remember where it found its compiler, and then they do its work without probes.
    let wrappers = out.join("compilers");
    std::fs::create_dir_all(&wrappers).with_context(|| format!("can't make {}", wrappers.display()))?;
    let own = std::env::current_exe().context("can't find this program itself")?;
    for name in COMPILERS {
        let wrapper = wrappers.join(name);
        let _ = std::fs::remove_file(&wrapper);
        if crate::cc::behind(name.as_ref(), &wrappers).is_some() {
            std::os::unix::fs::symlink(&own, wrapper)?;
        }
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(wrappers.clone()).chain(std::env::split_paths(&path)))?;
    let (program, words) = options.command.split_first().context("no command")?;
    let mut child = Command::new(program);
    child.args(words).env("PATH", path).env(WRAPPERS, &wrappers).env(DIRECTORY, out);
    if options.counts {
        child.env(COUNTS, "1");
    }
    child.env(CRITERIA, options.criteria.join(",")).env("TOUCHSTONE_HITS", out.join("hits"));
    // What a cache gives was compiled for another measurement, or for none.
    child.env("CCACHE_DISABLE", "1").env("SCCACHE_RECACHE", "1");
    let stop = crate::interrupt::Stop::new()?;
    let mut child = child.spawn().with_context(|| format!("can't run {program}"))?;
    stop.watch(child.id());
    let status = child.wait().with_context(|| format!("can't wait for {program}"))?;
    Ok((status, stop.was_asked()))
}

/// Stores the document of a measurement, shows it, and writes the reports that are asked for.
fn show(measured: &Measured, out: &Path, options: &Show) -> Result<Exit> {
    let here = std::env::current_dir()?;
    let root = match &options.root {
        Some(root) => root.canonicalize().with_context(|| format!("can't find {}", root.display()))?,
        None => here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&here).to_path_buf(),
    };
    let exclude = options.exclude.iter().map(std::path::absolute).collect::<std::io::Result<Vec<_>>>()?;
    let selection = Selection { here, root, exclude };
    let (document, state) = document(measured, &selection, &options.state)?;
    let history = outputs::store(out, &document)?;
    if !options.shown.quiet {
        remarks(measured, &selection);
        states::remarks(measured, &state);
    }
    options.shown.show(document, &history)
}

/// What could not be measured.
fn remarks(measured: &Measured, selection: &Selection) {
    for (file, why) in measured.untouched.iter().filter(|(file, _)| selection.counts(Path::new(file))) {
        eprintln!("not measured: {file}: {why}");
    }
    let outside = |unit: &&MeasuredUnit| {
        let file = Path::new(&unit.record.file);
        // What build tools bring along to try a compiler is nobody's project.
        !file.starts_with(&selection.root) && !file.starts_with("/usr") && file.is_file()
    };
    let outside = measured.units.iter().filter(outside).count();
    if outside > 0 {
        let root = selection.root.display();
        eprintln!("not counted: {outside} files outside of {root}; --root DIR says where the project is");
    }
    for unit in measured.units.iter().filter(|unit| selection.counts(Path::new(&unit.record.file))) {
        for (function, why) in &unit.record.untouched {
            eprintln!("not measured: {function} in {}: {why}", unit.record.file);
        }
    }
    for file in &measured.outdated {
        eprintln!("not counted: what an older version of {file} covered");
    }
    for damaged in &measured.damaged {
        eprintln!("warning: {damaged}");
    }
    if !measured.unexplained.is_empty() {
        eprintln!(
            "warning: hits of {} units that were compiled for another measurement; build and run under one `touchstone measure`",
            measured.unexplained.len()
        );
    }
    if measured.processes == 0 {
        eprintln!("warning: no instrumented program ran: does the command run the tests?");
    }
}
