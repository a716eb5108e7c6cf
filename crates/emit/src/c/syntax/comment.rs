//! The comment above a test: what it is for.

use touchstone_base::Span;
use touchstone_criteria::CoveredObjective;
use touchstone_ir::Module;

/// A text that stands in a comment: it must neither end it nor seem to begin another.
pub(crate) fn comment_text(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").replace(['\n', '\r'], " ")
}

/// Lines that a comment has at most; the report has all.
const MAX_OBJECTIVES_SHOWN: usize = 12;

/// `/* Covers … */` with the objectives that only this test covers first; nothing if there are none.
pub(crate) fn covers_comment(module: &Module, function: Span, covers: &[CoveredObjective<'_>]) -> String {
    let line = |covered: &CoveredObjective<'_>| {
        let objective = covered.objective;
        let place = if objective.span.file == function.file {
            format!("{}:{}", objective.span.line, objective.span.column)
        } else {
            objective.span.display(&module.files)
        };
        let alone = if covered.alone { " (only this test)" } else { "" };
        let (text, place) = (comment_text(&objective.text), comment_text(&place));
        format!("{}: {text}, at {place}{alone}", objective.criterion)
    };
    let (mut shown, rest): (Vec<&CoveredObjective>, Vec<&CoveredObjective>) =
        covers.iter().partition(|covered| covered.alone);
    shown.extend(rest);
    let mut lines: Vec<String> = shown.iter().take(MAX_OBJECTIVES_SHOWN).map(|covered| line(covered)).collect();
    if shown.len() > MAX_OBJECTIVES_SHOWN {
        lines.push(format!("and {} more, which report.json lists", shown.len() - MAX_OBJECTIVES_SHOWN));
    }
    match lines.as_slice() {
        [] => String::new(),
        [one] => format!("\n/* Covers {one} */"),
        _ => format!("\n/* Covers\n *   {}\n */", lines.join("\n *   ")),
    }
}
