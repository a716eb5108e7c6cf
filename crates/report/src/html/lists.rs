//! Pages that are lists: functions, tests with their objectives, objectives with their tests, state by test.

use super::Site;
use super::marks::sign;
use super::shell::{Level, Tab, bar, cells, escape, numbers, page as shell, plural};
use crate::document::{Json, Objective, Replay, Test, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The maximum number of tests listed for an objective, and of objectives for a test.
const MAX_LISTED: usize = 6;
const MAX_OBJECTIVES_LISTED: usize = 100;
/// The maximum number of characters of inputs.
const MAX_INPUT_CHARS: usize = 400;

/// Returns true if it is neither covered nor settled otherwise.
pub(super) fn is_open(objective: &Objective) -> bool {
    let open = matches!(objective.status, Verdict::Unknown | Verdict::Uncovered);
    open && objective.excluded.is_none() && objective.not_measured().is_none()
}

/// Returns a link to a line: `file.c:12`.
pub(super) fn link(site: &Site<'_>, level: Level, file: &str, line: Option<u32>) -> String {
    let (text, anchor) = match line {
        Some(line) => (format!("{file}:{line}"), format!("#L{line}")),
        None => (file.to_string(), String::new()),
    };
    match site.slugs.get(file) {
        Some(slug) => format!("<a href=\"{}f/{slug}.html{anchor}\">{}</a>", level.root(), escape(&text)),
        None => escape(&text),
    }
}

fn has_state(site: &Site<'_>) -> bool {
    !site.document.state.is_empty()
}

pub(super) fn functions(site: &Site<'_>) -> String {
    let criteria: Vec<&str> = site.figures.total.iter().map(|(name, _)| name).collect();
    let mut lines: BTreeMap<(&str, &str), (Option<u32>, u64)> = BTreeMap::new();
    for function in &site.document.functions {
        lines.insert((&function.file, &function.name), (function.line, function.tests));
    }
    let mut body = String::from(
        "<h1>Functions</h1>\n<div class=\"scroll\"><table class=\"sort\"><thead><tr><th>Function</th><th>Where</th><th>All</th>",
    );
    for criterion in &criteria {
        let _ = write!(body, "<th class=\"r\">{}</th>", escape(criterion));
    }
    body.push_str("<th class=\"r\">Tests</th></tr></thead><tbody>\n");
    let mut rows: Vec<_> = site.figures.functions.iter().collect();
    rows.sort_by_key(|((file, name), tallies)| {
        let sum = tallies.sum();
        (sum.per_mille().unwrap_or(1001), u64::MAX - sum.missing(), file.clone(), name.clone())
    });
    for ((file, name), tallies) in rows {
        let (line, tests) = lines.get(&(file.as_str(), name.as_str())).copied().unwrap_or((None, 0));
        let sum = tallies.sum();
        let _ = writeln!(
            body,
            "<tr><td><code>{}</code></td><td class=\"path\">{}</td><td class=\"nw\" data-s=\"{}\" title=\"{}\">{}</td>{}<td class=\"r\">{tests}</td></tr>",
            escape(name),
            link(site, Level::Root, file, line),
            sum.per_mille().unwrap_or(1001),
            numbers(&sum),
            bar(&sum),
            cells(&criteria, tallies)
        );
    }
    body.push_str("</tbody></table></div>\n");
    shell("Functions", Level::Root, Some(Tab::Functions), has_state(site), &body)
}

pub(super) fn objectives_index(site: &Site<'_>) -> String {
    let mut body = String::from(
        "<h1>Objectives</h1>\n<p class=\"sub\">every objective, and the tests that cover it</p>\n<ul class=\"open\">",
    );
    for (file, slug) in &site.slugs {
        let list = site.objectives_of(file);
        let open = list.iter().filter(|objective| is_open(objective)).count();
        let gaps = if open > 0 { format!("<b class=\"tu\">{open} not covered</b>") } else { String::new() };
        let _ = writeln!(
            body,
            "<li><a href=\"f/{slug}.o.html\">{}</a> <span class=\"where\">{} {gaps}</span></li>",
            escape(file),
            plural(list.len(), "objective")
        );
    }
    body.push_str("</ul>\n");
    shell("Objectives", Level::Root, Some(Tab::Objectives), has_state(site), &body)
}

/// Returns the objectives of a file, by function, each with its tests.
pub(super) fn objectives(site: &Site<'_>, file: &str) -> String {
    let slug = site.slugs.get(file).map_or("", String::as_str);
    let mut body =
        format!("<h1 class=\"file\">{}</h1>\n<p class=\"sub\"><a href=\"{slug}.html\">source</a></p>\n", escape(file));
    let mut functions: Vec<(&str, Vec<&Objective>)> = Vec::new();
    for objective in site.objectives_of(file) {
        match functions.iter_mut().rev().find(|(name, _)| *name == objective.function) {
            Some((_, list)) => list.push(objective),
            None => functions.push((&objective.function, vec![objective])),
        }
    }
    for (function, list) in functions {
        let open = list.iter().filter(|objective| is_open(objective)).count();
        let gaps = if open > 0 { format!(" <b class=\"tu\">{open} not covered</b>") } else { String::new() };
        let _ = writeln!(
            body,
            "<section class=\"fn\"><h2><code>{}</code> <small>{}{gaps}</small></h2><div class=\"scroll\"><table class=\"objs\"><tbody>",
            escape(function),
            plural(list.len(), "objective")
        );
        body.push_str(&rests_on(site, file, function));
        for objective in list {
            let line =
                objective.at.line.map_or(String::new(), |line| format!("<a href=\"{slug}.html#L{line}\">{line}</a>"));
            let _ = writeln!(
                body,
                "<tr id=\"{}\"><td class=\"sign {}\" title=\"{}\">{}</td><td class=\"r\">{line}</td><td class=\"crit\">{}</td><td><code>{}</code>{}</td><td>{}</td></tr>",
                escape(&objective.id),
                class(objective),
                objective.status.name(),
                sign(objective),
                escape(&objective.criterion),
                escape(&objective.text),
                tagged(objective),
                because(objective)
            );
        }
        body.push_str("</tbody></table></div></section>\n");
    }
    shell(&format!("Objectives of {file}"), Level::Folder, Some(Tab::Objectives), has_state(site), &body)
}

/// Returns the assumptions of verdicts about a function, as a row.
fn rests_on(site: &Site<'_>, file: &str, function: &str) -> String {
    let found = site.document.functions.iter().find(|found| found.file == file && found.name == function);
    let assumptions = found.map_or(&[][..], |found| &found.assumptions);
    let said: Vec<String> = assumptions
        .iter()
        .filter(|assumption| !matches!(assumption.by.as_str(), "declaration" | "tests"))
        .map(|assumption| format!("{} ({})", escape(&assumption.text), escape(&assumption.by)))
        .collect();
    match said.is_empty() {
        true => String::new(),
        false => format!("<tr><td colspan=\"5\" class=\"dim\">Verdicts rest on: {}</td></tr>\n", said.join("; ")),
    }
}

fn class(objective: &Objective) -> &'static str {
    match (&objective.excluded, objective.status) {
        (Some(_), _) => "tx",
        _ if objective.not_measured().is_some() => "tm",
        (None, Verdict::Covered) => "tc",
        (None, Verdict::Infeasible) => "ti",
        (None, Verdict::Unknown) => "th",
        (None, Verdict::Uncovered) => "tu",
        (None, Verdict::Unaffected) => "tx",
    }
}

