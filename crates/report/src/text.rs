//! The summary for people: one line a function, then only what needs a look.

use crate::Extras;
use crate::style::{Paint, Style, cut, heading, longest};
use crate::summary::summary;
use crate::truth_table::truth_tables;
use crate::uncovered::{infeasible, unknown};
use crate::value::{Shown, brief_elements};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::Span;
use touchstone_criteria::{
    Assumption, Campaign, Criterion, Disagreement, ErrorTests, FunctionResult, Given, Incomplete, IncompletePaths,
    MadeInput, Outcome, Replay, Status, TestCase, TestKind,
};
use touchstone_ir::{DataType, DataValue, Module};

/// The summary of a campaign.
pub fn text(campaign: &Campaign, module: &Module, style: Style) -> String {
    text_with(campaign, module, &Extras::default(), style)
}

/// The summary of a campaign, with truth tables.
pub fn text_with(campaign: &Campaign, module: &Module, extras: &Extras, style: Style) -> String {
    let mut out = String::new();
    summary(&mut out, campaign, style);
    infeasible(&mut out, campaign, &module.files, extras.verbose, style);
    unknown(&mut out, campaign, &module.files, style);
    rests_on(&mut out, campaign, extras.verbose, style);
    truth_tables(&mut out, campaign, &module.files, extras, style);
    errors(&mut out, campaign, module, style);
    covered_by_errors(&mut out, campaign, style);
    rejections(&mut out, campaign, module, style);
    incomplete(&mut out, campaign, module, style);
    disagreements(&mut out, campaign, style);
    replay_line(&mut out, campaign, style);
    out
}

