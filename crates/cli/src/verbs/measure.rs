//! `touchstone measure`: runs a command with probes in everything that it compiles, and says what its tests covered.
//! `touchstone merge` puts several measurements together.

use crate::output::exit::Exit;
use crate::output::measured::document;
use crate::output::outputs;
use crate::output::selection::Selection;
use crate::output::states::{self, STATE, StateOptions};
use crate::verbs::cc::{COUNTS, CRITERIA, DIRECTORY};
use crate::verbs::report::Shown;
use crate::verbs::wrappers::{self, COMPILERS, PROGRAM};
use anyhow::{Context, Result, bail};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use touchstone_campaign::OutDir;
use touchstone_criteria::{REGISTRY, criterion_named};
use touchstone_front_c::Resident;
use touchstone_instrument::{INSIDE, Measured, MeasuredUnit, check_own, clear_own, elsewhere, make_own, read};

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
    let _lock = OutDir::open(&out)?;
    prepare(&out, if options.keep { Earlier::Kept } else { Earlier::Forgotten })?;
    let elsewhere = Elsewhere::prepare(&out.join("hits"));
    let (status, interrupted) = run(options, &out)?;
    drop(elsewhere);
    touchstone_instrument::trim_traces(&out);
    touchstone_instrument::prune_kept(&out);
    let by_place = named_by_place(&options.command);
    let measured = read(std::slice::from_ref(&out))?;
    if interrupted && measured.units.is_empty() {
        eprintln!("interrupted before anything was measured");
        return Ok(Exit::Interrupted.into());
    }
    if measured.units.is_empty() && measured.untouched.is_empty() {
        let hint = match by_place {
            Some(named) => format!("`{named}` names its compiler by its place, so that no probes get in: say CC=gcc"),
            None => "if everything is built already, clean first".to_string(),
        };
        bail!("the command compiled no C file through cc, gcc or clang: {hint}");
    }
    if let Some(named) = by_place.filter(|_| !options.show.shown.quiet) {
        eprintln!("hint: `{named}` names a compiler by its place; what it compiled has no probes (say CC=gcc)");
    }
    let exit = show(&measured, &out, &options.show)?;
    if interrupted {
        eprintln!("interrupted: the report says what was covered until then");
        return Ok(Exit::Interrupted.into());
    }
    if !status.success() {
        eprintln!("{} the command failed ({status})", crate::output::progress::error_label());
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
    let _lock = OutDir::open(&out)?;
    // What an earlier merge left is none of what is merged now.
    prepare(&out, Earlier::Forgotten)?;
    for kind in KINDS {
        let target = out.join(kind);
        for (index, directory) in options.directories.iter().enumerate() {
            let Ok(entries) = std::fs::read_dir(directory.join(kind)) else { continue };
            for entry in entries {
                let path = entry?.path();
                if path.extension().is_none() || !path.is_file() {
                    continue;
                }
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                // Hit files of several machines may have the same name.
                let name = if kind == "hits" { format!("{index}-{name}") } else { name };
                let to = target.join(name);
                copy(&path, &to).with_context(|| format!("can't copy {}", path.display()))?;
            }
        }
    }
    let measured = read(std::slice::from_ref(&out))?;
    Ok(show(&measured, &out, &options.show)?.into())
}

/// Directories of a measurement.
const KINDS: [&str; 2] = ["units", "hits"];

/// What becomes of what an earlier measurement left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Earlier {
    Kept,
    Forgotten,
}

/// Makes the directories of a measurement. Those that somebody else made are refused before anything is touched.
fn prepare(out: &Path, earlier: Earlier) -> Result<()> {
    for kind in KINDS {
        let directory = out.join(kind);
        check_own(&directory).with_context(|| {
            format!("can't use {}: move it away, or choose another directory with -o", directory.display())
        })?;
    }
    for kind in KINDS {
        let directory = out.join(kind);
        if earlier == Earlier::Forgotten {
            clear_own(&directory).with_context(|| format!("can't clear {}", directory.display()))?;
        }
        make_own(&directory).with_context(|| format!("can't make {}", directory.display()))?;
    }
    Ok(())
}

/// Copies a file so that no reader sees half of it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let folder = to.parent().context("it stands in a folder")?;
    let mut made = tempfile::NamedTempFile::new_in(folder)?;
    std::io::copy(&mut std::fs::File::open(from)?, &mut made)?;
    made.persist(to)?;
    Ok(())
}

