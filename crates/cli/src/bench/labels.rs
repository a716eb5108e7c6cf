//! `touchstone bench labels` measures label search as in table I of Bardin et al., on our own programs.
//!
//! Each program and criterion is explored four times: all paths without labels (the witness), and the labels in direct,
//! tight and idl mode. A path is counted as in the paper: an end of the instrumented program. There, the true side of a
//! label's branch ends at the label, so every satisfiable label query counts as a path besides the program's own paths.

use super::{Quiet, read, timing};
use crate::output::exit::Exit;
use crate::output::stdout::say;
use crate::plan::args::{Bench, OutputFormat};
use anyhow::{Context, Result};
use serde::Serialize;
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_criteria::{CriteriaOptions, GoalId, GoalIndex, criterion_named, objectives};
use touchstone_engine::{Config, Goals, Labels, Search, explore, explore_goals};

const TRIANGLE: &str = include_str!("../../../../examples/triangle.c");
const FOUR_BALLS: &str = include_str!("../../../../bench/labels/fourballs.c");
const UTF8: &str = include_str!("../../../../examples/utf8.c");
const TCAS: &str = include_str!("../../../../examples/tcas.c");
const GLOB: &str = include_str!("../../../../examples/glob.c");

/// The time after which a baseline is stopped.
const BASELINE_TIMEOUT: Duration = Duration::from_secs(20);

/// The modes of the paper. Its baselines have no search order.
const MODES: [(&str, Labels, Search); 3] = [
    ("direct", Labels::Direct, Search::Dfs),
    ("tight", Labels::Tight, Search::Dfs),
    ("idl", Labels::Idl, Search::Nearest),
];

struct Case {
    name: &'static str,
    source: &'static str,
    function: &'static str,
    define: &'static [&'static str],
    criterion: &'static str,
}

fn cases() -> Vec<Case> {
    let case = |name, source, function, define, criterion| Case { name, source, function, define, criterion };
    vec![
        case("triangle", TRIANGLE, "triangle", &[], "condition"),
        case("triangle", TRIANGLE, "triangle", &[], "mcc"),
        case("triangle", TRIANGLE, "triangle", &[], "wm"),
        case("four balls", FOUR_BALLS, "four_balls", &[], "wm"),
        case("utf8-3", UTF8, "utf8_valid", &["LEN=3"], "wm"),
        case("utf8-5", UTF8, "utf8_valid", &["LEN=5"], "wm"),
        case("utf8-7", UTF8, "utf8_valid", &["LEN=7"], "wm"),
        case("tcas", TCAS, "advise", &[], "condition"),
        case("tcas", TCAS, "advise", &[], "mcc"),
        case("tcas", TCAS, "advise", &[], "wm"),
        case("matcher", GLOB, "glob_match", &[], "wm"),
    ]
}

#[derive(Serialize)]
struct LabelsRow {
    program: &'static str,
    criterion: &'static str,
    labels: usize,
    mode: &'static str,
    paths: u64,
    seconds: f64,
    covered: usize,
    complete: bool,
    /// The labels that are not covered.
    #[serde(skip)]
    open: Vec<GoalId>,
}

/// Runs the benchmark.
pub fn labels(options: &Bench) -> Result<Exit> {
    let mut rows: Vec<LabelsRow> = Vec::new();
    let mut exit = Exit::Done;
    if options.format == OutputFormat::Text {
        say!(
            "{:<12} {:<10} {:>6} {:<7} {:>8} {:>9} {:>9}",
            "program",
            "criterion",
            "labels",
            "mode",
            "paths",
            "seconds",
            "covered"
        );
    }
    for case in cases() {
        if options.quick && case.name.starts_with("utf8") {
            continue;
        }
        let measured = measure(&case).with_context(|| format!("bench {} {}", case.name, case.criterion))?;
        let searched: Vec<&LabelsRow> = measured.iter().filter(|row| row.mode != "paths" && row.complete).collect();
        if let Some(pair) = searched.windows(2).find(|pair| pair[0].open != pair[1].open) {
            eprintln!("{} {}: {} and {} cover different labels", case.name, case.criterion, pair[0].mode, pair[1].mode);
            exit = Exit::Disagreed;
        }
        for row in measured {
            if options.format == OutputFormat::Text {
                say!("{}", line(&row));
            }
            rows.push(row);
        }
    }
    match options.format {
        OutputFormat::Json => say!("{}", serde_json::to_string_pretty(&rows)?),
        OutputFormat::Text => {
            say!("paths: ends of the program's own paths, and answered questions for labels (as in the paper)");
            say!("seconds: on a processor, best of several runs in turn (direct: one run)");
            say!("overhead of idl over paths, geometric mean: {:.2}x", overhead(&rows));
        }
    }
    Ok(exit)
}

