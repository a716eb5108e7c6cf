//! `touchstone measure`: runs a command with probes in everything that it compiles, and says what its tests covered.
//! `touchstone merge` puts several measurements together.

use crate::output::exit::Exit;
use crate::output::outputs;
use crate::verbs::report::Shown;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use touchstone_campaign::{Earlier, Jvms, Measurement, Measuring, Selection, Suggest, Surroundings, measured_document};
use touchstone_criteria::STATE;
use touchstone_instrument::{AgentError, Keeps, StateRules};

/// Options of `measure`.
#[derive(clap::Args, Debug)]
pub struct Measure {
    #[arg(help = crate::plan::args::criteria_help("state"), short, long, default_value = "stmt,branch,mcdc", value_name = "CRITERIA", value_delimiter = ',')]
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

/// For what assertions are suggested.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
pub enum Suggesting {
    /// For each piece of state that no test checks
    Once,
    /// For each piece of state in each test
    Every,
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
    /// Suggest the assertions that are missing, as a patch, too: one for each piece of state that no test checks, or with `=every` one in
    /// every test that does not check it; needs -c state, and what is merged must have been measured with it
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "once", help_heading = "State coverage")]
    pub suggest: Option<Suggesting>,
    #[command(flatten)]
    pub state: StateOptions,
    #[command(flatten)]
    pub shown: Shown,
}

impl Show {
    /// Where this is, and where the project is.
    fn places(&self) -> Result<(PathBuf, PathBuf)> {
        places(self.root.as_deref())
    }
}

/// Where this is, and where the project is, which somebody may have said.
pub fn places(root: Option<&Path>) -> Result<(PathBuf, PathBuf)> {
    let here = std::env::current_dir()?;
    let root = match root {
        Some(root) => root.canonicalize().with_context(|| format!("can't find {}", root.display()))?,
        None => here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&here).to_path_buf(),
    };
    Ok((here, root))
}

/// Options of state coverage.
#[derive(clap::Args, Debug, Clone, Default)]
pub struct StateOptions {
    /// A macro or function that asserts, beside the known ones; `*` stands for anything; `main`: what main returns
    #[arg(long, value_name = "NAME", help_heading = "State coverage")]
    pub assertion: Vec<String>,
    /// A function that changes the container that its first argument points to
    #[arg(long, value_name = "NAME", help_heading = "State coverage")]
    pub modifies: Vec<String>,
    /// A function whose result speaks of the container that its first argument points to
    #[arg(long, value_name = "NAME", help_heading = "State coverage")]
    pub queries: Vec<String>,
}

/// Carries out `measure`.
pub fn measure(options: &Measure) -> Result<ExitCode> {
    let (surroundings, no_agent) = surroundings(&options.show)?;
    let request = Measuring {
        criteria: options.criteria.clone(),
        out: std::path::absolute(&options.out)?,
        keeps: if options.counts { Keeps::Counts } else { Keeps::Hits },
        earlier: if options.keep { Earlier::Kept } else { Earlier::Forgotten },
        suggest: options.show.suggest.is_some(),
        command: options.command.clone(),
        surroundings,
    };
    request.check()?;
    if options.show.suggest.is_some() && !options.criteria.iter().any(|criterion| criterion == STATE) {
        bail!("--suggest needs state among the criteria; add it: -c {},{STATE}", options.criteria.join(","));
    }
    options.show.shown.outputs.check_criteria(&options.criteria)?;
    let stop = crate::verbs::interrupt::Stop::new()?;
    let ran = touchstone_campaign::measure(&request, &|child| stop.watch(child))?;
    // We were told to stop: then the command was, too.
    let interrupted = stop.was_asked();
    if interrupted && ran.has_no_unit() {
        eprintln!("interrupted before anything was measured");
        return Ok(Exit::Interrupted.into());
    }
    if let (Err(_), Some(missing)) = (ran.check(), no_agent) {
        eprintln!("hint: {missing}");
    }
    ran.check()?;
    if let Some(named) = ran.by_place.as_ref().filter(|_| !options.show.shown.quiet) {
        eprintln!("hint: {named}");
    }
    if let Some(remark) = ran.not_counted(request.keeps).filter(|_| !options.show.shown.quiet) {
        eprintln!("{remark}");
    }
    let exit = show(&ran.measurement, &options.show)?;
    if interrupted {
        eprintln!("interrupted: the report says what was covered until then");
        return Ok(Exit::Interrupted.into());
    }
    if !ran.status.success() {
        eprintln!("{} the command failed ({})", crate::output::progress::error_label(), ran.status);
        return Ok(Exit::CommandFailed.into());
    }
    Ok(exit.into())
}

/// Carries out `merge`.
pub fn merge(options: &Merge) -> Result<ExitCode> {
    let out = std::path::absolute(&options.out)?;
    let measurement = touchstone_campaign::merge(&options.directories, &out)?;
    Ok(show(&measurement, &options.show)?.into())
}

/// What the environment of this process says, and why JVMs are not measured.
fn surroundings(show: &Show) -> Result<(Surroundings, Option<AgentError>)> {
    let home = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
    let named = |name: &str| Some(format!("{name}={}", std::env::var(name).ok()?));
    let program = std::env::current_exe().context("can't find this program itself")?;
    let (_, root) = show.places()?;
    // Without it C is measured as ever.
    let (jvms, no_agent) = match touchstone_instrument::find_agent(&program) {
        Ok(agent) => (Some(Jvms { agent, root, options: std::env::var_os("JAVA_TOOL_OPTIONS") }), None),
        Err(missing) => (None, Some(missing)),
    };
    let surroundings = Surroundings {
        program,
        jvms,
        path: std::env::var_os("PATH").unwrap_or_default(),
        cache: home.filter(|home| home.is_absolute()).map(|home| home.join("touchstone")),
        reader: std::env::var_os("TOUCHSTONE_CLANG"),
        compilers: ["CC", "CXX"].into_iter().filter_map(named).collect(),
    };
    Ok((surroundings, no_agent))
}

/// Stores the document of a measurement, shows it, and writes the reports that are asked for.
fn show(measurement: &Measurement, options: &Show) -> Result<Exit> {
    let suggest = options.suggest.map(|suggest| match suggest {
        Suggesting::Once => Suggest::Once,
        Suggesting::Every => Suggest::Every,
    });
    let (here, root) = options.places()?;
    let exclude = options.exclude.iter().map(std::path::absolute).collect::<std::io::Result<Vec<_>>>()?;
    let selection = Selection { here, root, exclude };
    let StateOptions { assertion, modifies, queries } = options.state.clone();
    let rules = StateRules { assertions: assertion, modifies, queries };
    let (document, remarks) = measured_document(&measurement.measured, &selection, &rules, suggest)?;
    let history = outputs::store(measurement.directory.path(), &document)?;
    if suggest.is_some() {
        outputs::write_patch(measurement.directory.path(), &document, options.shown.quiet)?;
    }
    if !options.shown.quiet {
        remarks.iter().for_each(|remark| eprintln!("{remark}"));
    }
    options.shown.show(document, &history)
}
