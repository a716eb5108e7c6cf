//! `touchstone plan-classes` computes the probes of a directory or jar. The agent runs it in a measured JVM before it
//! instruments the first class from there.

use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::ExitCode;
use touchstone_campaign::{PlansRequest, plan_classes};
use touchstone_instrument::{CRITERIA_VARIABLE, DIRECTORY_VARIABLE, PROJECT_ROOT_VARIABLE};

/// The options of `plan-classes`.
#[derive(clap::Args, Debug)]
pub struct PlanClasses {
    /// A directory of classes, or a jar
    pub place: PathBuf,
    /// The class path of these classes
    #[arg(long, value_name = "PATHS", default_value = "")]
    pub class_path: String,
}

/// Runs `plan-classes`.
pub fn plan(options: &PlanClasses) -> Result<ExitCode> {
    let named = |name: &str| std::env::var(name).with_context(|| format!("{name} is not set: this is for the agent"));
    let class_path = options.class_path.split(':').filter(|place| !place.is_empty()).map(PathBuf::from);
    plan_classes(&PlansRequest {
        out: named(DIRECTORY_VARIABLE)?.into(),
        root: named(PROJECT_ROOT_VARIABLE)?.into(),
        criteria: named(CRITERIA_VARIABLE)?.split(',').map(str::to_string).collect(),
        place: options.place.clone(),
        class_path: class_path.collect(),
    })?;
    Ok(ExitCode::SUCCESS)
}
