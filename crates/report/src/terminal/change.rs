//! The section of the text report on a change: the affected functions, and whether their behaviour differs.

use crate::document::{Behaviour, Document, Verdict};
use crate::terminal::style::{Paint, Style, cut, heading, longest};

/// Writes the result of the semantic diff for each affected function, and the number of unaffected objectives.
pub(crate) fn change(out: &mut String, document: &Document, style: Style) {
    let Some(change) = &document.change else { return };
    heading(out, style, Paint::Bold, &format!("change since {}", change.since));
    let names = longest(change.functions.iter().map(|function| &function.name));
    for function in &change.functions {
        let (paint, word) = match function.behaviour {
            Behaviour::Equivalent => (Paint::Green, "equivalent"),
            Behaviour::Differs => (Paint::Red, "differs"),
            Behaviour::Unknown => (Paint::Yellow, "unknown"),
        };
        let told = match (function.tests.as_slice(), &function.why) {
            ([], why) => why.clone().unwrap_or_default(),
            ([first, others @ ..], _) => {
                let test = document.tests.iter().find(|test| test.id == *first);
                let older = test.and_then(|test| test.older.as_deref()).unwrap_or_default();
                let more =
                    if others.is_empty() { String::new() } else { format!(" (and {} more tests)", others.len()) };
                format!("{first}: {older}{more}")
            }
        };
        let line = format!("  {:<names$}  {}  {told}", function.name, style.paint(paint, &format!("{word:<10}")));
        out.push_str(&cut(&line, style.width.saturating_add(line.len() - plain(&line))));
        out.push('\n');
    }
    let unaffected = document.objectives.iter().filter(|objective| objective.status == Verdict::Unaffected).count();
    let asked = document.objectives.len() - unaffected;
    let functions = match change.unaffected.len() {
        0 => String::new(),
        1 => ", including all objectives of 1 function".to_string(),
        some => format!(", including all objectives of {some} functions"),
    };
    out.push_str(&format!("  {asked} objectives are affected, {unaffected} are unaffected{functions}\n"));
}

/// Returns the number of bytes of a line without its colours.
fn plain(line: &str) -> usize {
    let mut inside = false;
    let mut width = 0;
    for char in line.chars() {
        match char {
            '\x1b' => inside = true,
            'm' if inside => inside = false,
            _ if inside => {}
            char => width += char.len_utf8(),
        }
    }
    width
}
