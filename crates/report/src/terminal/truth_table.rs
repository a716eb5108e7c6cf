//! Truth tables in text, for MC/DC reviews.
//!
//! ```text
//! f  src/f.c:3:9  3 of 4 shown
//!   a && b
//!      c1 c2  result  shows  tests
//!   1   F  -  F       c1     f_1
//!   2   T  T  T       c1 c2  f_2
//!   ?   T  F  F       c2     needed
//!   c1  a  rows 1 and 2 (unique cause)
//!   c2  b  false: unknown (bound: --len)
//! ```

use crate::document::name::Name;
use crate::document::{
    Condition, ConditionVerdict, Decision, Document, Pair, PairKind, ReportedPairSearch, ReportedRow, SearchStatus,
    SideStatus,
};
use crate::terminal::run_text::Detail;
use crate::terminal::style::{Align, Paint, Style, columns, cut, heading};
use touchstone_criteria::criterion_named;

/// The maximum number of rows that are shown without `--verbose`.
const MAX_ROWS: usize = 24;
/// The maximum number of conditions that are named in a row.
const MAX_CONDITIONS_NAMED: usize = 6;
/// The maximum number of tests that are named in a row.
const MAX_TESTS_NAMED: usize = 3;

/// Writes the incomplete tables (or all of them), if MC/DC was requested.
pub(crate) fn truth_tables(out: &mut String, document: &Document, detail: Detail, style: Style) {
    let asked = document
        .functions
        .iter()
        .any(|function| criterion_named(&function.criterion).is_some_and(|known| known.shows_truth_tables()));
    let wanted = |table: &&Decision| {
        let stopped = table.pair_search.status == SearchStatus::Stopped && !table.is_unique_cause_complete();
        detail == Detail::Everything || asked && (stopped || !table.is_complete())
    };
    let tables: Vec<&Decision> = document.decisions.iter().filter(wanted).collect();
    if tables.is_empty() {
        return;
    }
    heading(out, style, Paint::Bold, "decisions");
    for (index, table) in tables.into_iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let (shown, all) = table.shown();
        let place = table.at.display();
        out.push_str(&format!("  {}  {place}  {shown} of {all} shown\n", table.function));
        out.push_str(&cut(&format!("    {}", table.text), style.width));
        out.push('\n');
        rows(out, table, detail, style);
        conditions(out, table, detail, style);
    }
}

fn name(condition: usize) -> String {
    format!("c{}", condition + 1)
}

fn letter(value: Option<bool>) -> &'static str {
    match value {
        None => "-",
        Some(true) => "T",
        Some(false) => "F",
    }
}

/// Writes the evaluated rows, numbered as in the pairs.
fn rows(out: &mut String, table: &Decision, detail: Detail, style: Style) {
    if table.rows.is_empty() {
        out.push_str("    no test evaluates it\n");
    }
    if table.rows.is_empty() && table.needed.is_empty() {
        return;
    }
    let names: Vec<String> = (0..table.conditions.len()).map(name).collect();
    // Many conditions have adjacent columns without names.
    let names_fit = names.iter().map(|name| name.len() + 1).sum::<usize>() <= style.width / 3;
    let values = |row: &ReportedRow| -> String {
        if names_fit {
            let cells =
                row.values.iter().zip(&names).map(|(value, name)| format!("{:>1$}", letter(*value), name.len()));
            cells.collect::<Vec<_>>().join(" ")
        } else {
            row.values.iter().map(|value| letter(*value)).collect()
        }
    };
    let head = if names_fit { names.join(" ") } else { format!("c1…c{}", names.len()) };
    let mut cells = vec![["".to_string(), head, "result".into(), "shows".into(), "tests".into()]];
    let most = if detail == Detail::Everything { table.rows.len() } else { MAX_ROWS };
    let mut add = |number: String, row: &ReportedRow, tests: String| {
        let first = row.shows.iter().take(MAX_CONDITIONS_NAMED).map(|condition| name(*condition));
        let more = row.shows.len().saturating_sub(MAX_CONDITIONS_NAMED);
        let shows: Vec<String> = first.chain((more > 0).then(|| format!("+{more}"))).collect();
        let shows = if shows.is_empty() { "-".to_string() } else { shows.join(" ") };
        cells.push([number, values(row), letter(Some(row.result)).to_string(), shows, tests]);
    };
    for (index, row) in table.rows.iter().enumerate().take(most) {
        let mut tests = row.tests.iter().take(MAX_TESTS_NAMED).map(Name::as_str).collect::<Vec<_>>().join(" ");
        if row.tests.len() > MAX_TESTS_NAMED {
            tests.push_str(&format!(" +{}", row.tests.len() - MAX_TESTS_NAMED));
        }
        add((index + 1).to_string(), row, tests);
    }
    for row in table.needed.iter().take(most) {
        add("?".to_string(), row, "needed".to_string());
    }
    let align = [Align::Right, Align::Left, Align::Left, Align::Left, Align::Left];
    for (index, line) in columns(&cells, align).iter().enumerate() {
        let line = cut(&format!("    {line}"), style.width);
        out.push_str(&if index == 0 { style.paint(Paint::Dim, &line) } else { line });
        out.push('\n');
    }
    if table.rows.len() > most {
        out.push_str(&style.paint(Paint::Dim, &format!("    … and {} more rows", table.rows.len() - most)));
        out.push('\n');
    }
}

