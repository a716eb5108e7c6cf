//! `touchstone bench mcdc` measures the overhead of tracking MC/DC in full path exploration (Whalen et al., table II:
//! 7.9 % at best).

use super::{Quiet, read, timing};
use crate::output::exit::Exit;
use crate::output::stdout::say;
use crate::plan::args::{Bench, OutputFormat};
use anyhow::{Context, Result};
use serde::Serialize;
use touchstone_campaign::Program;
use touchstone_criteria::{CriteriaOptions, GoalIndex, criterion_named, objectives};
use touchstone_engine::{Config, Goals, explore, explore_paths_and_goals};

const TCAS: &str = include_str!("../../../../examples/tcas.c");
const CONTROLLER: &str = include_str!("../../../../bench/paths/controller.c");
const MATCHER: &str = include_str!("../../../../bench/paths/matcher.c");

#[derive(Serialize)]
struct McdcRow {
    program: &'static str,
    paths: u64,
    objectives: usize,
    without_seconds: f64,
    with_seconds: f64,
    overhead_percent: f64,
}

/// Runs the benchmark.
pub fn mcdc(options: &Bench) -> Result<Exit> {
    let mut rows = Vec::new();
    let cases = [("tcas", TCAS, "advise"), ("controller", CONTROLLER, "engine_step"), ("matcher", MATCHER, "matches")];
    for (program, source, function) in cases {
        rows.push(measure(program, &read(source, &[])?, function)?);
    }
    match options.format {
        OutputFormat::Json => say!("{}", serde_json::to_string_pretty(&rows)?),
        OutputFormat::Text => {
            say!(
                "{:<12} {:>7} {:>10} {:>11} {:>11} {:>9}  paper: +7.9 % at best",
                "program",
                "paths",
                "objectives",
                "without (s)",
                "with (s)",
                "overhead"
            );
            for row in &rows {
                say!(
                    "{:<12} {:>7} {:>10} {:>11.4} {:>11.4} {:>7.1} %",
                    row.program,
                    row.paths,
                    row.objectives,
                    row.without_seconds,
                    row.with_seconds,
                    row.overhead_percent
                );
            }
        }
    }
    Ok(Exit::Done)
}

fn measure(name: &'static str, program: &Program, function: &str) -> Result<McdcRow> {
    let module = &program.module;
    let func = module.function_named(function).context("the bench program lacks its function")?;
    let config = Config { precondition: program.helper(function, "_pre"), ..Config::default() };
    let criterion = criterion_named("mcdc").context("a criterion of the registry")?;
    let wanted = objectives(module, &program.with_callees(func), &[criterion], &CriteriaOptions::default());
    let mut paths = 0;
    let watch = std::sync::Arc::new(GoalIndex::new(module, wanted.goals.clone()));
    let mut plain = || paths = explore(module, func, &config, &mut Quiet).paths.explored;
    let mut tracking = || {
        let goals = Goals { watch: watch.clone(), closed: Vec::new() };
        explore_paths_and_goals(module, func, goals, &config, &mut Quiet);
    };
    let times = timing::race(&mut [&mut plain, &mut tracking]);
    let (without, with) = (times[0], times[1]);
    Ok(McdcRow {
        program: name,
        paths,
        objectives: wanted.goals.len(),
        without_seconds: without,
        with_seconds: with,
        overhead_percent: 100.0 * (with / without - 1.0),
    })
}
