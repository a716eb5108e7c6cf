//! The section of the text report on forms that can't run every test.

use crate::analysis::figures::Figures;
use crate::analysis::form_figures::{reasons, said, short};
use crate::document::Document;
use crate::document::form_suites::FormSuites;
use crate::terminal::style::{Paint, Style, cut, heading, longest};

/// Writes the forms that don't run every test: their coverage, and the reasons for skipped tests.
pub(crate) fn forms(out: &mut String, document: &Document, style: Style) {
    let short: Vec<&FormSuites> = short(document).collect();
    if short.is_empty() {
        return;
    }
    heading(out, style, Paint::Yellow, "tests that a framework cannot run");
    let (names, figures) = (longest(short.iter().map(|suites| &suites.form)), Figures::new(document));
    for suites in short {
        let line = format!("  {:<names$}  {}", suites.form, said(suites, &figures));
        out.push_str(&cut(&line, style.width));
        out.push('\n');
        for (why, count) in reasons(suites) {
            out.push_str(&style.paint(Paint::Dim, &cut(&format!("    {count}: {why}"), style.width)));
            out.push('\n');
        }
    }
}