/// What infeasible verdicts, and complete sets of paths, take for granted beside the program.
fn rests_on(out: &mut String, campaign: &Campaign, verbose: bool, style: Style) {
    let is_infeasible = |function: &FunctionResult| {
        let ours = campaign.objectives.iter().filter(|objective| objective.function == function.name);
        ours.into_iter().any(|objective| matches!(objective.status, Status::Infeasible(_)))
    };
    let mut rows: Vec<(&str, &Assumption)> = Vec::new();
    for function in &campaign.functions {
        let complete = matches!(function.criterion, Criterion::Paths(_)) && function.exhaustive;
        let wanted = |assumption: &&Assumption| match assumption.by.binds_verdicts() {
            true => complete || is_infeasible(function),
            // What tests leave out is a long list.
            false => complete && verbose,
        };
        for assumption in function.assumptions.iter().filter(wanted) {
            let row = (function.name.as_str(), assumption);
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    if rows.is_empty() {
        return;
    }
    heading(out, style, Paint::Bold, "rests on");
    for (function, assumption) in rows {
        out.push_str(&format!("  {function}: {} ({})\n", assumption.text, assumption.by));
    }
}

/// Paths that go wrong: kind, place, the inputs of the first one in short. A place that many paths reach is one line.
fn errors(out: &mut String, campaign: &Campaign, module: &Module, style: Style) {
    let mut rows: Vec<(String, String, String)> = Vec::new();
    let mut seen: BTreeMap<(String, Span), (usize, u64)> = BTreeMap::new();
    for test in &campaign.tests {
        let Outcome::Error { kind, span } = &test.outcome else { continue };
        let entry = seen.entry((kind.to_string(), *span)).or_insert((rows.len(), 0));
        entry.1 += 1;
        if entry.1 == 1 {
            rows.push((kind.to_string(), span.display(&module.files), inputs(test, module)));
        }
    }
    if rows.is_empty() {
        return;
    }
    for (row, count) in seen.into_values().filter(|(_, count)| *count > 1) {
        rows[row].1.push_str(&format!(" ({count} paths)"));
    }
    heading(out, style, Paint::Red, "errors");
    let (kinds, places) = (longest(rows.iter().map(|row| &row.0)), longest(rows.iter().map(|row| &row.1)));
    for (kind, place, inputs) in &rows {
        out.push_str(&cut(&format!("  {kind:<kinds$}  {place:<places$}  {inputs}"), style.width));
        out.push('\n');
    }
}

/// What has no test that comes to an end: how many, and in which functions.
fn covered_by_errors(out: &mut String, campaign: &Campaign, style: Style) {
    let errors = ErrorTests::among(&campaign.tests);
    let mut by_function: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for objective in campaign.objectives.iter().filter(|objective| errors.cover(objective)) {
        by_function.entry(objective.function.as_str()).or_default().insert(objective.id.as_str());
    }
    let count: usize = by_function.values().map(BTreeSet::len).sum();
    if count == 0 {
        return;
    }
    let mut most: Vec<(&str, usize)> = by_function.iter().map(|(name, ids)| (*name, ids.len())).collect();
    most.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let shown: Vec<String> = most.iter().map(|(name, count)| format!("{name} {count}")).collect();
    heading(out, style, Paint::Yellow, "covered by an error");
    let (objectives, have) = if count == 1 { ("objective", "has") } else { ("objectives", "have") };
    let line = format!("  {count} {objectives} {have} no test that returns: {}", shown.join(", "));
    out.push_str(&cut(&line, style.width));
    out.push('\n');
}

fn rejections(out: &mut String, campaign: &Campaign, module: &Module, style: Style) {
    let found: Vec<&TestCase> = campaign.tests.iter().filter(|test| test.outcome == Outcome::OracleRejected).collect();
    if found.is_empty() {
        return;
    }
    heading(out, style, Paint::Red, "rejected by the oracle");
    let names = longest(found.iter().map(|test| &test.id));
    for test in found {
        let result = match (&test.expected.result, module.function_named(&test.function)) {
            (Some(value), Some(function)) => {
                let ty = module.functions[function].result_data;
                format!(" -> {}", Shown { types: &module.types, objects: &[], ty, value }.brief())
            }
            _ => String::new(),
        };
        let line = format!("  {:<names$}  {}{result}", test.id, inputs(test, module));
        out.push_str(&cut(&line, style.width));
        out.push('\n');
    }
}

/// What was given up, and what lifts it.
fn incomplete(out: &mut String, campaign: &Campaign, module: &Module, style: Style) {
    let mut rows: Vec<(&FunctionResult, &IncompletePaths)> = Vec::new();
    for function in &campaign.functions {
        for paths in &function.incomplete {
            // The criteria of a function share their exploration, and what it gave up.
            let same = |(other, known): &(&FunctionResult, &IncompletePaths)| {
                (&other.name, &other.file, *known) == (&function.name, &function.file, paths)
            };
            if !rows.iter().any(same) {
                rows.push((function, paths));
            }
        }
    }
    if rows.is_empty() {
        return;
    }
    heading(out, style, Paint::Yellow, "incomplete");
    for (function, paths) in rows {
        let place = paths.span.is_some().then(|| format!(" at {}", paths.span.display(&module.files)));
        let place = place.unwrap_or_default();
        let what = match &paths.why {
            Incomplete::Bound(touchstone_criteria::Bound::Interrupted) => format!("interrupted{place}"),
            Incomplete::Bound(bound) => format!("bound hit{place}, lifted by {}", bound.flag()),
            Incomplete::Doubt(doubt) => format!("not decided{place}: {doubt}"),
            Incomplete::Unsupported(what) => format!("unsupported: {what}{place}"),
            Incomplete::Solver(why) => format!("the solver gave up{place}: {why}"),
        };
        let count = format!("{} {}", paths.count, if paths.count == 1 { "path" } else { "paths" });
        out.push_str(&format!("  {}: {what} ({count})\n", function.name));
    }
}

/// In full: each is a wrong prediction or undefined behaviour, and both matter.
fn disagreements(out: &mut String, campaign: &Campaign, style: Style) {
    let found: Vec<(&TestCase, &Disagreement)> = campaign
        .tests
        .iter()
        .filter_map(|test| if let Replay::Disagreed(why) = &test.replayed { Some((test, why)) } else { None })
        .collect();
    if found.is_empty() {
        return;
    }
    heading(out, style, Paint::Red, "the real program disagrees");
    for (test, why) in found {
        out.push_str(&format!("  {}: {why}\n", test.id));
    }
}

fn replay_line(out: &mut String, campaign: &Campaign, style: Style) {
    let (mut agreed, mut disagreed, mut unchecked) = (0u64, 0u64, BTreeMap::new());
    for test in &campaign.tests {
        match &test.replayed {
            Replay::Agreed => agreed += 1,
            Replay::Disagreed(_) => disagreed += 1,
            Replay::NotCheckable(why) => *unchecked.entry(why.to_string()).or_insert(0u64) += 1,
            Replay::NotRun => {}
        }
    }
    if agreed + disagreed == 0 && unchecked.is_empty() {
        return;
    }
    let mut line = format!("{agreed} agreed");
    if disagreed > 0 {
        line.push_str(&format!(", {}", style.paint(Paint::Red, &format!("{disagreed} disagreed"))));
    }
    if !unchecked.is_empty() {
        line.push_str(&format!(", {} not checkable", unchecked.values().sum::<u64>()));
    }
    out.push_str(&format!("\nreplay: {line}\n"));
    for (why, count) in unchecked {
        out.push_str(&style.paint(Paint::Dim, &format!("  {count} not checkable: {why}")));
        out.push('\n');
    }
    let open = campaign.tests.iter().filter(|test| !matches!(test.replayed, Replay::Agreed | Replay::NotRun));
    let open: BTreeSet<&str> = open.map(|test| test.id.as_str()).collect();
    let only_predicted = campaign.objectives.iter().filter(|objective| match &objective.status {
        Status::Covered(tests) => !tests.is_empty() && tests.iter().all(|test| open.contains(test.as_str())),
        _ => false,
    });
    match only_predicted.count() {
        0 => {}
        1 => out.push_str("  1 objective is covered only by a test that no replay confirmed\n"),
        count => out.push_str(&format!("  {count} objectives are covered only by tests that no replay confirmed\n")),
    }
}

/// `a = 3, list = &list {5, NULL}`: what the test is called with, in short.
fn inputs(test: &TestCase, module: &Module) -> String {
    let types = &module.types;
    let mut parts = Vec::new();
    match &test.kind {
        TestKind::Program => {}
        TestKind::Function { params, globals, objects } => {
            let mut shown = vec![false; objects.len()];
            for named in params.iter().chain(globals) {
                let value = match &named.value {
                    // What a parameter points to says more than the address.
                    DataValue::Pointer(touchstone_ir::PointerTarget::Object { object, offset: 0 })
                        if objects.get(*object).is_some_and(|_| !shown[*object]) =>
                    {
                        shown[*object] = true;
                        let object = &objects[*object];
                        match (object.is_array, object.values.as_slice()) {
                            (false, [value]) => {
                                let brief = Shown { types, objects, ty: object.element, value }.brief();
                                let plain = !matches!(types[object.element], DataType::Struct { .. });
                                if plain { format!("&{brief}") } else { brief }
                            }
                            (_, values) => brief_elements(types, objects, object.element, values),
                        }
                    }
                    value => Shown { types, objects, ty: named.data, value }.brief(),
                };
                let name = if named.name.is_empty() { "_" } else { &named.name };
                parts.push(format!("{name} = {value}"));
            }
            for (object, _) in objects.iter().zip(&shown).filter(|(_, shown)| !**shown) {
                parts.push(format!(
                    "{} = {}",
                    object.name,
                    brief_elements(types, objects, object.element, &object.values)
                ));
            }
        }
    }
    parts.extend(test.answers.iter().map(answer));
    parts.join(", ")
}

/// `argv[1] = "-x"`, `sensor = 5`: what came from outside.
fn answer(input: &MadeInput) -> String {
    let text = |text: &[u8]| format!("\"{}\"", text.escape_ascii());
    match input.given() {
        Given::Argument(word) => format!("argv[{}] = {}", input.name, text(word)),
        Given::Stdin(all) => format!("stdin = {}", text(all)),
        Given::Variable(name, value) => format!("{name} = {}", value.map_or("not set".to_string(), text)),
        Given::Answer(given) => format!("{} = {}", input.title(), bytes(given)),
    }
}

/// Bytes of a program's input: a number where the size is one's, else a list.
fn bytes(bytes: &[u8]) -> String {
    match *bytes {
        [a] => a.to_string(),
        [a, b, c, d] => i32::from_le_bytes([a, b, c, d]).to_string(),
        [a, b, c, d, e, f, g, h] => i64::from_le_bytes([a, b, c, d, e, f, g, h]).to_string(),
        _ => format!("{{{}}}", bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")),
    }
}
