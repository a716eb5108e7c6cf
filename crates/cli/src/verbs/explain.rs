//! `touchstone explain ID` prints why an objective is covered, infeasible or unknown, in source terms.

use crate::output::exit::Exit;
use crate::plan::args::Generate;
use crate::verbs::interrupt;
use anyhow::Result;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use touchstone_campaign::{ExplainedObjective, ObjectiveQuestion, VerdictReason};
use touchstone_criteria::{Assumption, Incomplete, IncompletePaths, Objective, TestCase, WhyInfeasible};
use touchstone_engine::{Conflict, Fact};
use touchstone_ir::Module;

/// The options of `explain`.
#[derive(clap::Args, Debug)]
pub struct Explain {
    /// The id of the objective, as `touchstone objectives` prints it; the hash at its end may be omitted
    #[arg(value_name = "ID")]
    pub objective: String,
    #[command(flatten)]
    pub options: Generate,
}

/// Runs `explain`.
pub fn explain(arguments: &Explain) -> Result<ExitCode> {
    let scratch = tempfile::tempdir()?;
    let request = arguments.options.request_in(scratch.path());
    let question = ObjectiveQuestion::new(&request, &arguments.objective)?;
    interrupt::on_ctrl_c(Arc::clone(&request.interrupt))?;
    let ExplainedObjective { objective, why } = question.answer();
    let module = &question.program.module;
    let mut out = format!("{}\n{}: {}\n", objective.id, objective.span.display(&module.files), objective.text);
    match &why {
        VerdictReason::Covered(test) => test.iter().for_each(|test| covered(&mut out, module, test)),
        VerdictReason::Constant { how } => {
            let _ = writeln!(out, "infeasible ({how}): the compiler folds it to a constant, so no input matters.");
        }
        VerdictReason::Infeasible { how, conflicts, assumptions } => {
            infeasible(&mut out, module, &objective, how, conflicts);
            push_assumptions(&mut out, assumptions);
        }
        VerdictReason::TooMuch { why } => {
            let _ = writeln!(out, "unknown: {why}, which is too much to search for one by one.");
        }
        VerdictReason::Open(incomplete) => unknown(&mut out, module, incomplete),
    }
    crate::output::stdout::show(out)?;
    Ok(Exit::Done.into())
}

/// The maximum number of lines of a list.
const MAX_LINES: usize = 20;

fn covered(out: &mut String, module: &Module, test: &TestCase) {
    let _ = writeln!(out, "covered: these inputs reach it.");
    let json: serde_json::Value =
        serde_json::from_str(&touchstone_report::test_json(test, &[], module)).unwrap_or(serde_json::Value::Null);
    let earlier = json["earlier"].as_array().map_or(&[][..], Vec::as_slice);
    for call in earlier.iter().filter_map(|earlier| earlier["call"].as_str()) {
        let _ = writeln!(out, "  after {}", shortened(call));
    }
    match json["inputs"].as_object() {
        Some(inputs) if !inputs.is_empty() => {
            for (name, value) in inputs.iter().take(MAX_LINES) {
                let _ = writeln!(out, "  {name} = {}", shortened(&value.to_string()));
            }
            more(out, inputs.len(), "inputs");
        }
        _ => {
            let _ = writeln!(out, "  (there are none)");
        }
    }
    if !test.description.is_empty() {
        let _ = writeln!(out, "path: {}", shortened(&test.description));
    }
}

fn infeasible(
    out: &mut String,
    module: &Module,
    objective: &Objective,
    how: &WhyInfeasible,
    why: &touchstone_engine::Explanation,
) {
    /// The maximum number of conflicts that are printed; the others are counted.
    const SHOWN: usize = 3;
    let _ = writeln!(out, "infeasible ({how}): no input reaches it.");
    for conflict in why.conflicts.iter().take(SHOWN) {
        show_conflict(out, module, objective, conflict);
    }
    if why.conflicts.len() > SHOWN {
        let _ = writeln!(out, "… and {} more conflicts.", why.conflicts.len() - SHOWN);
    }
    if why.conflicts.is_empty() {
        let _ = writeln!(out, "No single branch condition was found that contradicts the path condition before it.");
    }
    let all = if why.complete { "all paths were explored" } else { "not all paths were explored" };
    let _ = writeln!(
        out,
        "Examined: {} outcomes of branches; {all}. The verdict does not depend on this explanation.",
        why.sides
    );
}