/// Runs a command with wrappers before its compilers. Also says whether we were told to stop: then the command was, too.
fn run(options: &Measure, out: &Path) -> Result<(ExitStatus, bool)> {
    let wrappers = wrappers::make(out)?;
    let own = std::env::current_exe().context("can't find this program itself")?;
    let path = wrappers::path_behind();
    let path = std::env::join_paths(std::iter::once(wrappers.clone()).chain(std::env::split_paths(&path)))?;
    let (program, words) = options.command.split_first().context("no command")?;
    let mut child = Command::new(program);
    child.args(words).env("PATH", path).env(PROGRAM, own).env_remove(INSIDE).env(DIRECTORY, out);
    if options.counts {
        child.env(COUNTS, "1");
    }
    child.env(CRITERIA, options.criteria.join(",")).env("TOUCHSTONE_HITS", out.join("hits"));
    let clang = clang();
    let stays = clang.as_deref().and_then(|clang| Stays::start(clang, &wrappers));
    child.envs(clang.iter().map(|clang| (CLANG, clang)));
    child.envs(stays.iter().zip(&clang).flat_map(|(stays, clang)| Resident::variables(clang, &stays.socket())));
    // What a cache gives was compiled for another measurement, or for none.
    child.env("CCACHE_DISABLE", "1").env("SCCACHE_RECACHE", "1");
    let stop = crate::verbs::interrupt::Stop::new()?;
    let mut child = child.spawn().with_context(|| format!("can't run {program}"))?;
    stop.watch(child.id());
    let status = child.wait().with_context(|| format!("can't wait for {program}"))?;
    Ok((status, stop.was_asked()))
}

/// The clang that reads sources.
const CLANG: &str = "TOUCHSTONE_CLANG";

/// As asked for, or the newest on the path. It is no compiler of the build, so it is none of our wrappers.
fn clang() -> Option<PathBuf> {
    let names = std::iter::once("clang".to_string()).chain((14..=40).rev().map(|version| format!("clang-{version}")));
    let asked = std::env::var_os(CLANG).map(PathBuf::from);
    asked.or_else(|| names.filter_map(|name| wrappers::behind(name.as_ref())).next())
}

/// A clang that stays while the command runs, and the directory of its socket.
struct Stays {
    _clang: Resident,
    directory: tempfile::TempDir,
}

impl Stays {
    /// Without it everything takes longer, and nothing else.
    fn start(clang: &Path, library: &Path) -> Option<Stays> {
        let directory = tempfile::Builder::new().permissions(Permissions::from_mode(0o700)).tempdir().ok()?;
        let clang = Resident::start(clang, library, &Stays::socket_in(directory.path()))?;
        Some(Stays { _clang: clang, directory })
    }

    fn socket(&self) -> PathBuf {
        Stays::socket_in(self.directory.path())
    }

    fn socket_in(directory: &Path) -> PathBuf {
        directory.join("clang")
    }
}

/// A compiler that the command or its surroundings name by its place: no wrapper is asked for it.
fn named_by_place(command: &[String]) -> Option<String> {
    let cache = |folder: &Path| std::fs::read_to_string(folder.join("CMakeCache.txt")).unwrap_or_default();
    let here = Path::new(".");
    let remembered: Vec<String> = [here.to_path_buf(), here.join("build")].iter().map(|folder| cache(folder)).collect();
    let words = command.iter().flat_map(|word| word.split_whitespace());
    let lines = remembered.iter().flat_map(|text| text.lines()).filter(|line| line.contains("C_COMPILER:"));
    let variables = ["CC", "CXX"].into_iter().filter_map(|name| Some(format!("{name}={}", std::env::var(name).ok()?)));
    let variables: Vec<String> = variables.collect();
    let named = words.chain(lines).chain(variables.iter().map(String::as_str)).find(|word| {
        let place = Path::new(word.rsplit('=').next().unwrap_or_default().trim_matches(['"', '\'']));
        let compiler = place.file_name().is_some_and(|name| COMPILERS.iter().any(|compiler| name == *compiler));
        place.is_absolute() && compiler && !wrappers::is_wrapper(place)
    });
    named.map(str::to_string)
}

/// Where hits of other users' processes go if they can't reach the directory. Removed when it goes out of scope.
struct Elsewhere {
    place: PathBuf,
    hits: PathBuf,
}

impl Elsewhere {
    /// Lets all users write to the directory of hits, or, if they can't come there, to another one.
    fn prepare(hits: &Path) -> Option<Elsewhere> {
        let open = |path: &Path, mode: u32| std::fs::set_permissions(path, Permissions::from_mode(mode));
        let passable = |folder: &Path| std::fs::metadata(folder).is_ok_and(|meta| meta.permissions().mode() & 1 != 0);
        if open(hits, 0o1777).is_ok() && hits.ancestors().skip(1).all(passable) {
            return None;
        }
        let place = PathBuf::from(elsewhere(&hits.to_string_lossy()));
        // Whoever was there first may be anyone: then those hits are lost, as without it.
        std::fs::create_dir(&place).ok()?;
        let made = Elsewhere { place, hits: hits.to_path_buf() };
        open(&made.place, 0o1777).ok()?;
        Some(made)
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        for entry in std::fs::read_dir(&self.place).into_iter().flatten().filter_map(|entry| entry.ok()) {
            let from = entry.path();
            // A link may lead anywhere.
            if entry.file_type().is_ok_and(|kind| kind.is_file())
                && copy(&from, &self.hits.join(entry.file_name())).is_ok()
            {
                let _ = std::fs::remove_file(from);
            }
        }
        let _ = std::fs::remove_dir(&self.place);
    }
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
