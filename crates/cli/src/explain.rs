//! `touchstone explain ID`: why one objective is covered, infeasible or unknown, in source terms.

use crate::args::Generate;
use crate::exit::Exit;
use crate::generate::{self, Tests};
use crate::options_file::OptionsFile;
use crate::program::Reader;
use crate::{plan, precondition};
use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use std::process::ExitCode;
use std::rc::Rc;
use touchstone_criteria::{
    Assumption, Criterion, GoalId, Incomplete, IncompletePaths, Objective, Status, TestCase, Watch,
};
use touchstone_engine::{Conflict, Fact, Goals};
use touchstone_ir::Module;

/// Options of `explain`.
#[derive(clap::Args, Debug)]
pub struct Explain {
    /// The objective, as `touchstone objectives` prints it
    #[arg(value_name = "ID")]
    pub objective: String,
    #[command(flatten)]
    pub options: Generate,
}

/// Carries out `explain`.
pub fn explain(arguments: &Explain) -> Result<ExitCode> {
    let id = &arguments.objective;
    let [_, _, criterion, function] = id.rsplitn(4, '.').collect::<Vec<_>>()[..] else {
        bail!("`{id}` is no objective's id; `touchstone objectives` lists them, for example max3.mcdc.1.0a1b2c3d");
    };
    let criterion: Criterion = criterion.parse()?;
    if criterion == Criterion::State {
        bail!(
            "`{id}` is a piece of state: the report of `touchstone measure -c state` says which tests change and check it"
        );
    }
    let mut options = arguments.options.clone();
    // With the criteria of the `generate` that is asked about: what is wanted besides decides what is explored.
    if !options.criteria.contains(&criterion) {
        options.criteria = vec![criterion];
    }

    let scratch = tempfile::tempdir()?;
    let reader = Reader::new(&options.files, &options.compile, &options.flags, scratch.path())?
        .surrounded(options.surroundings.of_program());
    let mut program = reader.read(&options.files)?;
    let file = OptionsFile::beside(&options.files[0])?;
    let (entry, functions) = plan::targets(&program.module, &options)?;
    let named = functions.iter().copied().find(|id| program.module.functions[*id].name == function);
    let (entry, func) = match (named, functions.as_slice()) {
        (Some(func), _) => (entry, func),
        // A whole program, or one function with the functions that it calls.
        (None, [only]) => (entry, *only),
        (None, _) => {
            options.functions = vec![function.to_string()];
            let (entry, functions) = plan::targets(&program.module, &options)?;
            let &[func] = functions.as_slice() else { bail!("explain is about one function") };
            (entry, func)
        }
    };
    let options = &options;
    let name = program.module.functions[func].name.clone();
    if let Some(expression) = options.pre.clone().or_else(|| file.function(&name).pre) {
        let given = [(func, expression)];
        program = precondition::add(&reader, program, &options.files, &given, scratch.path())?;
    }
    let module = &program.module;
    let func = module.function_named(&name).context("internal: a function got lost")?;
    let mut config = plan::task(module, func, entry, options, &file)?.config;
    config.interrupt = Some(generate::interrupt_flag()?);
    config.deadline = plan::deadline(options);

    let scope = plan::scope(module, func, entry, options);
    let switches = plan::criteria_options(options, &file, &name)?;
    let mut wanted = touchstone_criteria::objectives(module, &scope, &plan::labellings(options), &switches);
    let Some((goal, _)) = wanted.list.iter().find(|(_, objective)| objective.id == *id) else {
        bail!("`{name}` has no objective `{id}`; `touchstone objectives -c {criterion}` lists them");
    };
    // The same exploration and the same proofs as of `generate` and `prove`, so that all three say the same.
    let settled = wanted.settled.contains(&goal);
    let watch = Rc::new(Watch::new(module, wanted.goals.clone()));
    let goals = Goals { watch: Rc::clone(&watch), closed: wanted.settled.iter().copied().collect() };
    let mut tests = Tests::of(module);
    let found = touchstone_engine::explore_goals(module, func, goals, &config, &mut tests);
    crate::tables::watch_tests(module, func, &mut tests.kept, &watch, plan::deadline(options));
    generate::conclude(module, func, &config, &mut wanted, &watch, &tests.kept, &found);
    let own = found.doubted.get(&goal).map(Vec::as_slice);
    let incomplete = own.unwrap_or(&found.result.incomplete);
    let objective = &wanted.list[goal];
    let mut out = format!("{id}\n{}: {}\n", objective.span.display(&module.files), objective.text);
    match &objective.status {
        Status::Covered(_) => covered(&mut out, module, goal, &tests.kept),
        Status::Infeasible(how) if settled => {
            let _ = writeln!(out, "infeasible ({how}): the compiler folds it to a constant, so no input matters.");
        }
        Status::Infeasible(how) => {
            config.deadline = plan::deadline(options);
            let closed = wanted.goals.ids().filter(|other| *other != goal).collect();
            let why = touchstone_engine::explain(module, func, Goals { watch, closed }, &config);
            infeasible(&mut out, module, objective, how, &why);
            rests_on(&mut out, &found.result.assumptions);
        }
        Status::Unknown(why) if settled => {
            let _ = writeln!(out, "unknown: {why}, which is too much to search for one by one.");
        }
        Status::Unknown(_) | Status::Uncovered => unknown(&mut out, module, incomplete),
    }
    crate::stdout::show(out)?;
    Ok(Exit::Done.into())
}

