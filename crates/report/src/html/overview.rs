//! The first page: totals, history, files.

use super::chart::chart;
use super::shell::{Level, Tab, bar, cells, escape, level_of, numbers, page as shell, plural};
use super::tree::tree;
use super::{Site, lists};
use crate::document::Behaviour;
use crate::export::{ExecutedLines, run};
use std::fmt::Write;

/// The maximum number of open objectives that are listed.
const MAX_OPEN_LISTED: usize = 40;

pub(super) fn page(site: &Site<'_>) -> String {
    let mut body = String::from("<h1>Coverage</h1>\n");
    let _ = writeln!(
        body,
        "<p class=\"sub\">{} · {} · {}</p>",
        plural(site.slugs.len(), "file"),
        plural(site.figures.functions.len(), "function"),
        plural(site.document.tests.len(), "test")
    );
    let ExecutedLines { functions, lines } = run(site.document);
    if lines.1 > 0 {
        let ran = |(ran, all): (u64, u64), what: &str| format!("{ran} of {}", plural(all as usize, what));
        let _ = writeln!(body, "<p class=\"sub\">ran: {}, {}</p>", ran(functions, "function"), ran(lines, "line"));
    }
    body.push_str(&lists::unprotected(site));
    totals(&mut body, site);
    change(&mut body, site);
    forms(&mut body, site);
    if let Some(chart) = chart(site.history) {
        let _ = writeln!(body, "<section><h2>History</h2>{chart}</section>");
    }
    files(&mut body, site);
    open(&mut body, site);
    excluded(&mut body, site);
    shell("Coverage", Level::Root, Some(Tab::Overview), !site.document.state.is_empty(), &body)
}

fn totals(out: &mut String, site: &Site<'_>) {
    if site.figures.total.is_empty() {
        out.push_str("<p class=\"empty\">This campaign has no objectives.</p>\n");
        return;
    }
    out.push_str("<section class=\"cards\">");
    for (criterion, tally) in site.figures.total.iter() {
        let tenths = tally.per_mille().unwrap_or(0);
        let _ = write!(
            out,
            "<div class=\"card {}\"><b>{}</b><strong>{}</strong><span class=\"bar {}\"><i style=\"width:{}.{}%\"></i></span>\
             <small>{}</small></div>",
            level_of(tally),
            escape(criterion),
            tally.percent(),
            level_of(tally),
            tenths / 10,
            tenths % 10,
            numbers(tally)
        );
    }
    out.push_str("</section>\n");
}

/// Writes the coverage of suites with frameworks that can't run every test.
fn forms(out: &mut String, site: &Site<'_>) {
    for suites in crate::analysis::form_figures::short(site.document) {
        let reasons = crate::analysis::form_figures::reasons(suites);
        let reasons: Vec<String> = reasons.iter().map(|(why, count)| format!("{count}: {why}")).collect();
        let _ = writeln!(
            out,
            "<p class=\"note\">Tests for {}: {} <span class=\"dim\">({})</span></p>",
            escape(&suites.form),
            escape(&crate::analysis::form_figures::said(suites, &site.figures)),
            escape(&reasons.join("; "))
        );
    }
}

fn files(out: &mut String, site: &Site<'_>) {
    let worst = site.figures.worst_first();
    if worst.is_empty() {
        return;
    }
    let criteria: Vec<&str> = site.figures.total.iter().map(|(name, _)| name).collect();
    out.push_str("<section><h2>Files <small>lowest coverage first</small></h2>\n<div class=\"scroll\"><table class=\"sort\"><thead><tr><th>File</th><th>All</th>");
    for criterion in &criteria {
        let _ = write!(out, "<th class=\"r\">{}</th>", escape(criterion));
    }
    out.push_str("</tr></thead><tbody>\n");
    for (file, tallies) in &worst {
        let sum = tallies.sum();
        let name = match site.slugs.get(file) {
            Some(slug) => format!("<a href=\"f/{slug}.html\">{}</a>", escape(file)),
            None => "<span class=\"dim\">no file</span>".to_string(),
        };
        let _ = writeln!(
            out,
            "<tr><td class=\"path\">{name}</td><td class=\"nw\" data-s=\"{}\" title=\"{}\">{}</td>{}</tr>",
            sum.per_mille().unwrap_or(1001),
            numbers(&sum),
            bar(&sum),
            cells(&criteria, tallies)
        );
    }
    out.push_str("</tbody></table></div>\n");
    if worst.len() > 1 {
        let _ = writeln!(out, "<details class=\"tree\"><summary>Directories</summary>{}</details>", tree(site));
    }
    out.push_str("</section>\n");
}

/// Writes the open objectives.
fn open(out: &mut String, site: &Site<'_>) {
    let all: Vec<_> = site.objectives.values().flatten().filter(|objective| lists::is_open(objective)).collect();
    if all.is_empty() {
        return;
    }
    let _ = write!(out, "<section><h2>Not covered <small>{}</small></h2><ul class=\"open\">", all.len());
    for objective in all.iter().take(MAX_OPEN_LISTED) {
        let file = objective.at.file.as_deref().unwrap_or("");
        let place = lists::link(site, Level::Root, file, objective.at.line);
        let _ = writeln!(
            out,
            "<li><span class=\"crit\">{}</span> <code>{}</code> <span class=\"where\">{place}</span></li>",
            escape(&objective.criterion),
            escape(&objective.text)
        );
    }
    out.push_str("</ul>");
    if all.len() > MAX_OPEN_LISTED {
        let _ = write!(
            out,
            "<p class=\"sub\">… and {} more: <a href=\"objectives.html\">all objectives</a></p>",
            all.len() - MAX_OPEN_LISTED
        );
    }
    out.push_str("</section>\n");
}

/// Writes the effect of the change since an older version on the affected functions.
fn change(out: &mut String, site: &Site<'_>) {
    let Some(change) = &site.document.change else { return };
    let _ = write!(out, "<section><h2>Since {}</h2><ul class=\"open\">", escape(&change.since));
    for function in &change.functions {
        let (class, word) = match function.behaviour {
            Behaviour::Equivalent => ("tc", "equivalent"),
            Behaviour::Differs => ("tu", "differs"),
            Behaviour::Unknown => ("th", "unknown"),
        };
        let _ = write!(out, "<li><code>{}</code> <b class=\"{class}\">{word}</b> ", escape(&function.name));
        if let Some(why) = &function.why {
            let _ = write!(out, "<span class=\"dim\">{}</span>", escape(why));
        }
        for test in &function.tests {
            let known = site.document.tests.iter().find(|known| known.id == *test);
            let older = known.and_then(|known| known.older.as_deref()).unwrap_or_default();
            let _ = write!(out, "<br><a href=\"tests.html#t-{0}\">{0}</a> {1}", escape(test), escape(older));
        }
        out.push_str("</li>\n");
    }
    let unaffected = change.unaffected.len();
    let _ =
        writeln!(out, "</ul><p class=\"sub\">{} unaffected as a whole</p></section>", plural(unaffected, "function"));
}

/// Writes the excluded objectives with their reasons.
fn excluded(out: &mut String, site: &Site<'_>) {
    if site.document.files.iter().all(|file| file.exclusions.is_empty()) {
        return;
    }
    out.push_str("<section><h2>Excluded by comments</h2><ul class=\"open\">");
    for file in &site.document.files {
        for exclusion in &file.exclusions {
            let place = lists::link(site, Level::Root, &file.path, Some(exclusion.line));
            let _ = writeln!(out, "<li>{} <span class=\"where\">{place}</span></li>", escape(&exclusion.reason));
        }
    }
    out.push_str("</ul></section>\n");
}
