//! `touchstone measure` runs a command with instrumentation and reports what its tests covered. `touchstone merge` merges
//! several measurements.

use crate::output::exit::Exit;
use crate::output::outputs::{self, Stored};
use crate::plan::args::{CriterionNames, OutputFormat, criteria_help};
use crate::verbs::report::ReportOptions;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use touchstone_campaign::{
    CommandEnvironment, CommandOutput, EarlierMeasurement, JvmOptions, MeasureRequest, Measurement, Selection,
    SuggestionScope, measured_document,
};
use touchstone_criteria::STATE;
use touchstone_instrument::{AgentError, ProbeStorage, StateRules};

/// The options of `measure`.
#[derive(clap::Args, Debug)]
pub struct Measure {
    #[arg(help = criteria_help(STATE), value_parser = CriterionNames::new(STATE), hide_possible_values = true, short, long, default_value = "stmt,branch,mcdc", value_name = "CRITERIA", value_delimiter = ',')]
    pub criteria: Vec<String>,
    /// The output directory for records, hits and the report
    #[arg(short, long, value_name = "DIR", default_value = "touchstone-out")]
    pub out: PathBuf,
    /// Count executions instead of tests for every line and objective; probes get slightly slower
    #[arg(long)]
    pub counts: bool,
    /// Add to the earlier measurement in the output directory
    #[arg(long)]
    pub keep: bool,
    #[command(flatten)]
    pub show: Show,
    /// The command that builds and runs the tests
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// The options of `merge`.
#[derive(clap::Args, Debug)]
pub struct Merge {
    /// The output directories of the measurements
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// The output directory; an earlier measurement there is overwritten
    #[arg(short, long, value_name = "DIR", default_value = "touchstone-out")]
    pub out: PathBuf,
    #[command(flatten)]
    pub show: Show,
}

/// The state for which assertions are suggested.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
pub enum Suggesting {
    /// One assertion for each piece of state that no test checks
    Once,
    /// One assertion in every test that does not check a piece of state
    Every,
}

/// The options that select and render a measurement.
#[derive(clap::Args, Debug)]
pub struct Show {
    /// Count only files in this directory [default: the root of the git working tree, else the current directory]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Exclude a file or directory; may be repeated
    #[arg(long, value_name = "PATH")]
    pub exclude: Vec<PathBuf>,
    /// Suggest the missing assertions, also as a patch; needs -c state. Measurements that are merged need it as well
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "once", help_heading = "State coverage")]
    pub suggest: Option<Suggesting>,
    #[command(flatten)]
    pub state: StateOptions,
    #[command(flatten)]
    pub shown: ReportOptions,
}

impl Show {
    /// Returns the current directory and the root of the project.
    fn places(&self) -> Result<(PathBuf, PathBuf)> {
        places(self.root.as_deref())
    }
}

/// Returns the current directory and the root of the project, which is `root` if it is given.
pub fn places(root: Option<&Path>) -> Result<(PathBuf, PathBuf)> {
    let here = std::env::current_dir()?;
    let root = match root {
        Some(root) => root.canonicalize().with_context(|| format!("can't find {}", root.display()))?,
        None => here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&here).to_path_buf(),
    };
    Ok((here, root))
}

/// The options of state coverage.
#[derive(clap::Args, Debug, Clone, Default)]
pub struct StateOptions {
    /// A macro or function that is an assertion, besides the known ones; `*` matches anything; `main` means the result of main
    #[arg(long, value_name = "NAME", help_heading = "State coverage")]
    pub assertion: Vec<String>,
    /// A function that modifies the container that its first argument points to
    #[arg(long, value_name = "NAME", help_heading = "State coverage")]
    pub modifies: Vec<String>,
    /// A function whose result depends on the container that its first argument points to
    #[arg(long, value_name = "NAME", help_heading = "State coverage")]
    pub queries: Vec<String>,
}

