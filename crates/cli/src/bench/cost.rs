//! `touchstone bench cost` measures what whole commands cost: replay and exploration of files with many functions, small
//! programs, hard queries to the solver, and long concrete runs.
//!
//! Each case runs this program on a file. The CPU time of all processes depends less on the load of the machine than the
//! wall-clock time, which shows what several cores gain.

use super::compile::spent;
use crate::output::exit::Exit;
use crate::output::stdout::say;
use crate::plan::args::{Bench, OutputFormat};
use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

const QUESTIONS: &str = include_str!("../../../../bench/cost/questions.c");
const STEPS: &str = include_str!("../../../../bench/cost/steps.c");
const MATCHER: &str = include_str!("../../../../bench/paths/matcher.c");
const GETORDER: &str = include_str!("../../../../bench/paths/getorder.c");
const GETORDER_HARNESS: &str = include_str!("../../../../bench/paths/getorder_klee.c");

/// A command to measure.
struct Case {
    name: String,
    /// The file, and what it includes.
    files: Vec<(&'static str, String)>,
    /// The arguments of `touchstone generate` besides the file, which comes first.
    arguments: String,
    /// The bar, in CPU seconds.
    bar: Option<f64>,
    /// True if the case takes at most a second.
    quick: bool,
}

#[derive(Serialize)]
struct CostRow {
    case: String,
    cpu_seconds: f64,
    wall_seconds: f64,
    bar_seconds: Option<f64>,
    tests: u64,
    covered: u64,
    infeasible: u64,
    unknown: u64,
    exhaustive: bool,
}

/// Runs the benchmark.
pub fn cost(options: &Bench) -> Result<Exit> {
    let mut rows = Vec::new();
    for case in cases() {
        if options.quick && !case.quick {
            continue;
        }
        let row = measured(&case).with_context(|| format!("bench {}", case.name))?;
        if options.format == OutputFormat::Text {
            if rows.is_empty() {
                say!(
                    "{:<34} {:>7} {:>7} {:>5} {:>6} {:>8} {:>10} {:>7}",
                    "case",
                    "CPU s",
                    "wall s",
                    "bar",
                    "tests",
                    "covered",
                    "infeasible",
                    "unknown"
                );
            }
            let bar = row.bar_seconds.map_or(String::new(), |bar| format!("{bar}"));
            let CostRow { case, cpu_seconds, wall_seconds, tests, covered, infeasible, unknown, .. } = &row;
            let all = if row.exhaustive { "" } else { "  not all paths" };
            say!(
                "{case:<34} {cpu_seconds:>7.2} {wall_seconds:>7.2} {bar:>5} {tests:>6} {covered:>8} {infeasible:>10} {unknown:>7}{all}"
            );
        }
        rows.push(row);
    }
    if options.format == OutputFormat::Json {
        say!("{}", serde_json::to_string_pretty(&rows)?);
    }
    let undecided = rows.iter().any(|row| row.unknown > 0 || !row.exhaustive);
    Ok(if undecided { Exit::Disagreed } else { Exit::Done })
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (count, bar) in [(20, Some(1.0)), (60, Some(3.0)), (100, Some(5.0)), (1000, Some(30.0))] {
        cases.push(Case {
            name: format!("{count} functions"),
            files: vec![("functions.c", functions(count))],
            arguments: String::new(),
            bar,
            quick: count <= 20,
        });
    }
    for count in [100, 1000] {
        cases.push(Case {
            name: format!("{count} functions, no replay"),
            files: vec![("functions.c", functions(count))],
            arguments: "--no-replay".to_string(),
            bar: None,
            quick: count <= 100,
        });
    }
    for (what, arguments) in [("", ""), (", no replay", "--no-replay")] {
        cases.push(Case {
            name: format!("1 function{what}"),
            files: vec![("functions.c", functions(1))],
            arguments: arguments.to_string(),
            bar: Some(0.06),
            quick: true,
        });
    }
    for (n, bar) in [(8, 5.0), (10, 60.0)] {
        cases.push(Case {
            name: format!("getOrder as a harness, N = {n}"),
            files: vec![("getorder_klee.c", GETORDER_HARNESS.to_string()), ("getorder.c", GETORDER.to_string())],
            arguments: format!("-f main -c paths --no-replay -D N={n}"),
            bar: Some(bar),
            quick: false,
        });
    }
    for (n, bar) in [(10, 60.0), (11, 60.0)] {
        cases.push(Case {
            name: format!("getOrder, N = {n}"),
            files: vec![("getorder.c", GETORDER.to_string())],
            arguments: format!("-f getOrder -c paths --no-replay -D N={n}"),
            bar: Some(bar),
            quick: false,
        });
    }
    for (function, bar) in [("factors", 0.2), ("quotient", 0.4), ("matrix", 4.0), ("modulo", 0.2), ("network", 20.0)] {
        cases.push(Case {
            name: format!("question: {function}"),
            files: vec![("questions.c", QUESTIONS.to_string())],
            arguments: format!("-f {function} --no-replay"),
            bar: Some(bar),
            quick: false,
        });
    }
    for (cores, arguments) in [("1 core", "--jobs 1"), ("all cores", "")] {
        cases.push(Case {
            name: format!("matcher, {cores}"),
            files: vec![("matcher.c", MATCHER.to_string())],
            arguments: format!("-f matches -c paths --no-replay {arguments}"),
            bar: None,
            quick: false,
        });
    }
    cases.push(Case {
        name: "10^6 concrete steps".to_string(),
        files: vec![("steps.c", STEPS.to_string())],
        arguments: "--no-replay".to_string(),
        bar: Some(0.5),
        quick: false,
    });
    cases
}

/// Returns a file of functions of five lines with two decisions each.
fn functions(count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        let (low, high) = (number % 50, number % 70 + 60);
        let _ = writeln!(
            text,
            "int f{number}(int a, int b) {{\n    if (a > {low} && b < {high})\n        return a + b;\n    return a == b ? {low} : b;\n}}\n"
        );
    }
    text
}

fn measured(case: &Case) -> Result<CostRow> {
    let scratch = tempfile::tempdir()?;
    for (name, text) in &case.files {
        std::fs::write(scratch.path().join(name), text)?;
    }
    let own = std::env::current_exe().context("can't find this program itself")?;
    let file = case.files[0].0;
    // Verdicts that stay open are no failure of the measurement.
    let command = format!(
        "rm -rf out; '{}' generate {file} {} --cache off -o out --format json >out.json 2>out.txt || test $? -le 4",
        own.display(),
        case.arguments
    );
    let begun = Instant::now();
    let cpu_seconds = spent(scratch.path(), &command, 1)?;
    row(case, cpu_seconds, begun.elapsed().as_secs_f64(), &scratch.path().join("out.json"))
}

fn row(case: &Case, cpu_seconds: f64, wall_seconds: f64, report: &Path) -> Result<CostRow> {
    let report: Value = serde_json::from_slice(&std::fs::read(report)?)?;
    let functions = report["functions"].as_array().context("the report lists functions")?;
    let sum = |field: &str| functions.iter().filter_map(|function| function.pointer(field)?.as_u64()).sum::<u64>();
    Ok(CostRow {
        case: case.name.clone(),
        cpu_seconds,
        wall_seconds,
        bar_seconds: case.bar,
        tests: sum("/tests"),
        covered: sum("/objectives/covered"),
        infeasible: sum("/objectives/infeasible"),
        unknown: sum("/objectives/unknown"),
        exhaustive: functions.iter().all(|function| function["exhaustive"] == true),
    })
}
