//! Truth tables in text: what a reviewer of MC/DC reads.
//!
//! ```text
//! f  src/f.c:3:9  3 of 4 shown
//!   a && b
//!      c1 c2  result  shows  tests
//!   1   F  -  F       c1     f_1
//!   2   T  T  T       c1 c2  f_2
//!   c1  a  rows 1 and 2 (unique cause)
//!   c2  b  false: infeasible (exhaustive)
//! ```

use crate::Extras;
use crate::style::{Align, Paint, Style, columns, cut, heading};
use touchstone_base::{Files, Id};
use touchstone_criteria::{Campaign, DecisionTable, Pair, PairKind, PairSearch, Side, TableCondition, TableRow};
use touchstone_ir::CondId;

/// So many rows of a table are shown unless all are asked for.
const MOST_ROWS: usize = 24;
/// So many tests of a row are named.
const MOST_TESTS: usize = 3;

/// The tables that need a look (or all of them), where MC/DC was asked for.
pub(crate) fn truth_tables(out: &mut String, campaign: &Campaign, files: &Files, extras: &Extras, style: Style) {
    let asked = campaign.functions.iter().any(|function| function.criterion.to_string() == "mcdc");
    let wanted = |table: &&DecisionTable| {
        let stopped = matches!(table.pair_search, PairSearch::Stopped(_)) && !table.is_unique_cause_complete();
        extras.verbose || asked && (stopped || !table.is_complete())
    };
    let tables: Vec<&DecisionTable> = extras.decisions.iter().filter(wanted).collect();
    if tables.is_empty() {
        return;
    }
    heading(out, style, Paint::Bold, "decisions");
    for (index, table) in tables.into_iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let (shown, all) = table.shown();
        let place = table.span.display(files);
        out.push_str(&format!("  {}  {place}  {shown} of {all} shown\n", table.function));
        out.push_str(&cut(&format!("    {}", table.text), style.width));
        out.push('\n');
        rows(out, table, extras.verbose, style);
        conditions(out, table, extras.verbose, style);
    }
}

fn name(condition: CondId) -> String {
    format!("c{}", condition.index() + 1)
}

fn letter(value: Option<bool>) -> &'static str {
    match value {
        None => "-",
        Some(true) => "T",
        Some(false) => "F",
    }
}

/// The rows that were seen, numbered as the pairs name them.
fn rows(out: &mut String, table: &DecisionTable, verbose: bool, style: Style) {
    if table.rows.is_empty() {
        out.push_str("    no test evaluates it\n");
        return;
    }
    let names: Vec<String> = table.conditions.ids().map(name).collect();
    // Many conditions stand side by side without names.
    let names_fit = names.iter().map(|name| name.len() + 1).sum::<usize>() <= style.width / 3;
    let values = |row: &TableRow| -> String {
        if names_fit {
            let cells =
                row.values.values().zip(&names).map(|(value, name)| format!("{:>1$}", letter(*value), name.len()));
            cells.collect::<Vec<_>>().join(" ")
        } else {
            row.values.values().map(|value| letter(*value)).collect()
        }
    };
    let head = if names_fit { names.join(" ") } else { format!("c1…c{}", names.len()) };
    let mut cells = vec![["".to_string(), head, "result".into(), "shows".into(), "tests".into()]];
    let most = if verbose { table.rows.len() } else { MOST_ROWS };
    for (index, row) in table.rows.iter().enumerate().take(most) {
        let shows: Vec<String> = row.shows.iter().map(|condition| name(*condition)).collect();
        let mut tests = row.tests.iter().take(MOST_TESTS).cloned().collect::<Vec<_>>().join(" ");
        if row.tests.len() > MOST_TESTS {
            tests.push_str(&format!(" +{}", row.tests.len() - MOST_TESTS));
        }
        let shows = if shows.is_empty() { "-".to_string() } else { shows.join(" ") };
        cells.push([(index + 1).to_string(), values(row), letter(Some(row.result)).to_string(), shows, tests]);
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

/// Each condition with what shows it, or what is missing.
fn conditions(out: &mut String, table: &DecisionTable, verbose: bool, style: Style) {
    let row = |(id, condition): (CondId, &TableCondition)| {
        // One long condition must not push what is said of all others out of sight.
        let text = cut(&condition.text, style.width / 2);
        [name(id), text, what_is_known(table, id, condition, verbose)]
    };
    let rows: Vec<[String; 3]> = table.conditions.iter().map(row).collect();
    for line in columns(&rows, [Align::Left; 3]) {
        out.push_str(&cut(&format!("    {line}"), style.width));
        out.push('\n');
    }
}

/// What shows a condition: its first pair, or the first of each kind if all is asked for; or what is missing.
fn what_is_known(table: &DecisionTable, id: CondId, condition: &TableCondition, verbose: bool) -> String {
    let side = |value: bool| {
        let what = match &condition.sides[usize::from(value)] {
            Side::Shown => return None,
            Side::Infeasible(why) => format!("infeasible ({why})"),
            Side::Unknown(why) => format!("unknown ({why})"),
            Side::NotShown => "not shown".to_string(),
        };
        Some(format!("{value}: {what}"))
    };
    let missing: Vec<String> = [true, false].into_iter().filter_map(side).collect();
    if missing.len() == 2 && condition.sides[0] == condition.sides[1] {
        return missing[0].replacen("true: ", "both values: ", 1);
    }
    if !missing.is_empty() {
        return missing.join(", ");
    }
    let first = |kind: PairKind| table.pairs_of(id).find(|pair| pair.kind == kind);
    let rows = |pair: &Pair| format!("rows {} and {}", pair.rows[0] + 1, pair.rows[1] + 1);
    match (first(PairKind::UniqueCause), first(PairKind::Masking)) {
        (None, None) => "both values shown, but never with different results".to_string(),
        (None, Some(masking)) => format!("{} (masking{})", rows(masking), no_unique_cause(&table.pair_search)),
        (Some(unique), Some(masking)) if verbose => {
            format!("{} (unique cause), {} (masking)", rows(unique), rows(masking))
        }
        (Some(unique), _) => format!("{} (unique cause)", rows(unique)),
    }
}

/// Why there is no unique-cause pair.
fn no_unique_cause(search: &PairSearch) -> String {
    match search {
        PairSearch::NotAsked => String::new(),
        PairSearch::Finished => "; no inputs found for a unique-cause pair".to_string(),
        PairSearch::Stopped(why) => format!("; search for a unique-cause pair stopped, {why}"),
    }
}
