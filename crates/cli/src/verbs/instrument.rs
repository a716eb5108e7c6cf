//! `touchstone instrument` instruments Java classes offline, for JVMs that cannot load the agent.

use crate::output::exit::Exit;
use crate::plan::args::{CriterionNames, criteria_help};
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use touchstone_campaign::{EarlierMeasurement, OfflineRequest, ProbedClasses, instrument_classes};

/// The options of `instrument`.
#[derive(clap::Args, Debug)]
pub struct Instrument {
    /// A directory of classes, or a jar
    #[arg(required = true, value_name = "DIR|JAR")]
    pub tree: PathBuf,
    /// The new or empty directory for the instrumented classes and all other files
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,
    #[arg(help = criteria_help(""), value_parser = CriterionNames::new(""), hide_possible_values = true, short, long, default_value = "stmt,branch,mcdc", value_name = "CRITERIA", value_delimiter = ',')]
    pub criteria: Vec<String>,
    /// The directory for records, and for hits when the classes run
    #[arg(long, value_name = "DIR", default_value = "touchstone-out")]
    pub measurement: PathBuf,
    /// Add another module of the same program to the measurement
    #[arg(long)]
    pub keep: bool,
    /// The directory of the sources [default: the root of the git working tree, else the current directory]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// The class path of the classes: jars and directories of classes
    #[arg(long, visible_alias = "cp", value_name = "PATH")]
    pub class_path: Vec<OsString>,
}

/// Runs `instrument`.
pub fn instrument(options: &Instrument) -> Result<ExitCode> {
    let (_, root) = crate::verbs::measure::places(options.root.as_deref())?;
    let tree = options.tree.canonicalize().with_context(|| format!("can't find {}", options.tree.display()))?;
    let class_path = options.class_path.iter().flat_map(|path| std::env::split_paths(path).collect::<Vec<_>>());
    let request = OfflineRequest {
        tree,
        to: std::path::absolute(&options.out)?,
        out: std::path::absolute(&options.measurement)?,
        root,
        class_path: class_path.map(std::path::absolute).collect::<std::io::Result<_>>()?,
        criteria: options.criteria.clone(),
        earlier: if options.keep { EarlierMeasurement::Extended } else { EarlierMeasurement::Deleted },
    };
    let ProbedClasses { with, without } = instrument_classes(&request)?;
    eprintln!("{with} classes have probes, {without} have nothing to measure");
    eprintln!(
        "run them from {}; then `touchstone merge {} -o DIR` reports what was covered",
        options.out.display(),
        options.measurement.display()
    );
    Ok(Exit::Done.into())
}
