//! Common parts of pages: head, navigation, bars, escaping.

use crate::analysis::figures::{Tallies, Tally};
use std::fmt::Write;

/// A page of the navigation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tab {
    Overview,
    Functions,
    Tests,
    Objectives,
    State,
}

/// The location of a page in the site.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// In the root directory.
    Root,
    /// In a subdirectory of the root.
    Folder,
}

impl Level {
    pub(super) fn root(self) -> &'static str {
        match self {
            Level::Root => "",
            Level::Folder => "../",
        }
    }
}

/// Escapes text for content and for attributes in double quotes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_escaped(&mut out, text);
    out
}

pub(super) fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\0' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

/// Returns a whole page.
pub(super) fn page(title: &str, level: Level, active: Option<Tab>, has_state: bool, body: &str) -> String {
    let root = level.root();
    let title = escape(title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\" data-root=\"{root}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>{title}</title>\n\
         <link rel=\"stylesheet\" href=\"{root}style.css\">\n\
         <script>try{{document.documentElement.dataset.theme=localStorage.getItem('touchstone-theme')||''}}catch(e){{}}</script>\n\
         <script src=\"{root}script.js\" defer></script>\n</head>\n<body>\n<header><a class=\"brand\" href=\"{root}index.html\">\
         <svg viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"M12 2 21 8 18 20 6 20 3 8Z\"/><path d=\"m8 12 3 3 5-6\"/></svg>\
         touchstone</a><nav>"
    );
    let mut tabs = vec![
        (Tab::Overview, "index.html", "Overview"),
        (Tab::Functions, "functions.html", "Functions"),
        (Tab::Objectives, "objectives.html", "Objectives"),
        (Tab::Tests, "tests.html", "Tests"),
    ];
    if has_state {
        tabs.push((Tab::State, "state.html", "State"));
    }
    for (tab, href, name) in tabs {
        let current = if active == Some(tab) { " aria-current=\"page\"" } else { "" };
        let _ = write!(out, "<a href=\"{root}{href}\"{current}>{name}</a>");
    }
    let _ = write!(
        out,
        "</nav><button id=\"search\" type=\"button\" title=\"Search (press /)\">Search<kbd>/</kbd></button>\
         <button id=\"theme\" type=\"button\" title=\"Dark or light (press t)\" aria-label=\"Dark or light\">◐</button>\
         </header>\n<main>\n{body}</main>\n</body>\n</html>\n"
    );
    out
}

/// Returns the CSS class of a share.
pub(super) fn level_of(tally: &Tally) -> &'static str {
    match tally.per_mille() {
        None => "n",
        Some(1000) => "c",
        Some(750..) => "h",
        Some(_) => "u",
    }
}

/// Returns a bar with its percentage.
pub(super) fn bar(tally: &Tally) -> String {
    let tenths = tally.per_mille().unwrap_or(0);
    let (class, percent) = (level_of(tally), tally.percent());
    format!(
        "<span class=\"bar {class}\"><i style=\"width:{}.{}%\"></i></span> <span class=\"pc\">{percent}</span>",
        tenths / 10,
        tenths % 10
    )
}

/// Returns the numbers of a percentage: `38 of 40 feasible, 2 infeasible`.
pub(super) fn numbers(tally: &Tally) -> String {
    let mut text = format!("{} of {} feasible", tally.covered, tally.feasible());
    if tally.by_error > 0 {
        let _ = write!(text, ", {} of them by an error", tally.by_error);
    }
    if tally.infeasible > 0 {
        let _ = write!(text, ", {} infeasible", tally.infeasible);
    }
    if tally.unmeasured > 0 {
        let _ = write!(text, ", {} not measured", tally.unmeasured);
    }
    if tally.excluded > 0 {
        let _ = write!(text, ", {} excluded", tally.excluded);
    }
    text
}

/// Returns one small cell for each criterion.
pub(super) fn cells(criteria: &[&str], tallies: &Tallies) -> String {
    let mut out = String::new();
    for criterion in criteria {
        match tallies.get(criterion) {
            None => out.push_str("<td class=\"r dim\">–</td>"),
            Some(tally) => {
                let sort = tally.per_mille().unwrap_or(1001);
                let (level, title, percent) = (level_of(tally), numbers(tally), tally.percent());
                let _ = write!(
                    out,
                    "<td class=\"r t{level}\" data-s=\"{sort}\" title=\"{title}\">{percent}<small>{}/{}</small></td>",
                    tally.covered,
                    tally.feasible()
                );
            }
        }
    }
    out
}

/// Returns a count with its noun: `1 test`, `2 tests`.
pub(super) fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
