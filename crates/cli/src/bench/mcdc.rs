//! `touchstone bench mcdc`: what tracking MC/DC costs over full path exploration (Whalen et al., table II: 7.9 % at best).

use super::{Quiet, read, timing};
use crate::args::{Bench, Format};
use crate::exit::Exit;
use crate::stdout::say;
use anyhow::{Context, Result};
use serde::Serialize;
use touchstone_criteria::{CriteriaOptions, Watch, criterion_named, objectives};
use touchstone_engine::{Config, Goals, explore, explore_paths_and_goals};
use touchstone_ir::{CallGraph, FuncId, Module};

const TCAS: &str = include_str!("../../../../examples/tcas.c");
const CONTROLLER: &str = include_str!("../../../../bench/paths/controller.c");
const MATCHER: &str = include_str!("../../../../bench/paths/matcher.c");

#[derive(Serialize)]
struct Row {
    program: &'static str,
    paths: u64,
    objectives: usize,
    without_seconds: f64,
    with_seconds: f64,
    overhead_percent: f64,
}

/// Carries out the bench.
pub fn mcdc(options: &Bench) -> Result<Exit> {
    let mut rows = Vec::new();
    let cases = [("tcas", TCAS, "advise"), ("controller", CONTROLLER, "engine_step"), ("matcher", MATCHER, "matches")];
    for (program, source, function) in cases {
        let read = read(source, &[])?;
        let module = &read.module;
        let func = module.function_named(function).context("the bench program lacks its function")?;
        rows.push(measure(program, module, func)?);
    }
    match options.format {
        Format::Json => say!("{}", serde_json::to_string_pretty(&rows)?),
        Format::Text => {
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

fn measure(program: &'static str, module: &Module, func: FuncId) -> Result<Row> {
    let name = format!("{}_pre", module.functions[func].name);
    let config = Config { precondition: module.function_named(&name).map(|_| name), ..Config::default() };
    let criterion = criterion_named("mcdc").context("a criterion of the registry")?;
    let own = |id: &FuncId| module.functions[*id].is_defined() && !module.functions[*id].is_library();
    let scope: Vec<FuncId> = CallGraph::new(module).reachable_from(func).into_iter().filter(own).collect();
    let wanted = objectives(module, &scope, &[criterion], &CriteriaOptions::default());
    let mut paths = 0;
    let watch = std::rc::Rc::new(Watch::new(module, wanted.goals.clone()));
    let mut plain = || paths = explore(module, func, &config, &mut Quiet).paths.explored;
    let mut tracking = || {
        let goals = Goals { watch: watch.clone(), closed: Vec::new() };
        explore_paths_and_goals(module, func, goals, &config, &mut Quiet);
    };
    let times = timing::race(&mut [&mut plain, &mut tracking]);
    let (without, with) = (times[0], times[1]);
    Ok(Row {
        program,
        paths,
        objectives: wanted.goals.len(),
        without_seconds: without,
        with_seconds: with,
        overhead_percent: 100.0 * (with / without - 1.0),
    })
}