/// Writes each condition with its independence pair, or with the missing part.
fn conditions(out: &mut String, table: &Decision, detail: Detail, style: Style) {
    let row = |(id, condition): (usize, &Condition)| {
        // A long condition must not push the other columns out of sight.
        let text = cut(&condition.text, style.width / 2);
        [name(id), text, what_is_known(table, id, condition, detail)]
    };
    let rows: Vec<[String; 3]> = table.conditions.iter().enumerate().map(row).collect();
    for line in columns(&rows, [Align::Left; 3]) {
        out.push_str(&cut(&format!("    {line}"), style.width));
        out.push('\n');
    }
}

/// Returns the first pair of a condition (of each kind, with all details), or the missing part.
fn what_is_known(table: &Decision, id: usize, condition: &Condition, detail: Detail) -> String {
    let side = |(value, side): (bool, &ConditionVerdict)| {
        let why = side.why.as_deref().unwrap_or_default();
        let what = match side.status {
            SideStatus::Shown => return None,
            SideStatus::Infeasible => format!("infeasible ({why})"),
            SideStatus::Unknown => format!("unknown ({why})"),
            SideStatus::NotShown => "not shown".to_string(),
        };
        Some(format!("{value}: {what}"))
    };
    let sides = [(true, &condition.r#true), (false, &condition.r#false)];
    let missing: Vec<String> = sides.into_iter().filter_map(side).collect();
    if missing.len() == 2 && condition.r#true == condition.r#false {
        return missing[0].replacen("true: ", "both values: ", 1);
    }
    if !missing.is_empty() {
        return missing.join(", ");
    }
    let rows = |pair: &Pair| format!("rows {} and {}", pair.rows[0] + 1, pair.rows[1] + 1);
    match (table.pair(id, PairKind::UniqueCause), table.pair(id, PairKind::Masking)) {
        (None, None) => "both values shown, but never with different results".to_string(),
        (None, Some(masking)) => format!("{} (masking{})", rows(masking), no_unique_cause(&table.pair_search)),
        (Some(unique), Some(masking)) if detail == Detail::Everything => {
            format!("{} (unique cause), {} (masking)", rows(unique), rows(masking))
        }
        (Some(unique), _) => format!("{} (unique cause)", rows(unique)),
    }
}

/// Returns the reason why there is no unique-cause pair.
fn no_unique_cause(search: &ReportedPairSearch) -> String {
    match search.status {
        SearchStatus::NotAsked => String::new(),
        SearchStatus::Finished => "; no inputs found for a unique-cause pair".to_string(),
        SearchStatus::Stopped => {
            let why = search.why.as_deref().unwrap_or_default();
            format!("; search for a unique-cause pair stopped, {why}")
        }
    }
}
