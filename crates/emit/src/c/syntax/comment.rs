//! Comments in emitted tests: the objectives that a test covers.

use touchstone_base::Span;
use touchstone_criteria::CoveredObjective;
use touchstone_ir::Module;

/// Escapes a string so that it neither ends the surrounding comment nor seems to begin another one.
pub(crate) fn comment_text(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").replace(['\n', '\r'], " ")
}

/// The maximum number of objectives in a comment; the report lists all of them.
const MAX_OBJECTIVES_SHOWN: usize = 12;

/// Returns `/* Covers … */`, with the objectives that only this test covers first, or an empty string if it covers
/// none.
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
