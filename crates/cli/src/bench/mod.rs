//! `touchstone bench` runs the experiments of the papers and prints their figures beside ours.
//!
//! The programs are compiled in, so the benchmarks run anywhere. Exploration is timed and replay is not, as in the
//! figures of the other tools.

mod compile;
mod cost;
mod hard_queries;
mod interp;
mod labels;
mod mcdc;
mod measure;
mod query_sources;
mod smt_peers;
mod timing;

use crate::output::exit::Exit;
use crate::output::stdout::say;
use crate::plan::args::{Bench, BenchName, Compile, OutputFormat};
use anyhow::{Context, Result};
use serde::Serialize;
use std::process::ExitCode;
use touchstone_campaign::{Program, Reader};
use touchstone_criteria::FunctionResult;
use touchstone_engine::{Aliases, Config, SearchEvent, Sink, explore};

/// Figure 9 of the paper.
const FIGURE_9: &str = include_str!("../../../../bench/paths/figure9.csv");

const GETORDER: &str = include_str!("../../../../bench/paths/getorder.c");
const MAX3ALS: &str = include_str!("../../../../bench/paths/max3als.c");
const BUBBLE: &str = include_str!("../../../../bench/paths/bubble.c");
const MATCHER: &str = include_str!("../../../../bench/paths/matcher.c");
const CONTROLLER: &str = include_str!("../../../../bench/paths/controller.c");

/// One measured exploration, beside published figures.
#[derive(Serialize)]
struct PathsRow {
    program: String,
    aliases: &'static str,
    expected: u64,
    tests: u64,
    paths: u64,
    infeasible: u64,
    exhaustive: bool,
    seconds: f64,
    paths_per_second: f64,
    queries: u64,
    /// Peak memory of this process so far, in MiB.
    peak_mib: u64,
    /// The bar of the design.
    bar: &'static str,
    /// The published figures of other tools.
    others: String,
}

/// An exploration to measure.
struct Case {
    program: String,
    source: &'static str,
    function: &'static str,
    define: Vec<String>,
    aliases: Aliases,
    expected: u64,
    bar: &'static str,
    others: String,
    /// True if the exploration takes at most a second.
    quick: bool,
}

/// Runs `bench`.
pub fn bench(options: &Bench) -> Result<ExitCode> {
    let mut exit = Exit::Done;
    use BenchName::{Cost, Interp, Labels, Mcdc, Measure, Paths, Solver};
    for name in [Paths, Labels, Mcdc, Interp, Measure, Cost, Solver] {
        if options.name.is_none_or(|wanted| wanted == name) {
            exit = exit.max(match name {
                Paths => paths(options)?,
                Labels => labels::labels(options)?,
                Mcdc => mcdc::mcdc(options)?,
                Interp => interp::interp(options)?,
                Measure => measure::measure(options)?,
                Cost => cost::cost(options)?,
                Solver => hard_queries::hard_queries(options)?,
            });
        }
    }
    Ok(exit.into())
}