/// Lists are cut after so many lines.
const MOST_LINES: usize = 20;

fn covered(out: &mut String, module: &Module, goal: GoalId, tests: &[TestCase]) {
    let Some(test) = tests.iter().find(|test| test.covers.contains(&goal)) else { return };
    let _ = writeln!(out, "covered: these inputs reach it.");
    let json: serde_json::Value =
        serde_json::from_str(&touchstone_report::test_json(test, &[], module)).unwrap_or(serde_json::Value::Null);
    match json["inputs"].as_object() {
        Some(inputs) if !inputs.is_empty() => {
            for (name, value) in inputs.iter().take(MOST_LINES) {
                let _ = writeln!(out, "  {name} = {}", shortened(&value.to_string()));
            }
            more(out, inputs.len(), "inputs");
        }
        _ => {
            let _ = writeln!(out, "  (there are none)");
        }
    }
    if !test.description.is_empty() {
        let _ = writeln!(out, "on the way: {}", shortened(&test.description));
    }
}

fn infeasible(
    out: &mut String,
    module: &Module,
    objective: &Objective,
    how: &str,
    why: &touchstone_engine::Explanation,
) {
    /// More conflicts than this are only counted.
    const SHOWN: usize = 3;
    let _ = writeln!(out, "infeasible ({how}): no input can make it happen.");
    for conflict in why.conflicts.iter().take(SHOWN) {
        show_conflict(out, module, objective, conflict);
    }
    if why.conflicts.len() > SHOWN {
        let _ = writeln!(out, "… and {} more like these.", why.conflicts.len() - SHOWN);
    }
    if why.conflicts.is_empty() {
        let _ = writeln!(out, "No single step toward it was found that contradicts what comes before.");
    }
    let all = if why.complete { "all ways were followed" } else { "not all ways were followed" };
    let _ = writeln!(out, "Looked at: {} sides of branches; {all}. The verdict does not rest on this.", why.sides);
}

fn show_conflict(out: &mut String, module: &Module, objective: &Objective, conflict: &Conflict) {
    let what = match (conflict.minimal, conflict.at_goal) {
        (true, true) => "These can't hold together, and the last one is what it needs:",
        (true, false) => "These can't hold together, and the last one is the next step toward it:",
        (false, true) => "On this way, the last one, which it needs, is fixed:",
        (false, false) => "On this way, the last one, the next step toward it, is fixed:",
    };
    let _ = writeln!(out, "{what}");
    // What is closest to the goal says most.
    let hidden = conflict.facts.len().saturating_sub(MOST_LINES);
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

/// Says how many lines are not shown.
fn more(out: &mut String, all: usize, of: &str) {
    if all > MOST_LINES {
        let _ = writeln!(out, "  … and {} more {of}", all - MOST_LINES);
    }
}

/// A text that fits on a few lines.
fn shortened(text: &str) -> String {
    const MOST: usize = 500;
    match text.char_indices().nth(MOST) {
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
        return "what the source does not write as a condition: types, ranges, the precondition, checks on the way"
            .into();
    }
    match fact.fixed {
        true => format!("{place}: {} is {} (here always {})", fact.text, fact.value, !fact.value),
        false => format!("{place}: {} is {}", fact.text, fact.value),
    }
}

/// What an infeasible verdict takes for granted.
fn rests_on(out: &mut String, assumptions: &[Assumption]) {
    for assumption in assumptions.iter().filter(|assumption| assumption.by.binds_verdicts()) {
        let _ = writeln!(out, "It rests on: {} ({}).", assumption.text, assumption.by);
    }
}

fn unknown(out: &mut String, module: &Module, incomplete: &[IncompletePaths]) {
    let _ = writeln!(out, "unknown: some paths were not followed to their end, and it may lie on them.");
    for paths in incomplete.iter().take(MOST_LINES) {
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