/// Returns the variant of the code that it belongs to, and its number of executions.
fn tagged(objective: &Objective) -> String {
    let mut out = String::new();
    if let Some(variant) = &objective.variant {
        let _ = write!(out, " <span class=\"variant\">{}</span>", escape(variant));
    }
    if let Some(count) = objective.count.filter(|count| *count > 0) {
        let _ = write!(out, " <span class=\"dim\">{count}×</span>");
    }
    out
}

/// Returns the tests that cover it, or the reason why there are none.
fn because(objective: &Objective) -> String {
    let mut out = String::new();
    if let Some(reason) = &objective.excluded {
        let _ = write!(out, "<span class=\"tx\">excluded: {}</span> ", escape(reason));
    }
    if let Some(why) = &objective.why {
        let status =
            if objective.not_measured().is_some() { String::new() } else { format!("{}: ", objective.status.name()) };
        let _ = write!(out, "<span class=\"dim\">{status}{}</span>", escape(why));
    }
    for test in objective.tests.iter().take(MAX_LISTED) {
        let _ = write!(out, "<a href=\"../tests.html#t-{0}\">{0}</a> ", escape(test));
    }
    if objective.tests.len() > MAX_LISTED {
        let _ = write!(out, "<span class=\"dim\">+{}</span>", objective.tests.len() - MAX_LISTED);
    }
    out
}