/// Runs `measure`.
pub fn measure(options: &Measure) -> Result<ExitCode> {
    let (environment, no_agent) = environment(&options.show)?;
    let request = MeasureRequest {
        criteria: options.criteria.clone(),
        out: std::path::absolute(&options.out)?,
        keeps: if options.counts { ProbeStorage::Counts } else { ProbeStorage::Hits },
        earlier: if options.keep { EarlierMeasurement::Extended } else { EarlierMeasurement::Deleted },
        suggest: options.show.suggest.is_some(),
        command: options.command.clone(),
        output: match options.show.shown.format {
            OutputFormat::Json => CommandOutput::StandardError,
            OutputFormat::Text => CommandOutput::Inherited,
        },
        environment,
    };
    request.check()?;
    if options.show.suggest.is_some() && !options.criteria.iter().any(|criterion| criterion == STATE) {
        bail!("--suggest needs state among the criteria; add it: -c {},{STATE}", options.criteria.join(","));
    }
    options.show.shown.outputs.check_criteria(&options.criteria)?;
    let stop = crate::verbs::interrupt::StopRequest::new()?;
    let ran = touchstone_campaign::measure(&request, &|child| stop.watch(child))?;
    // The signal went to the whole process group, so the command got it as well.
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
    let exit = show(&ran.measurement, &options.show, &options.criteria)?;
    if interrupted {
        eprintln!("interrupted: the report has the coverage so far");
        return Ok(Exit::Interrupted.into());
    }
    if !ran.status.success() {
        eprintln!("{} the command failed ({})", crate::output::progress::error_label(), ran.status);
        return Ok(Exit::CommandFailed.into());
    }
    Ok(exit.into())
}

/// Runs `merge`.
pub fn merge(options: &Merge) -> Result<ExitCode> {
    let out = std::path::absolute(&options.out)?;
    let measurement = touchstone_campaign::merge(&options.directories, &out)?;
    Ok(show(&measurement, &options.show, &[])?.into())
}

/// Reads the environment of this process, and returns why JVMs are not measured if the agent is missing.
fn environment(show: &Show) -> Result<(CommandEnvironment, Option<AgentError>)> {
    let home = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
    let named = |name: &str| Some(format!("{name}={}", std::env::var(name).ok()?));
    let program = std::env::current_exe().context("can't find this program itself")?;
    let (_, root) = show.places()?;
    // Without the agent, C is still measured.
    let (jvms, no_agent) = match touchstone_instrument::find_agent(&program) {
        Ok(agent) => (Some(JvmOptions { agent, root, options: std::env::var_os("JAVA_TOOL_OPTIONS") }), None),
        Err(missing) => (None, Some(missing)),
    };
    let environment = CommandEnvironment {
        program,
        jvms,
        path: std::env::var_os("PATH").unwrap_or_default(),
        cache: home.filter(|home| home.is_absolute()).map(|home| home.join("touchstone")),
        reader: std::env::var_os("TOUCHSTONE_CLANG"),
        compilers: ["CC", "CXX"].into_iter().filter_map(named).collect(),
    };
    Ok((environment, no_agent))
}

/// Stores the document of a measurement, prints it, and writes the requested reports.
fn show(measurement: &Measurement, options: &Show, criteria: &[String]) -> Result<Exit> {
    let suggest = options.suggest.map(|suggest| match suggest {
        Suggesting::Once => SuggestionScope::Once,
        Suggesting::Every => SuggestionScope::Every,
    });
    let (here, root) = options.places()?;
    let mut exclude = options.exclude.iter().map(std::path::absolute).collect::<std::io::Result<Vec<_>>>()?;
    exclude.extend(measurement.excluded.iter().cloned());
    touchstone_campaign::store_exclusions(measurement.directory.path(), &exclude)?;
    let selection = Selection { here, root, exclude };
    let StateOptions { assertion, modifies, queries } = options.state.clone();
    let rules = StateRules { assertions: assertion, modifies, queries };
    let (document, remarks) = measured_document(&measurement.measured, &selection, &rules, suggest)?;
    let history = outputs::store(measurement.directory.path(), Stored::Measurement, &document)?;
    if suggest.is_some() {
        outputs::write_patch(measurement.directory.path(), &document, options.shown.quiet)?;
    }
    if !options.shown.quiet {
        remarks.iter().for_each(|remark| eprintln!("{remark}"));
    }
    options.shown.show(document, &history, criteria)
}