fn show_conflict(out: &mut String, module: &Module, objective: &Objective, conflict: &Conflict) {
    let what = match (conflict.minimal, conflict.at_goal) {
        (true, true) => "These conditions are unsatisfiable together; the objective requires the last one:",
        (true, false) => {
            "These conditions are unsatisfiable together; the last one is the next step on a path to the objective:"
        }
        (false, true) => "On this path, the last condition, which the objective requires, is constant:",
        (false, false) => "On this path, the last condition, the next step on a path to the objective, is constant:",
    };
    let _ = writeln!(out, "{what}");
    // The facts closest to the goal explain most.
    let hidden = conflict.facts.len().saturating_sub(MAX_LINES);
    if hidden > 0 {
        let _ = writeln!(out, "  … {hidden} conditions before these");
    }
    for fact in &conflict.facts[hidden..] {
        let again = conflict.facts.iter().filter(|other| other.span == fact.span && other.time > 0).count() > 1;
        let time = match fact.time {
            time if time > 1 || again => format!(" (the {} time)", ordinal(time)),
            _ => String::new(),
        };
        let _ = writeln!(out, "  {}{time}", show_fact(module, objective, fact));
    }
}

/// `1st`, `2nd`, `3rd`, `11th`, …
fn ordinal(number: u32) -> String {
    let end = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}

/// Writes the number of lines that are omitted.
fn more(out: &mut String, all: usize, of: &str) {
    if all > MAX_LINES {
        let _ = writeln!(out, "  … and {} more {of}", all - MAX_LINES);
    }
}

/// Shortens a text to a few lines.
fn shortened(text: &str) -> String {
    const MAX_SHOWN_CHARACTERS: usize = 500;
    match text.char_indices().nth(MAX_SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{} … ({} characters more)", &text[..end], text[end..].chars().count()),
        None => text.to_string(),
    }
}

fn show_fact(module: &Module, objective: &Objective, fact: &Fact) -> String {
    let place = fact.span.display(&module.files);
    if fact.label.is_some() {
        return format!("{place}: {}", objective.text);
    }
    if fact.text.is_empty() {
        return "conditions that are not written in the source: types, ranges, the precondition, checks on the path"
            .into();
    }
    match fact.fixed {
        true => format!("{place}: {} is {} (here always {})", fact.text, fact.value, !fact.value),
        false => format!("{place}: {} is {}", fact.text, fact.value),
    }
}

/// Writes the assumptions of an infeasible verdict.
fn push_assumptions(out: &mut String, assumptions: &[Assumption]) {
    for assumption in assumptions.iter().filter(|assumption| assumption.by.binds_verdicts()) {
        let _ = writeln!(out, "It depends on the assumption: {} ({}).", assumption.text, assumption.by);
    }
}

fn unknown(out: &mut String, module: &Module, incomplete: &[IncompletePaths]) {
    let _ = writeln!(out, "unknown: some paths were not explored to their end; one of them may reach the objective.");
    for paths in incomplete.iter().take(MAX_LINES) {
        let place = paths.span.display(&module.files);
        let lift = match &paths.why {
            Incomplete::Bound(bound) if bound.flag().starts_with("--") => {
                format!("{} was hit; a larger {} may help", paths.why, bound.flag())
            }
            Incomplete::Bound(_) => format!("{}; run it again", paths.why),
            Incomplete::Doubt(doubt) => doubt.to_string(),
            Incomplete::Unsupported(what) => format!("{what} is not supported; no option lifts this"),
            Incomplete::Solver(why) => format!("the solver gave up ({why}); a larger --solver-timeout may help"),
        };
        let _ = writeln!(out, "  {place}: {lift} ({} paths)", paths.count);
    }
    more(out, incomplete.len(), "reasons");
}