/// Returns the protection that the replay of the tests lacked; empty if it was sandboxed.
pub(super) fn unprotected(site: &Site<'_>) -> String {
    let told = site.document.unprotected_replay.as_deref();
    told.map_or(String::new(), |told| format!("<p class=\"note\">{}</p>\n", escape(told)))
}

/// Returns the page of all tests with their inputs, results and covered objectives.
pub(super) fn tests(site: &Site<'_>) -> String {
    let mut covers: BTreeMap<&str, Vec<&Objective>> = BTreeMap::new();
    for objective in site.objectives.values().flatten() {
        for test in &objective.tests {
            covers.entry(test).or_default().push(objective);
        }
    }
    let mut body = String::from(
        "<h1>Tests</h1>\n<p class=\"sub\">each with the objectives that it covers; a star marks those that no other test covers</p>\n",
    );
    body.push_str(&unprotected(site));
    let known: Vec<&str> = site.document.tests.iter().map(|test| test.id.as_str()).collect();
    for test in &site.document.tests {
        test_entry(&mut body, site, test, covers.get(test.id.as_str()).map_or(&[], Vec::as_slice));
    }
    // The tests of a measured suite may only be known from the objectives that they cover.
    let mut others: Vec<&str> = covers.keys().copied().collect();
    let mut known_sorted = known;
    known_sorted.sort_unstable();
    others.retain(|name| known_sorted.binary_search(name).is_err());
    for name in &others {
        let _ = write!(body, "<section class=\"test\" id=\"t-{0}\"><h2><code>{0}</code></h2>", escape(name));
        covered(&mut body, site, covers.get(name).map_or(&[], Vec::as_slice));
        body.push_str("</section>\n");
    }
    if site.document.tests.is_empty() && others.is_empty() {
        body.push_str("<p class=\"empty\">There are no tests.</p>\n");
    }
    shell("Tests", Level::Root, Some(Tab::Tests), has_state(site), &body)
}

fn test_entry(out: &mut String, site: &Site<'_>, test: &Test, covers: &[&Objective]) {
    let (class, replay) = match test.replay {
        Replay::Agreed => ("tc", "replay agreed"),
        Replay::Disagreed => ("tu", "replay disagreed"),
        Replay::NotCheckable => ("th", "replay not checkable"),
        Replay::NotRun => ("dim", "not replayed"),
    };
    let why = test.replay_why.as_deref().map_or(String::new(), |why| format!(": {}", escape(why)));
    let ending = match (&test.error, test.exit_status) {
        (Some(error), _) => format!("<span class=\"tu\">{}</span>", escape(&error.kind)),
        (None, Some(status)) => format!("exits with {status}"),
        (None, None) => match &test.threw {
            Some(class) => format!("throws {}", escape(class)),
            None => escape(&test.outcome.replace('_', " ")),
        },
    };
    let heap = test.heap.as_deref().map_or(String::new(), |heap| format!(" · {}", escape(&heap.replace('_', " "))));
    let _ = write!(
        out,
        "<section class=\"test\" id=\"t-{0}\"><h2><code>{0}</code> <small>{ending} · <span class=\"{class}\">{replay}{why}</span>{heap}</small></h2>",
        escape(&test.id)
    );
    if !test.earlier.is_empty() {
        let calls: Vec<&str> = test.earlier.iter().map(|earlier| earlier.call.as_str()).collect();
        let _ = write!(out, "<p class=\"inputs\">after <code>{}</code></p>", escape(&cut(&calls.join("; "))));
    }
    let inputs = pairs(&test.inputs);
    if !inputs.is_empty() {
        let _ = write!(out, "<p class=\"inputs\"><code>{}</code>", escape(&cut(&inputs)));
        if let Some(result) = test.expected.members().get("result") {
            let _ = write!(out, " → <code>{}</code>", escape(&cut(&result.to_string())));
        }
        out.push_str("</p>");
    }
    covered(out, site, covers);
    out.push_str("</section>\n");
}

