//! The section of the text report on suites that existed before the run.

use crate::document::existing_suites::{FailedExpectation, ReportedSuite, ReportedTest, ReportedVerdict};
use crate::terminal::style::{Paint, Style, cut, heading};

/// Writes the status of each suite, and the reason of each broken test.
pub(crate) fn kept_suites(out: &mut String, suites: &[ReportedSuite], style: Style) {
    if suites.is_empty() {
        return;
    }
    heading(out, style, Paint::Bold, "existing tests");
    for suite in suites {
        let edited = if suite.edited { ", edited and kept" } else { "" };
        let line = format!("  {}{edited}: {}", suite.file, standing(suite));
        out.push_str(&cut(&line, style.width));
        out.push('\n');
        for test in suite.tests.iter().filter(|test| test.is_broken()) {
            for said in failures(test) {
                out.push_str(&cut(&format!("    {}: {said}", test.name), style.width));
                out.push('\n');
            }
        }
        if !suite.pruned.is_empty() {
            out.push_str(&format!("    removed by --prune: {}\n", suite.pruned.join(", ")));
        }
        if let Some(file) = &suite.new_tests {
            out.push_str(&format!("    new tests: {file}\n"));
        }
    }
}

fn standing(suite: &ReportedSuite) -> String {
    if let Some(why) = &suite.not_run {
        return format!("not run ({why})");
    }
    let passes = suite.tests.iter().filter(|test| test.verdict == ReportedVerdict::Passes).count();
    let all = suite.tests.len();
    let mut text = match passes == all {
        true if all == 1 => "its test passes".to_string(),
        true => format!("all {all} tests pass"),
        false => format!("{passes} of {all} tests pass"),
    };
    let unsaid = suite.tests.iter().filter(|test| test.verdict == ReportedVerdict::NotCheckable).count();
    if unsaid > 0 {
        text.push_str(&format!(", {unsaid} can't be checked"));
    }
    match suite.new_tests {
        _ if suite.kept => text.push_str("; kept, because some of them cannot be generated again"),
        _ if !suite.edited => {
            text.push_str("; regenerated");
            match suite.used_again {
                Some(1) => text.push_str(" with the inputs of 1 earlier test"),
                Some(some @ 2..) => text.push_str(&format!(" with the inputs of {some} earlier tests")),
                Some(0) | None => {}
            }
        }
        None => text.push_str("; nothing is missing"),
        Some(_) => {}
    }
    text
}

fn failures(test: &ReportedTest) -> Vec<String> {
    let why = || test.why.clone().unwrap_or_default();
    match test.verdict {
        ReportedVerdict::DoesNotCompile => vec![format!("no longer compiles: {}", why())],
        _ if test.changes.is_empty() => vec![why()],
        _ => {
            let line = |change: &FailedExpectation| format!("{}: {} → {}", change.what, change.expected, change.got);
            test.changes.iter().map(line).collect()
        }
    }
}