fn measure(case: &Case) -> Result<Vec<LabelsRow>> {
    let define: Vec<String> = case.define.iter().map(|define| define.to_string()).collect();
    let program = read(case.source, &define)?;
    let module = &program.module;
    let func = module.function_named(case.function).context("the bench program lacks its function")?;
    let criterion = criterion_named(case.criterion).context("a criterion of the registry")?;
    let wanted = objectives(module, &program.with_callees(func), &[criterion], &CriteriaOptions::default());
    let config = |labels, search, limit| Config {
        labels,
        search,
        precondition: program.helper(case.function, "_pre"),
        deadline: Deadline::after(limit),
        ..Config::default()
    };
    let row = |mode, paths, seconds, open: Vec<GoalId>, complete| LabelsRow {
        program: case.name,
        criterion: case.criterion,
        labels: wanted.goals.len(),
        mode,
        paths,
        seconds,
        covered: wanted.goals.len() - open.len(),
        complete,
        open,
    };
    let plain = |limit| explore(module, func, &config(Labels::Idl, Search::Dfs, limit), &mut Quiet);
    let watch = std::sync::Arc::new(GoalIndex::new(module, wanted.goals.clone()));
    let searched = |labels, search, limit| {
        let goals = Goals { watch: watch.clone(), closed: Vec::new() };
        explore_goals(module, func, goals, &config(labels, search, limit), &mut Quiet)
    };
    let start = timing::worked();
    let result = plain(BASELINE_TIMEOUT);
    let mut rows = vec![row("paths", result.paths.explored, timing::worked() - start, Vec::new(), result.exhaustive)];
    for (mode, labels, search) in MODES {
        let start = timing::worked();
        let found = searched(labels, search, BASELINE_TIMEOUT);
        let seconds = timing::worked() - start;
        let paths = found.result.paths.explored + found.labels_found;
        rows.push(row(mode, paths, seconds, found.open, found.result.exhaustive));
    }
    let [(_, tight, dfs), (_, idl, nearest)] = [MODES[1], MODES[2]];
    let times = timing::race(&mut [
        &mut || drop(plain(BASELINE_TIMEOUT)),
        &mut || drop(searched(tight, dfs, BASELINE_TIMEOUT)),
        &mut || drop(searched(idl, nearest, BASELINE_TIMEOUT)),
    ]);
    for (row, seconds) in [0, 2, 3].into_iter().zip(times) {
        rows[row].seconds = seconds;
    }
    Ok(rows)
}

fn line(row: &LabelsRow) -> String {
    let covered = if row.mode == "paths" { String::new() } else { format!("{}/{}", row.covered, row.labels) };
    let seconds = match row.complete {
        true => format!("{:.4}", row.seconds),
        false => format!("> {}", BASELINE_TIMEOUT.as_secs()),
    };
    format!(
        "{:<12} {:<10} {:>6} {:<7} {:>8} {seconds:>9} {covered:>9}",
        row.program, row.criterion, row.labels, row.mode, row.paths
    )
}

/// Returns the time of idl relative to plain paths, as the geometric mean over the cases.
fn overhead(rows: &[LabelsRow]) -> f64 {
    let ratios: Vec<f64> = rows
        .chunks(4)
        .filter_map(|case| {
            let of = |mode: &str| case.iter().find(|row| row.mode == mode).map(|row| row.seconds.max(1e-6));
            Some((of("idl")? / of("paths")?).ln())
        })
        .collect();
    (ratios.iter().sum::<f64>() / ratios.len().max(1) as f64).exp()
}