/// Returns named values: `a = 1, b = [2,3]`.
fn pairs(data: &Json) -> String {
    let members = data.members();
    members.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_INPUT_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

fn covered(out: &mut String, site: &Site<'_>, covers: &[&Objective]) {
    if covers.is_empty() {
        return;
    }
    let alone = covers.iter().filter(|objective| objective.tests.len() == 1).count();
    let star = if alone > 0 { format!(", {alone} alone") } else { String::new() };
    let _ = write!(
        out,
        "<details><summary>covers {}{star}</summary><ul class=\"open\">",
        plural(covers.len(), "objective")
    );
    let mut sorted: Vec<&&Objective> = covers.iter().collect();
    sorted.sort_by_key(|objective| objective.tests.len() > 1);
    for objective in sorted.iter().take(MAX_OBJECTIVES_LISTED) {
        let file = objective.at.file.as_deref().unwrap_or("");
        let star = if objective.tests.len() == 1 { "★ " } else { "" };
        let _ = write!(
            out,
            "<li>{star}<span class=\"crit\">{}</span> <code>{}</code> <span class=\"where\">{}</span></li>",
            escape(&objective.criterion),
            escape(&objective.text),
            link(site, Level::Root, file, objective.at.line)
        );
    }
    if covers.len() > MAX_OBJECTIVES_LISTED {
        let _ = write!(out, "<li class=\"dim\">… and {} more</li>", covers.len() - MAX_OBJECTIVES_LISTED);
    }
    out.push_str("</ul></details>");
}

/// Returns the page of the state that each test changed, unchecked state first.
pub(super) fn state(site: &Site<'_>) -> String {
    let mut body = String::from(
        "<h1>State</h1>\n<p class=\"sub\">what each test changes, and whether one of its assertions depends on it</p>\n",
    );
    for test in site.document.least_checked_first() {
        let why = test.unknown.iter().map(|why| format!("; unknown: {}", escape(why))).collect::<String>();
        let _ = write!(
            body,
            "<section class=\"test\" id=\"s-{0}\"><h2><code>{0}</code> <small>{1} checked{why}</small></h2><div class=\"scroll\"><table class=\"objs\"><tbody>",
            escape(&test.test),
            test.share()
        );
        let mut updates: Vec<_> = test.updates.iter().collect();
        updates.sort_by_key(|update| update.checked);
        for update in updates {
            let (class, sign) = if update.checked { ("tc", "✓") } else { ("tu", "✗") };
            let place =
                update.at.file.as_deref().map_or(String::new(), |file| link(site, Level::Root, file, update.at.line));
            let _ = writeln!(
                body,
                "<tr><td class=\"sign {class}\">{sign}</td><td><code>{}</code></td><td class=\"path\">{place}</td></tr>",
                escape(&update.what)
            );
        }
        body.push_str("</tbody></table></div>");
        let missing = site.document.suggestions.assertions.iter().filter(|assertion| assertion.test == test.test);
        for (index, assertion) in missing.enumerate() {
            if index == 0 {
                body.push_str("<p class=\"add dim\">assertions to add</p>");
            }
            let _ = writeln!(
                body,
                "<p class=\"add\"><code>{}</code> <span class=\"where\">checks {}</span></p>",
                escape(&assertion.statement),
                escape(&assertion.checks.join(", "))
            );
        }
        body.push_str("</section>\n");
    }
    shell("State", Level::Root, Some(Tab::State), true, &body)
}