fn paths(options: &Bench) -> Result<Exit> {
    let mut rows = Vec::new();
    for case in cases() {
        if options.quick && !case.quick {
            continue;
        }
        let row = measure(&case).with_context(|| format!("bench {}", case.program))?;
        if options.format == OutputFormat::Text {
            if rows.is_empty() {
                say!("{}", header());
            }
            say!("{}", line(&row));
        }
        rows.push(row);
    }
    if options.format == OutputFormat::Json {
        say!("{}", serde_json::to_string_pretty(&rows)?);
    }
    let wrong = rows.iter().any(|row| row.tests != row.expected || !row.exhaustive);
    Ok(if wrong { Exit::Disagreed } else { Exit::Done })
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for row in FIGURE_9.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())) {
        let cell = |index: usize| row.split(',').nth(index).unwrap_or("").to_string();
        let time =
            |index: usize| if cell(index).is_empty() { ">12 h".to_string() } else { format!("{} s", cell(index)) };
        let number = |index: usize| cell(index).parse::<u64>().unwrap_or(0);
        let n = number(0);
        let klee = match n {
            5 => "; KLEE 6 s",
            6 => "; KLEE 33 s",
            7 => "; KLEE >150 s",
            _ => "",
        };
        let late = Case {
            program: format!("getOrder N={n}"),
            source: GETORDER,
            function: "getOrder",
            define: vec![format!("N={n}")],
            aliases: Aliases::Late,
            expected: number(2),
            bar: if n == 8 { "20 s" } else { "" },
            others: format!("paper {} tests {}; CUTE {} paths {}{klee}", number(9), time(10), number(5), time(6)),
            quick: n < 8,
        };
        cases.push(late);
        if n <= 6 {
            cases.push(Case {
                program: format!("getOrder N={n}"),
                source: GETORDER,
                function: "getOrder",
                define: vec![format!("N={n}")],
                aliases: Aliases::Eager,
                expected: number(7),
                bar: "",
                others: format!("PathCrawler {} tests {}", number(7), time(8)),
                quick: n <= 5,
            });
        }
    }
    let als = |aliases, expected, others: &str| Case {
        program: "max3Als".to_string(),
        source: MAX3ALS,
        function: "max3Als",
        define: vec![],
        aliases,
        expected,
        bar: "",
        others: others.to_string(),
        quick: true,
    };
    cases.push(als(Aliases::Late, 3, "paper 3 tests; CUTE 1 path"));
    cases.push(als(Aliases::Eager, 125, "PathCrawler 125 tests"));
    let plain = |program: &str, source, function, expected, bar, others: &str| Case {
        program: program.to_string(),
        source,
        function,
        define: vec![],
        aliases: Aliases::Late,
        expected,
        bar,
        others: others.to_string(),
        quick: false,
    };
    cases.push(plain("bubble sort of 6", BUBBLE, "bubble_sort", 720, "1 s", "KLEE 9.4 s"));
    cases.push(plain("pattern matcher", MATCHER, "matches", 13_666, "2000 paths/s", "KLEE 410 paths/s"));
    cases.push(plain("controller", CONTROLLER, "engine_step", 15_974, "10000 paths/s", "KLEE 3500 paths/s"));
    cases
}

/// A watcher that ignores all events.
struct Quiet;

impl Sink for Quiet {
    fn event(&mut self, _: SearchEvent<'_>) {}
}

fn measure(case: &Case) -> Result<PathsRow> {
    let result = explore_case(case)?;
    let aliases = match case.aliases {
        Aliases::Late => "late",
        Aliases::Eager => "eager",
    };
    Ok(PathsRow {
        program: case.program.clone(),
        aliases,
        expected: case.expected,
        tests: result.tests,
        paths: result.paths.explored,
        infeasible: result.paths.infeasible,
        exhaustive: result.exhaustive,
        seconds: result.seconds,
        paths_per_second: result.paths.explored as f64 / result.seconds.max(1e-9),
        queries: result.solver.queries,
        peak_mib: peak_mib(),
        bar: case.bar,
        others: case.others.clone(),
    })
}

/// Reads one source text as a program.
fn read(source: &str, define: &[String]) -> Result<Program> {
    let scratch = tempfile::tempdir()?;
    let file = scratch.path().join("program.c");
    std::fs::write(&file, source)?;
    let compile = Compile { define: define.to_vec(), ..Compile::default() };
    let files = [file];
    Ok(Reader::new(&files, &compile.compilation(&[]), &scratch.path().join("include"))?.read(&files)?)
}

fn explore_case(case: &Case) -> Result<FunctionResult> {
    let program = read(case.source, &case.define)?;
    let func = program.module.function_named(case.function).context("the bench program lacks its function")?;
    let precondition = program.helper(case.function, "_pre");
    let config = Config { aliases: case.aliases, precondition, ..Config::default() };
    Ok(explore(&program.module, func, &config, &mut Quiet))
}

/// Returns the peak resident memory of this process, from the kernel, or 0 if it is not available.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kib| kib / 1024)
}

fn header() -> String {
    format!(
        "{:<18} {:<6} {:>7} {:>7} {:>10} {:>9} {:>9} {:>9} {:>6}  {:<14} {}",
        "program", "mode", "tests", "paths", "infeasible", "seconds", "paths/s", "queries", "MiB", "bar", "others"
    )
}

fn line(row: &PathsRow) -> String {
    let wrong = if row.tests == row.expected { "" } else { "  <- WRONG" };
    format!(
        "{:<18} {:<6} {:>7} {:>7} {:>10} {:>9.3} {:>9.0} {:>9} {:>6}  {:<14} {}{wrong}",
        row.program,
        row.aliases,
        row.tests,
        row.paths,
        row.infeasible,
        row.seconds,
        row.paths_per_second,
        row.queries,
        row.peak_mib,
        row.bar,
        row.others
    )
}
